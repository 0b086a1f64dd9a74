// Package plain turns what libraries say about bad input into terms of the input: it avoids Go's type names and says
// what would be right. It also makes text from input safe to show on a terminal.
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

// Kind says in words what value a type wants.
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

// JSON explains a JSON error: the field that is wrong, "" for the whole input, and what is wrong with it.
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

// JSONText explains a JSON error in one text that includes the field.
func JSONText(err error) string {
	field, text := JSON(err)
	if field != "" {
		return field + ": " + text
	}
	return text
}

// got turns the decoder's name of a JSON value, such as "number 1.5" or "string", into words.
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

// YAML explains a YAML error: the token that is wrong, nil if that is not known; the key whose value the token is, ""
// if there is none; and what is wrong.
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

// mapping returns kind, with YAML's word for an object.
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

// article turns the library's name for a node into words.
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

// keyOf returns the key whose value a token begins.
func keyOf(t *token.Token) string {
	for t != nil && t.Prev != nil {
		if t = t.Prev; t.Type == token.MappingValueType && t.Prev != nil {
			return t.Prev.Value
		}
	}
	return ""
}

// Keys returns the YAML keys of a struct.
func Keys(kind reflect.Type) []string {
	var out []string
	for field := range kind.Fields() {
		if k, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); k != "" && k != "-" {
			out = append(out, k)
		}
	}
	return out
}
