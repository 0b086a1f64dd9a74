package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"heddle/internal/near"
	"heddle/internal/plain"
)

// A position is a place in the file; the zero value is its beginning.
type position struct{ line, column int }

// An Error says what is wrong with a scenario file, and where.
type Error struct {
	Path         string
	Line, Column int // 1-based
	Reason       string
}

// Error returns "path:line:column: reason".
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, max(1, e.Line), max(1, e.Column), e.Reason)
}

func (p position) errorf(format string, args ...any) error {
	return &Error{Line: p.line, Column: p.column, Reason: fmt.Sprintf(format, args...)}
}

// positionOf returns where a node begins; for a mapping, where its first key does.
func positionOf(n ast.Node) position { return tokenPosition(plain.Start(n)) }

func tokenPosition(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}

// maxFileBytes is the maximum length of a file.
const maxFileBytes = 4 << 20

// parse returns the document in a file.
func parse(data []byte) (ast.Node, error) {
	if len(data) > maxFileBytes {
		return nil, position{}.errorf("the file is longer than %d bytes", maxFileBytes)
	}
	doc, err := plain.Document(data)
	if err == nil && doc == nil {
		return nil, position{}.errorf("holds no document; wanted one with name, cluster, workload, …")
	}
	return doc, yamlError(err)
}

// decode fills a struct from a mapping. An unknown key is an error that lists the known ones.
func decode(n ast.Node, into any) error {
	kind := reflect.TypeOf(into).Elem()
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		return positionOf(n).errorf("wanted a mapping with %s", strings.Join(plain.Keys(kind), ", "))
	}
	err := yaml.NodeToValue(n, into, yaml.Strict())
	if unknown, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		p := tokenPosition(unknown.GetToken())
		name := unknown.GetToken().Value
		if name == "params" {
			return p.errorf("params: physical parameters cannot be set in a scenario; all scenarios have the same")
		}
		return p.errorf("unknown key %q; %s", name, near.Names(name, plain.Keys(kind)))
	}
	return yamlError(err)
}

// yamlError converts an error of the YAML library to one of this package.
func yamlError(err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	at, _, text := plain.YAML(err)
	return tokenPosition(at).errorf("%s", text)
}
