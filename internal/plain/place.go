package plain

import (
	"strconv"

	"github.com/goccy/go-yaml/token"
)

// A Place is a position in a file. The zero Place is no position.
type Place struct {
	File         string // "" for a flag, whose name is the Key
	Line, Column int    // 0 for the file as a whole
	Key          string // such as memory.limit; "" for none
}

// At returns the position of a token in a file, or the file as a whole if the position is not known.
func At(file string, t *token.Token) Place {
	p := Place{File: file}
	if t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}

// String returns file:line:column: key, without the parts that are not set.
func (p Place) String() string {
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
	}
	switch {
	case p.Key == "":
		return s
	case s == "":
		return p.Key
	}
	return s + ": " + p.Key
}

// A Fault is an error at a place.
type Fault struct {
	Place Place
	Err   error
}

// Error returns the message, beginning with the place.
func (f *Fault) Error() string { return f.Place.String() + ": " + f.Err.Error() }

// Unwrap returns the error without the place.
func (f *Fault) Unwrap() error { return f.Err }
