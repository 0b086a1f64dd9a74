package facts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxDepth limits the nesting depth of values that nobody asked for.
const maxDepth = 64

// each reads a JSON text and calls do for each element of the array under a path of names. It never holds the whole
// text. If the path leads to nothing or to null, there are no elements.
func each[T any](r io.Reader, path []string, do func(*T) error) error {
	e := elements[T]{dec: json.NewDecoder(r), do: do}
	if err := e.value(path); err != nil {
		return plain(err)
	}
	switch _, err := e.dec.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return plain(err)
	}
	return errors.New("unexpected data after the end")
}

// plain simplifies an error of the JSON library.
func plain(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}

// elements reads one text.
type elements[T any] struct {
	dec   *json.Decoder
	do    func(*T) error
	count int
}

// value reads the next value, which is on the path.
func (e *elements[T]) value(path []string) error {
	t, err := e.dec.Token()
	if err != nil {
		return err
	}
	switch {
	case t == nil:
		return nil
	case len(path) == 0 && t == json.Delim('['):
		return e.array()
	case len(path) > 0 && t == json.Delim('{'):
		return e.object(path)
	case len(path) == 0:
		return fmt.Errorf("wanted an array, found %s", kindOf(t))
	}
	return fmt.Errorf("wanted an object with %q, found %s", path[0], kindOf(t))
}

// kindOf names the kind of value that a token begins.
func kindOf(t json.Token) string {
	switch t.(type) {
	case json.Delim:
		return "another kind of value"
	case string:
		return "a string"
	}
	return "a number or boolean"
}

// object reads to the end of an object that has just begun; one of its members is on the path.
func (e *elements[T]) object(path []string) error {
	for e.dec.More() {
		name, err := e.dec.Token()
		if err != nil {
			return err
		}
		if name == path[0] {
			err = e.value(path[1:])
		} else {
			err = e.skip()
		}
		if err != nil {
			return err
		}
	}
	_, err := e.dec.Token()
	return err
}

// array reads to the end of an array that has just begun.
func (e *elements[T]) array() error {
	for e.dec.More() {
		if e.count++; e.count > maxElements {
			return fmt.Errorf("more than %d elements", maxElements)
		}
		var v T
		if err := e.dec.Decode(&v); err != nil {
			return err
		}
		if err := e.do(&v); err != nil {
			return err
		}
	}
	_, err := e.dec.Token()
	return err
}

// skip skips a value that nobody asked for.
func (e *elements[T]) skip() error {
	for depth := 0; ; {
		t, err := e.dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			if depth++; depth > maxDepth {
				return fmt.Errorf("values are nested more than %d deep", maxDepth)
			}
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// maxNumber is the largest believable amount of anything: bytes, milliseconds, tasks. Sums of many fit into 64 bits.
const maxNumber = 1 << 50

// amount is a number of bytes, milliseconds or the like. Masters sometimes report negative amounts: they count as 0.
type amount int64

// UnmarshalJSON reads a number and rejects an implausible one.
func (a *amount) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f > maxNumber {
		return fmt.Errorf("%g is too large a number", f)
	}
	*a = amount(max(f, 0))
	return nil
}

// mib returns an amount of bytes in MiB, rounded up.
func (a amount) mib() int64 { return (int64(a) + 1<<20 - 1) >> 20 }

// count returns an amount of things.
func (a amount) count() int32 { return int32(min(a, math.MaxInt32)) }
