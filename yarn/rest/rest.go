// Package rest defines the data of the ResourceManager's web services under /ws/v1/cluster: Go structs, and how they are
// written and read as JSON and XML in the form that YARN's clients know. The data under /ws/v1/heddle is not defined
// here, except for [Info]: it is the reports of package rm.
//
// The package knows nothing of HTTP, or of where the figures come from. Unless a field says otherwise, times are
// milliseconds since 1970 with 0 for not yet, memory is in MiB, and percentages are 0 to 100.
package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"heddle/internal/plain"
)

// Paths of the services.
const (
	Base       = "/ws/v1/cluster" // for YARN's clients
	HeddleBase = "/ws/v1/heddle"  // our own
)

// A Shape says how YARN writes a type as JSON. XML is the same for all.
type Shape uint8

// The shapes.
const (
	Natural Shape = iota // {"root": value}; numbers are numbers, lists are lists
	Bare                 // like Natural, without the root
	Mapped               // without the root; numbers are strings, a list of one becomes its element, empty lists are omitted
	Ours                 // not a YARN shape: follows the value's own tags, without the root, and is never XML
)

// An Answer is a value, its name, and how to write it.
type Answer struct {
	Root  string
	Shape Shape
	Value any // a struct of this package, or a similar one; for Ours anything that encoding/json accepts
}

// WriteJSON writes the answer as JSON, in pieces. It returns the error of w, or of a value of [Ours] that has no JSON
// form.
func (a Answer) WriteJSON(w io.Writer) error {
	if a.Shape == Ours {
		return writeOurs(w, a.Value)
	}
	e := encoder{w: w, form: formNatural}
	if a.Shape == Mapped {
		e.form = formMapped
	}
	if a.Shape == Natural {
		e.str("{")
		e.quote(a.Root)
		e.str(":")
	}
	e.value(reflect.ValueOf(a.Value))
	if a.Shape == Natural {
		e.str("}")
	}
	return e.end()
}

// writeOurs writes a value as encoding/json does. If its only content is a list, it is written element by element and
// never encoded as a whole.
func writeOurs(w io.Writer, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	encode := func(v any, before, after string) error {
		b.Reset()
		b.WriteString(before)
		if err := e.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the newline
		b.WriteString(after)
		_, err := w.Write(b.Bytes())
		return err
	}
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Struct || v.NumField() != 1 || v.Field(0).Kind() != reflect.Slice || v.Field(0).Len() == 0 {
		return encode(value, "", "\n")
	}
	list := v.Field(0)
	before, after := `{"`+v.Type().Field(0).Tag.Get("json")+`":[`, ","
	for i := range list.Len() {
		if i == list.Len()-1 {
			after = "]}\n"
		}
		if err := encode(list.Index(i).Interface(), before, after); err != nil {
			return err
		}
		before = ""
	}
	return nil
}

// WriteXML writes the answer as XML, in pieces. It returns the error of w.
func (a Answer) WriteXML(w io.Writer) error {
	e := encoder{w: w, form: formXML}
	e.str(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`)
	e.element(a.Root, reflect.ValueOf(a.Value))
	return e.end()
}

// Parse reads a JSON answer into v, a pointer to a struct of this package. With a root it expects {"root": value}; an
// absent or null value leaves v unchanged. Without a root it expects the value itself.
func Parse(data []byte, root string, v any) error {
	if root != "" {
		var outer map[string]json.RawMessage
		if err := json.Unmarshal(data, &outer); err != nil {
			return fmt.Errorf("wanted an object with %q inside: %s", root, plain.JSONText(err))
		}
		inner, ok := outer[root]
		if !ok || bytes.Equal(inner, []byte("null")) {
			return nil
		}
		data = inner
	}
	if err := json.Unmarshal(data, v); err != nil {
		if root == "" {
			return errors.New(plain.JSONText(err))
		}
		return fmt.Errorf("%q: %s", root, plain.JSONText(err))
	}
	return nil
}
