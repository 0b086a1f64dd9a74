package policies

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"heddle/internal/plain"
)

// places maps the parts of a profile to where they stand. Keys are such as queues, place.map and lanes[0]; "" is the
// whole profile. The parts of a built-in profile have no place, and a part that the command line changes has the zero
// place.
type places map[string]plain.Place

// placesIn returns the places of all parts of a document.
func placesIn(doc ast.Node, place func(ast.Node) plain.Place) places {
	out := places{"": place(doc)}
	m, ok := doc.(ast.MapNode)
	if !ok {
		return out
	}
	for it := m.MapRange(); it.Next(); {
		part := it.Key().GetToken().Value
		out[part] = place(it.Value())
		switch v := it.Value().(type) {
		case ast.MapNode:
			for it := v.MapRange(); it.Next(); {
				out[part+"."+it.Key().GetToken().Value] = place(it.Value())
			}
		case *ast.SequenceNode:
			for i, n := range v.Values {
				if part != "control" { // [Profile.WithoutAgent] leaves some of these out
					out[fmt.Sprintf("%s[%d]", part, i)] = place(n)
				}
			}
		}
	}
	return out
}

// of returns where a part stands, or else where what it belongs to stands. It returns the zero place if that is
// unknown.
func (p places) of(part string) plain.Place {
	list, _, _ := strings.Cut(part, "[")
	slot, _, _ := strings.Cut(part, ".")
	for _, key := range []string{part, list, slot} {
		if where, ok := p[key]; ok {
			return where
		}
	}
	return p[""]
}

// A partError is an error in one part of a profile.
type partError struct {
	part string // a key of places
	err  error
}

func (e *partError) Error() string { return e.part + ": " + e.err.Error() }
func (e *partError) Unwrap() error { return e.err }

// errorOf prefixes an error with the profile and the place in it.
func (p *Profile) errorOf(err error) error {
	part := ""
	if e, ok := errors.AsType[*partError](err); ok {
		part = e.part
	}
	if where := p.places.of(part); where != (plain.Place{}) {
		return &plain.Fault{Place: where, Err: err}
	}
	return fmt.Errorf("profile %s: %w", p.Name, err)
}
