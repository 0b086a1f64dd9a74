package arch

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"heddle/internal/testkit/source"
)

// clock are the functions of package time that read the wall clock or wait for it.
var clock = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true,
	"NewTimer": true, "NewTicker": true,
}

// Impurities reports what a type-checked package does that a pure package may not: read the clock, draw from the global
// random source, start goroutines, use channels, or synchronise.
func Impurities(p *source.Package) []string {
	var wrong []string
	report := func(n ast.Node, what string) { wrong = append(wrong, p.At(n.Pos())+": "+what) }
	for _, spec := range p.Imports() {
		switch i := importPath(spec); {
		case i == "sync" || strings.HasPrefix(i, "sync/"):
			report(spec, "imports "+i+": a pure package belongs to one goroutine")
		case i == "math/rand":
			report(spec, "imports math/rand: randomness is a math/rand/v2 stream passed in")
		}
	}
	for _, f := range p.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				report(n, "starts a goroutine")
			case *ast.ChanType:
				report(n, "uses a channel")
			case *ast.Ident:
				if what := forbidden(p.Info.Uses[n]); what != "" {
					report(n, what)
				}
			}
			return true
		})
	}
	return wrong
}

// forbidden says what is wrong with using an object; it is empty if nothing is.
func forbidden(o types.Object) string {
	fn, ok := o.(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return ""
	}
	switch fn.Pkg().Path() {
	case "time":
		if clock[fn.Name()] {
			return fmt.Sprintf("time.%s: only drivers know the time", fn.Name())
		}
	case "math/rand/v2":
		if !strings.HasPrefix(fn.Name(), "New") {
			return fmt.Sprintf("rand.%s draws from the global source: use a stream passed in", fn.Name())
		}
	}
	return ""
}
