package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/linkedin/goavro/v2"
)

// maxAvroBlock limits the items of one array or map in a binary history. The decoder allocates memory for as many as
// the file claims.
const maxAvroBlock = 1 << 20

var limitAvro = sync.OnceFunc(func() { goavro.MaxBlockCount = maxAvroBlock })

// avroCodec returns the codec of the schema in a history file. The schema is as untrusted as the rest of the file. It
// is rebuilt from the parts that are understood, and refused if a value could contain itself or take no bytes, because
// then a small file could keep a decoder busy for ever.
func avroCodec(schema string) (*goavro.Codec, error) {
	var parsed any
	if err := json.Unmarshal([]byte(schema), &parsed); err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	c := schemaCheck{known: map[string]bool{}}
	clean, err := c.rebuild(parsed, 0, false)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(clean)
	if err != nil {
		return nil, err
	}
	limitAvro()
	return goavro.NewCodec(string(text))
}

type schemaCheck struct {
	known map[string]bool // named types; false while being defined
	types int
}

const (
	maxSchemaDepth = 32
	maxSchemaTypes = 10_000
)

func (c *schemaCheck) rebuild(s any, depth int, inUnion bool) (any, error) {
	if c.types++; depth > maxSchemaDepth || c.types > maxSchemaTypes {
		return nil, errors.New("is nested too deeply or too large")
	}
	switch s := s.(type) {
	case string:
		s = shortName(s)
		return s, c.reference(s, inUnion)
	case []any:
		return c.union(s, depth)
	case map[string]any:
		return c.complex(s, depth, inUnion)
	}
	return nil, fmt.Errorf("a type is written as %T; wanted a name, a list or an object", s)
}

func (c *schemaCheck) reference(name string, inUnion bool) error {
	switch name {
	case "boolean", "int", "long", "float", "double", "bytes", "string":
		return nil
	case "null":
		if inUnion {
			return nil
		}
		return errors.New("has null outside a union")
	}
	done, defined := c.known[name]
	switch {
	case !defined:
		return fmt.Errorf("names a type %q that it does not define", clip([]byte(name)))
	case !done:
		return fmt.Errorf("has a type %q that contains itself", clip([]byte(name)))
	}
	return nil
}

func (c *schemaCheck) union(of []any, depth int) (any, error) {
	out := make([]any, len(of))
	for i, s := range of {
		if _, nested := s.([]any); nested {
			return nil, errors.New("has a union in a union")
		}
		var err error
		if out[i], err = c.rebuild(s, depth+1, true); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *schemaCheck) complex(s map[string]any, depth int, inUnion bool) (any, error) {
	name, _ := s["name"].(string)
	name = shortName(name)
	switch kind := s["type"].(type) {
	case string:
		switch kind = shortName(kind); kind {
		case "record":
			return c.record(name, s, depth)
		case "enum":
			symbols, _ := s["symbols"].([]any)
			if name == "" || len(symbols) == 0 {
				return nil, errors.New("has an enum without name or symbols")
			}
			c.known[name] = true
			return map[string]any{"type": "enum", "name": name, "symbols": symbols}, nil
		case "array":
			items, err := c.rebuild(s["items"], depth+1, false)
			return map[string]any{"type": "array", "items": items}, err
		case "map":
			values, err := c.rebuild(s["values"], depth+1, false)
			return map[string]any{"type": "map", "values": values}, err
		}
		return kind, c.reference(kind, inUnion)
	default:
		return c.rebuild(kind, depth+1, inUnion)
	}
}

func (c *schemaCheck) record(name string, s map[string]any, depth int) (any, error) {
	from, _ := s["fields"].([]any)
	if name == "" || len(from) == 0 {
		return nil, errors.New("has a record without name or fields")
	}
	if _, twice := c.known[name]; twice {
		return nil, fmt.Errorf("defines %q twice", clip([]byte(name)))
	}
	c.known[name] = false
	fields := make([]any, len(from))
	for i, f := range from {
		f, _ := f.(map[string]any)
		field, _ := f["name"].(string)
		kind, err := c.rebuild(f["type"], depth+1, false)
		if err != nil {
			return nil, err
		}
		fields[i] = map[string]any{"name": field, "type": kind}
	}
	c.known[name] = true
	return map[string]any{"type": "record", "name": name, "fields": fields}, nil
}

// shortName returns a type's name without its namespace.
func shortName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
