// Package arch holds the module to its own architecture: which packages may import which, what pure packages may not
// do, and the few rules that apply to every package.
//
// It knows the rules but not what the packages are for. The rules run as its tests.
package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/testkit/source"
)

// Imports reports each import among packages of the module that the table does not allow, each package that is not in
// the table, and each row of the table that matches no package.
func Imports(module string, table []Row, pkgs []*source.Package) []string {
	var wrong []string
	used := make([]bool, len(table))
	for _, p := range pkgs {
		i := slices.IndexFunc(table, func(r Row) bool { return matches(r.Package, p.Path) })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("%s: not in the import table", p.Path))
			continue
		}
		used[i] = true
		for _, spec := range p.Imports() {
			to, ours := within(module, spec)
			if ours && !slices.ContainsFunc(table[i].May, func(may string) bool { return matches(may, to) }) {
				wrong = append(wrong, fmt.Sprintf("%s: %s may not import %s", p.At(spec.Pos()), p.Path, to))
			}
		}
	}
	for i, r := range table {
		if !used[i] {
			wrong = append(wrong, fmt.Sprintf("the import table has a row for %s, and there is no such package", r.Package))
		}
	}
	return wrong
}

// within returns the path of an import relative to the module, if it is a package of the module.
func within(module string, spec *ast.ImportSpec) (string, bool) {
	if importPath(spec) == module {
		return ".", true
	}
	return strings.CutPrefix(importPath(spec), module+"/")
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic("the parser let an import path through that is no string: " + spec.Path.Value)
	}
	return p
}

func matches(pattern, p string) bool {
	if pattern == "*" {
		return true
	}
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		return path.Dir(p) == dir
	}
	return pattern == p
}

// OnlyPure returns the packages that match any of the patterns.
func OnlyPure(pure []string, pkgs []*source.Package) []*source.Package {
	var out []*source.Package
	for _, p := range pkgs {
		if slices.ContainsFunc(pure, func(pattern string) bool { return matches(pattern, p.Path) }) {
			out = append(out, p)
		}
	}
	return out
}

// Linked reports each import path in closure that equals one of impure or is below it.
func Linked(impure, closure []string) []string {
	var wrong []string
	for _, c := range closure {
		if below(impure, c) {
			wrong = append(wrong, c)
		}
	}
	return wrong
}

// below reports whether an import path equals one in a list or is below it.
func below(list []string, p string) bool {
	return slices.ContainsFunc(list, func(i string) bool { return p == i || strings.HasPrefix(p, i+"/") })
}

// Imported reports each import of a path that equals one of impure or is below it, by the packages of the module that
// are in closure.
func Imported(module string, impure, closure []string, pkgs []*source.Package) []string {
	var wrong []string
	for _, p := range pkgs {
		if !slices.Contains(closure, path.Join(module, p.Path)) {
			continue
		}
		for _, spec := range p.Imports() {
			if i := importPath(spec); below(impure, i) {
				wrong = append(wrong, p.At(spec.Pos())+": imports "+i)
			}
		}
	}
	return wrong
}

// Docs reports the package unless exactly one of its files has a package comment, and that comment begins as godoc
// expects.
func Docs(p *source.Package) []string {
	var docs []*ast.File
	for _, f := range p.Files {
		if f.Doc != nil {
			docs = append(docs, f)
		}
	}
	if len(docs) != 1 {
		return []string{fmt.Sprintf("%s: %d package comments, want 1", p.Path, len(docs))}
	}
	want := "Package " + docs[0].Name.Name + " "
	if docs[0].Name.Name == "main" {
		want = "Command " + path.Base(p.Path) + " "
	}
	if !strings.HasPrefix(docs[0].Doc.Text(), want) {
		return []string{fmt.Sprintf("%s: the package comment does not begin with %q", p.At(docs[0].Doc.Pos()), want)}
	}
	return nil
}

// Inits reports each init function: a package gets what it needs through its constructors. Generated code is exempt.
func Inits(p *source.Package) []string {
	var wrong []string
	for _, f := range p.Files {
		if ast.IsGenerated(f) {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				wrong = append(wrong, p.At(fn.Pos())+": an init function")
			}
		}
	}
	return wrong
}
