package plain

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxNesting is how deep lists and mappings may be nested: beyond it the YAML library takes quadratic time.
const maxNesting = 64

// maxKeys is how many keys a mapping in block style may have, for the same reason.
const maxKeys = 10_000

// ReadFile reads a file of at most that many bytes. Of a longer file it reads only one byte more, and returns an error.
func ReadFile(path string, most int) ([]byte, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // the file was only read
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s is larger than the limit of %d bytes", path, most)
	}
	return data, err
}

// Document returns the one document of a YAML file, with or without a byte-order mark, or nil if it has none. It
// refuses anchors, aliases, deep nesting and very many keys, so that a broken file costs only a message. [YAML] says
// what an error means.
func Document(data []byte) (ast.Node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkNesting(data); err != nil {
		return nil, err
	}
	if err := checkKeys(data); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, err
	}
	var doc ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil:
		case doc != nil:
			return nil, &yaml.SyntaxError{Message: "a second document: there must be only one", Token: Start(d.Body)}
		default:
			doc = d.Body
		}
	}
	if doc == nil {
		return nil, nil
	}
	v := aliasFinder{}
	ast.Walk(&v, doc)
	return doc, v.err
}

// Start returns the first token of a node; for a mapping, its first key.
func Start(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return Start(n.Values[0])
		}
	case *ast.MappingValueNode:
		return Start(n.Key)
	}
	return n.GetToken()
}

// checkNesting refuses input that would take the parser very deep: nested brackets, and lists begun inside lists on one
// line.
func checkNesting(data []byte) error {
	depth, marks, line, begins := 0, 0, 1, 0
	leading, comment := true, false
	before := byte('\n')
	for i, c := range data {
		switch {
		case c == '\n':
			line, marks, leading, comment, begins = line+1, 0, true, false, i+1
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
			at := &token.Token{Position: &token.Position{Line: line, Column: i - begins + 1}}
			return &yaml.SyntaxError{Message: fmt.Sprintf("is nested more than %d deep", maxNesting), Token: at}
		}
		before = c
	}
	return nil
}

// checkKeys refuses mappings with too many keys. Lines of text that look like keys count too.
func checkKeys(data []byte) error {
	type mapping struct{ column, keys int }
	var open []mapping // mappings that the line may belong to, innermost last
	line := 0
	for text := range bytes.Lines(data) {
		line++
		rest := bytes.TrimLeft(text, " ")
		if len(bytes.TrimSpace(rest)) == 0 || rest[0] == '#' {
			continue
		}
		column := len(text) - len(rest) + 1
		for len(open) > 0 && open[len(open)-1].column > column {
			open = open[:len(open)-1]
		}
		if bytes.IndexByte([]byte("-[]{}"), rest[0]) >= 0 || bytes.IndexByte(rest, ':') < 0 {
			continue
		}
		if len(open) == 0 || open[len(open)-1].column < column {
			open = append(open, mapping{column: column})
		}
		m := &open[len(open)-1]
		if m.keys++; m.keys > maxKeys {
			at := &token.Token{Position: &token.Position{Line: line, Column: column}}
			return &yaml.SyntaxError{Message: fmt.Sprintf("exceeds the %d keys that a mapping may have", maxKeys), Token: at}
		}
	}
	return nil
}

// aliasFinder refuses anchors and aliases: a few lines with them can stand for any amount of data.
type aliasFinder struct{ err error }

func (v *aliasFinder) Visit(n ast.Node) ast.Visitor {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		if v.err == nil {
			v.err = &yaml.SyntaxError{Message: "anchors and aliases are not supported: write the value out", Token: n.GetToken()}
		}
	}
	return v
}
