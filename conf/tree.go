package conf

import (
	"encoding/xml"
	"strings"
)

// A node is an element of a small XML document.
type node struct {
	name string
	attr []xml.Attr
	text string // without blanks around it
	raw  string
	line int
	kids []*node
}

// readTree reads a document whose top-level element has the name.
func readTree(file string, data []byte, root string) (*node, error) {
	s, err := newScanner(file, data)
	if err != nil {
		return nil, err
	}
	start, err := s.root(root)
	if err != nil {
		return nil, err
	}
	n, err := s.tree(start)
	if err != nil {
		return nil, err
	}
	return n, s.tail()
}

func (s *scanner) tree(start xml.StartElement) (*node, error) {
	n := &node{name: start.Name.Local, attr: start.Attr, line: s.line}
	var text strings.Builder
	for {
		t, err := s.next()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.EndElement:
			n.raw = text.String()
			n.text = strings.TrimSpace(n.raw)
			return n, nil
		case xml.CharData:
			text.Write(t)
		case xml.StartElement:
			kid, err := s.tree(t)
			if err != nil {
				return nil, err
			}
			n.kids = append(n.kids, kid)
		}
	}
}
