// Package plain puts what libraries say of bad input into the words of the input: no types of Go's, and what would be
// right. It also writes what input says so that a terminal shows it and does not act on it.
package plain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"
)

const whole = "a whole number"

// Kind says what is wanted where a value of a type is read.
func Kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return whole
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Pointer:
		return Kind(t.Elem())
	default:
		return "an object"
	}
}

// JSON says what is wrong with JSON: the field it is wrong with, "" for the whole, and what is wrong.
func JSON(err error) (field, text string) {
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := Kind(typed.Type)
		if n := strings.TrimPrefix(typed.Value, "number "); want == whole && strings.Trim(n, "-0123456789") == "" {
			const most = 60 // a number can be as long as the input
			if len(n) > most {
				n = n[:most] + "…"
			}
			return typed.Field, n + " is out of range"
		}
		return typed.Field, "got " + got(typed.Value) + "; wanted " + want
	}
	if errors.As(err, new(*json.SyntaxError)) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "", "is not JSON: " + err.Error()
	}
	return "", err.Error()
}

// JSONText says what is wrong with JSON, field and all.
func JSONText(err error) string {
	field, text := JSON(err)
	if field != "" {
		return field + ": " + text
	}
	return text
}

// got is a value of JSON by what the decoder calls it: "number 1.5", "string".
func got(value string) string {
	switch kind, rest, _ := strings.Cut(value, " "); kind {
	case "string":
		return "text"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	case "number":
		if rest != "" {
			return rest
		}
	}
	return "a number"
}

// YAML says what is wrong with YAML: the token it is wrong with, nil where that is not known, the key the token is the
// value of, "" where it is none, and what is wrong.
func YAML(err error) (at *token.Token, key, text string) {
	var e yaml.Error
	if !errors.As(err, &e) {
		return nil, "", err.Error()
	}
	at = e.GetToken()
	var typed *yaml.TypeError
	var node *yaml.UnexpectedNodeTypeError
	var over *yaml.OverflowError
	switch {
	case errors.As(err, &typed):
		return at, keyOf(at), "got " + article(kindOf(typed.SrcType)) + "; wanted " + mapping(Kind(typed.DstType))
	case errors.As(err, &node):
		return at, keyOf(at), "got " + article(node.Actual.YAMLName()) + "; wanted " + article(node.Expected.YAMLName())
	case errors.As(err, &over):
		return at, keyOf(at), over.SrcNum + " is out of range"
	case errors.As(err, new(*yaml.UnknownFieldError)):
		return at, "", fmt.Sprintf("unknown key %q", at.Value)
	}
	return at, "", e.GetMessage()
}

// mapping has YAML's word for an object.
func mapping(kind string) string {
	if kind == "an object" {
		return "a mapping"
	}
	return kind
}

func kindOf(t reflect.Type) string {
	if t == nil {
		return "null"
	}
	return mapping(Kind(t))
}

// article turns the library's name of a node into words.
func article(name string) string {
	switch name {
	case "string", "scalar":
		return "text"
	case "sequence":
		return "a list"
	case "mapping", "value":
		return "a mapping"
	case "int", "float":
		return "a number"
	case "boolean":
		return "true or false"
	case "null":
		return "nothing"
	}
	return name
}

// keyOf is the key whose value a token begins.
func keyOf(t *token.Token) string {
	for t != nil && t.Prev != nil {
		if t = t.Prev; t.Type == token.MappingValueType && t.Prev != nil {
			return t.Prev.Value
		}
	}
	return ""
}

// Keys are the YAML keys of a struct.
func Keys(kind reflect.Type) []string {
	var out []string
	for field := range kind.Fields() {
		if k, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); k != "" && k != "-" {
			out = append(out, k)
		}
	}
	return out
}
