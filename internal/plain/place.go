package plain

import (
	"strconv"

	"github.com/goccy/go-yaml/token"
)

// A Place is where something stands in a file. The zero place is none.
type Place struct {
	File         string // "" for a flag, which is the Key
	Line, Column int    // 0 for the file as a whole
	Key          string // such as memory.limit; "" for none
}

// At is where a token of a file stands; the file as a whole where that is not known.
func At(file string, t *token.Token) Place {
	p := Place{File: file}
	if t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}

// String is file:line:column: key, as far as there is one.
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

// A Fault is what is wrong at a place.
type Fault struct {
	Place Place
	Err   error
}

// Error begins with the place.
func (f *Fault) Error() string { return f.Place.String() + ": " + f.Err.Error() }

// Unwrap returns what is wrong without the place.
func (f *Fault) Unwrap() error { return f.Err }
