package rm

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"heddle/yarn/ids"
)

// Sentences read as package fmt would format them.
func TestText(t *testing.T) {
	app := ids.App{Cluster: 1, Seq: 2}
	for _, x := range []struct {
		format string
		args   []any
	}{
		{"", nil},
		{"as it is", nil},
		{"%s", []any{""}},
		{"%s at %s", []any{"ann", "10.0.0.1"}},
		{"%d, %d and %d", []any{-1, int32(7), int64(1) << 40}},
		{"the queue %q", []any{"a\"b\n%s"}},
		{"%s is %s", []any{app, appRunning}},
		{"no: %s", []any{errors.New("it fell over")}},
		{"%s%s", []any{"100%", "s %d"}}, // values are not interpreted
	} {
		if got, want := text(x.format, x.args...), fmt.Sprintf(x.format, x.args...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := panics(func() { _ = text("%s", 1.5) }); !strings.Contains(got, "no words") {
		t.Errorf("a value without words: %q", got)
	}
}

// A text is cut at a character boundary, and no shorter than needed.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "bytes")
		got := Clip(s, n)
		switch {
		case !strings.HasPrefix(s, got) || len(got) > n:
			t.Errorf("%q", got)
		case len(s) <= n && got != s:
			t.Errorf("%q need not be cut", got)
		case len(s) > n && len(got)+utf8.UTFMax <= n, utf8.ValidString(s) && !utf8.ValidString(got):
			t.Errorf("cut to %q", got)
		}
	})
}

// formatted lists the functions that format sentences, and which of their arguments is the sentence.
var formatted = map[string]int{"text": 0, "invalid": 1, "refuseNode": 0, "resync": 0, "that": 1}

// Every sentence of the package has as many verbs as values, and only verbs that text knows.
func TestSentencesHaveTheirValues(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files, looked := token.NewFileSet(), 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && !call.Ellipsis.IsValid() {
				if i, ok := formatted[called(call)]; ok {
					looked++
					if wrong := unmatched(call.Args[i:]); wrong != "" {
						t.Errorf("%s: %s", files.Position(call.Pos()), wrong)
					}
				}
			}
			return true
		})
	}
	if looked < 40 {
		t.Errorf("only %d sentences were looked at", looked)
	}
}

// called returns the name of the called function or method. The machine's own method text is about amounts.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if f.Sel.Name != "text" {
			return f.Sel.Name
		}
	}
	return ""
}

// unmatched says what is wrong with a sentence and its values; "" for nothing.
func unmatched(args []ast.Expr) string {
	lit, ok := args[0].(*ast.BasicLit)
	if !ok {
		return "the sentence is no literal"
	}
	format, err := strconv.Unquote(lit.Value)
	places := strings.Count(format, "%")
	known := strings.Count(format, "%s") + strings.Count(format, "%d") + strings.Count(format, "%q")
	if values := len(args) - 1; err != nil || places != values || places != known {
		return fmt.Sprintf("%d values for %q", values, format)
	}
	return ""
}
