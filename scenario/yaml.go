package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"heddle/internal/near"
	"heddle/internal/plain"
)

// A position is a place in the file; the zero value is its beginning.
type position struct{ line, column int }

// An Error is what is wrong with a scenario file, and where.
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

// positionOf is where a node begins; of a mapping, its first key.
func positionOf(n ast.Node) position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return positionOf(n.Values[0])
		}
	case *ast.MappingValueNode:
		return positionOf(n.Key)
	}
	return tokenPosition(n.GetToken())
}

func tokenPosition(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}

// Limits on a file, so that a broken one costs a message only.
const (
	maxFileBytes = 4 << 20
	maxNesting   = 64
)

// parse returns the document of a file.
func parse(data []byte) (ast.Node, error) {
	if len(data) > maxFileBytes {
		return nil, position{}.errorf("the file is longer than %d bytes", maxFileBytes)
	}
	if err := checkNesting(data); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlError(err)
	}
	var docs []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			docs = append(docs, d.Body)
		}
	}
	if len(docs) != 1 {
		return nil, position{}.errorf("holds %d documents; wanted one with name, cluster, workload, …", len(docs))
	}
	v := aliasFinder{}
	ast.Walk(&v, docs[0])
	return docs[0], v.err
}

// checkNesting refuses what would take the parser very deep: brackets in brackets, and lists begun in
// lists on one line.
func checkNesting(data []byte) error {
	depth, marks, line := 0, 0, 1
	leading, comment := true, false
	before := byte('\n')
	for _, c := range data {
		switch {
		case c == '\n':
			line, marks, leading, comment = line+1, 0, true, false
		case comment:
		case c == '#' && (before == ' ' || before == '\t' || before == '\n'):
			comment = true
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth = max(0, depth-1)
		case c == '-' || c == '?' || c == ':':
			marks++
		case c != ' ' && c != '\t' && c != '!' && c != '&':
			leading = false
		}
		if depth > maxNesting || leading && marks > maxNesting {
			return position{line: line}.errorf("is nested more than %d deep", maxNesting)
		}
		before = c
	}
	return nil
}

// aliasFinder refuses anchors and aliases: a few lines of them can stand for any amount of data.
type aliasFinder struct{ err error }

func (v *aliasFinder) Visit(n ast.Node) ast.Visitor {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		if v.err == nil {
			v.err = positionOf(n).errorf("anchors and aliases are not supported: write the value out")
		}
	}
	return v
}

// decode fills a struct from a mapping. A key it does not have is an error that names those it has.
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
			return p.errorf("params: physical parameters cannot be set in a scenario: they are the same for all")
		}
		return p.errorf("unknown key %q; %s", name, near.Names(name, plain.Keys(kind)))
	}
	return yamlError(err)
}

// yamlError turns an error of the YAML library into one of this package.
func yamlError(err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	at, _, text := plain.YAML(err)
	return tokenPosition(at).errorf("%s", text)
}
