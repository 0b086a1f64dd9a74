package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"heddle/internal/plain"
)

// An objectReader splits concatenated JSON objects, which may be in one array or separated by commas. After a broken
// object, it continues with the next one that begins a line.
type objectReader struct {
	r       *bufio.Reader
	line    int  // of the next byte
	prev    byte // last byte read
	buf     []byte
	retries int
}

// maxRetries limits how often the rest of a file is searched again after an object that is never closed.
const maxRetries = 64

func newObjectReader(r io.Reader) *objectReader {
	return &objectReader{r: bufio.NewReaderSize(r, 64<<10), line: 1, prev: '\n'}
}

var (
	errNotObject = errors.New("is not a JSON object")
	errOpenQuote = errors.New("a string is not closed on its line")
	errUnclosed  = errors.New("the object is not closed")
	errTooLarge  = errors.New("the object is too large")
	errCutOff    = errors.New("the object is not closed before the file ends")
)

// next returns the next object, valid until the next call, and the line on which it starts. If bad is set, there is no
// object but a part to be skipped. err is io.EOF at the end.
func (o *objectReader) next() (obj []byte, line int, bad, err error) {
	for {
		c, err := o.byte()
		if err != nil {
			return nil, o.line, nil, err
		}
		switch c {
		case ' ', '\t', '\r', '\n', ',', '[', ']', 0xef, 0xbb, 0xbf: // the last three: a byte order mark
			continue
		case '{':
			start := o.line
			bad, err := o.object()
			return o.buf, start, bad, err
		}
		start := o.line
		return nil, start, errNotObject, o.skip()
	}
}

func (o *objectReader) byte() (byte, error) {
	c, err := o.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if c == '\n' {
		o.line++
	}
	o.prev = c
	return c, nil
}

// object reads up to the brace that closes the one just read.
func (o *objectReader) object() (bad, err error) {
	start := o.line
	o.buf = append(o.buf[:0], '{')
	depth, inString, escaped := 1, false, false
	last := byte('{') // the last byte that is not white space
	for depth > 0 {
		atLineStart := o.prev == '\n'
		c, err := o.byte()
		if errors.Is(err, io.EOF) {
			if o.retry(start) {
				return errUnclosed, nil
			}
			return errCutOff, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o.buf) == MaxObjectBytes {
			return errTooLarge, o.skip()
		}
		o.buf = append(o.buf, c)
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString && c == '\n':
			return errOpenQuote, o.skip()
		case inString:
		case c == '{' && atLineStart && last != ':' && last != ',' && last != '[':
			return errUnclosed, o.unread()
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			last = c
		}
	}
	return nil, nil
}

// skip moves to the next line that begins with a brace.
func (o *objectReader) skip() error {
	for {
		atLineStart := o.prev == '\n'
		c, err := o.byte()
		if errors.Is(err, io.EOF) {
			return nil // the next read returns the error again
		}
		if err != nil {
			return err
		}
		if c == '{' && atLineStart {
			return o.unread()
		}
	}
}

// unread puts back a brace that begins a line.
func (o *objectReader) unread() error {
	o.prev = '\n'
	return o.r.UnreadByte()
}

// retry continues after the first line of an object, begun on line start, that was still open at the end of the input.
// It reports whether part of it may be another object.
func (o *objectReader) retry(start int) bool {
	i := bytes.Index(o.buf, []byte("\n{"))
	if i < 0 || o.retries == maxRetries {
		return false
	}
	o.retries++
	rest := bytes.Clone(o.buf[i+1:])
	o.line = start + bytes.Count(o.buf[:i+1], []byte("\n"))
	o.prev = '\n'
	o.r = bufio.NewReader(bytes.NewReader(rest))
	return true
}

// eachObject reads a file of JSON objects.
func (im *importer) eachObject(path string, read func(line int, object []byte) error) error {
	r, err := im.open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	o := newObjectReader(r)
	for {
		object, line, bad, err := o.next()
		if errors.Is(bad, errCutOff) {
			return im.cutOff(line, "", bad.Error())
		}
		if bad != nil {
			im.wl.Lines++
			if err := im.defect(line, faultf("", "%v", bad)); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return im.cutOff(o.line, "", brokenOff(err))
		case bad != nil:
			continue
		}
		im.wl.Lines++
		if err := read(line, object); err != nil {
			return err
		}
	}
}

// jsonFault returns where in an object, begun on the given line, the decoder stopped.
func jsonFault(line int, object []byte, err error) (int, *fault) {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	short := errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case errors.As(err, &syntax):
		line += linesBefore(object, syntax.Offset)
		short = syntax.Offset >= int64(len(object))
	case errors.As(err, &typed):
		line += linesBefore(object, typed.Offset)
	}
	field, text := plain.JSON(err)
	return line, &fault{field: field, reason: text, short: short}
}

func linesBefore(object []byte, offset int64) int {
	return bytes.Count(object[:min(int64(len(object)), max(0, offset))], []byte("\n"))
}
