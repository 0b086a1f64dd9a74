// Package maporder finds the places where the random order of a map could affect a decision: ranges over maps and over
// what package maps returns for them.
//
// It cannot know whether the order matters. It accepts a line whose comment begins with "order: " and says why the
// order does not matter.
package maporder

import (
	"go/ast"
	"go/types"
	"strings"

	"heddle/internal/testkit/source"
)

// mark begins a comment that says why the order does not matter.
const mark = "// order: "

// Check reports each place in a type-checked package that iterates over a map in random order on a line that does not
// say why that is right.
func Check(p *source.Package) []string {
	var wrong []string
	for _, f := range p.Files {
		excused := reasons(p, f)
		sorted := map[ast.Expr]bool{}
		report := func(n ast.Node, what string) {
			if !excused[p.Fset.Position(n.Pos()).Line] {
				wrong = append(wrong, p.At(n.Pos())+": "+what+" in random order: sort, or say on the line why it does not matter ("+mark+"…)")
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				if isMap(p.Info.TypeOf(n.X)) {
					report(n, "ranges over a map")
				}
			case *ast.CallExpr:
				switch pkg, name := callee(p, n); {
				case pkg == "slices" && strings.HasPrefix(name, "Sorted"):
					sorted[n.Args[0]] = true
				case pkg == "maps" && (name == "All" || name == "Keys" || name == "Values") && !sorted[n]:
					report(n, "maps."+name+" yields")
				}
			}
			return true
		})
	}
	return wrong
}

// reasons returns the lines of a file that say why the order does not matter.
func reasons(p *source.Package, f *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if why, ok := strings.CutPrefix(c.Text, mark); ok && strings.TrimSpace(why) != "" {
				lines[p.Fset.Position(c.Pos()).Line] = true
			}
		}
	}
	return lines
}

// callee returns the package and name of the function that a call calls; both are empty if it is not a plain function.
func callee(p *source.Package, call *ast.CallExpr) (pkg, name string) {
	fun := ast.Unparen(call.Fun)
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	fn, ok := p.Info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return "", ""
	}
	return fn.Pkg().Path(), fn.Name()
}

// isMap reports whether a range over t iterates over a map: t is a map, or a type parameter that can be one.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	if param, ok := types.Unalias(t).(*types.TypeParam); ok {
		return anyMap(param.Constraint())
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// anyMap reports whether a constraint admits a map.
func anyMap(constraint types.Type) bool {
	set, ok := constraint.Underlying().(*types.Interface)
	if !ok {
		return isMap(constraint)
	}
	for t := range set.EmbeddedTypes() {
		if u, ok := t.(*types.Union); ok {
			for term := range u.Terms() {
				if isMap(term.Type()) {
					return true
				}
			}
		} else if anyMap(t) {
			return true
		}
	}
	return false
}
