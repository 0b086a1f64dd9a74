package conf

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of one XML file. A real configuration is far below all of them.
const (
	maxFileBytes = 4 << 20
	maxNesting   = 100
	maxElements  = 200_000
	maxIncludes  = 20 // deep, and 100 in all
	maxName      = 4096
	maxValue     = 1 << 20
)

// A scanner is an XML decoder that knows the line on which each token begins and how deep it is.
type scanner struct {
	d     *xml.Decoder
	file  string
	depth int
	count int
	line  int
}

func newScanner(file string, data []byte) (*scanner, error) {
	if len(data) > maxFileBytes {
		return nil, Error{file, 0, "", fmt.Sprintf("%d bytes; a configuration may have %d", len(data), maxFileBytes)}
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = charset
	return &scanner{d: d, file: file}, nil
}

// next returns the next start, end or text; io.EOF at the end. s.line is where it begins.
func (s *scanner) next() (xml.Token, error) {
	for {
		s.line, _ = s.d.InputPos()
		t, err := s.d.Token()
		if errors.Is(err, io.EOF) && s.depth == 0 {
			return nil, io.EOF
		}
		if err != nil {
			return nil, s.syntax(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			s.depth++
			s.count++
			if s.depth > maxNesting {
				return nil, Error{s.file, s.line, t.Name.Local, fmt.Sprintf("more than %d elements deep", maxNesting)}
			}
			if s.count > maxElements {
				return nil, Error{s.file, s.line, t.Name.Local, fmt.Sprintf("more than %d elements", maxElements)}
			}
			return t, nil
		case xml.EndElement:
			s.depth--
			return t, nil
		case xml.CharData:
			return t, nil
		}
	}
}

// root returns the top-level element, which must have the name.
func (s *scanner) root(name string) (xml.StartElement, error) {
	for {
		t, err := s.next()
		if errors.Is(err, io.EOF) {
			return xml.StartElement{}, Error{s.file, s.line, "", "is empty; expected <" + name + ">"}
		}
		if err != nil {
			return xml.StartElement{}, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if t.Name.Local != name {
				return t, Error{s.file, s.line, t.Name.Local, "the top-level element must be <" + name + ">"}
			}
			return t, nil
		case xml.CharData:
			if len(bytes.Trim(t, "\ufeff \t\r\n")) > 0 {
				return xml.StartElement{}, Error{s.file, s.line, "", "text before <" + name + ">"}
			}
		}
	}
}

// tail makes sure that nothing follows the top-level element.
func (s *scanner) tail() error {
	for {
		t, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if c, ok := t.(xml.CharData); !ok || len(bytes.TrimSpace(c)) > 0 {
			return Error{s.file, s.line, "", "nothing may follow the top-level element"}
		}
	}
}

// skip reads to the end of the element that was just started.
func (s *scanner) skip() error {
	for end := s.depth - 1; s.depth > end; {
		if _, err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// text reads to the end of the element that was just started and returns the text in it.
func (s *scanner) text(field string) (string, error) {
	var b strings.Builder
	for {
		t, err := s.next()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return "", Error{s.file, s.line, t.Name.Local, "no element may stand inside <" + field + ">"}
		case xml.EndElement:
			return b.String(), nil
		case xml.CharData:
			b.Write(t)
		}
	}
}

func (s *scanner) syntax(err error) error {
	if se, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return Error{s.file, se.Line, "", "not well-formed XML: " + se.Msg}
	}
	return Error{s.file, s.line, "", "not readable XML: " + err.Error()}
}

// charset reads the encodings Hadoop files are found in beside UTF-8.
func charset(name string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "utf8", "us-ascii", "ascii":
		return in, nil
	case "iso-8859-1", "latin1", "iso-8859-15", "windows-1252":
		raw, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		text := make([]rune, len(raw))
		for i, c := range raw {
			text[i] = rune(c)
		}
		return strings.NewReader(string(text)), nil
	}
	return nil, fmt.Errorf("encoding %q is not known; save the file as UTF-8", name)
}

// attr returns the value of an attribute.
func attr(attrs []xml.Attr, name string) (string, bool) {
	for _, a := range attrs {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}
