// Package source reads this module's own source for the tests that hold it to its rules: the imports of each package,
// its syntax and, on request, its types.
//
// It knows none of the rules, and it reads neither test files nor nested modules.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Package is one package of a module.
type Package struct {
	Path  string // relative to the module: "sim/apps"; "." is the module's root
	Fset  *token.FileSet
	Files []*ast.File // without tests, in order of name

	Info *types.Info // nil until Check
}

// Parse reads all packages below root, a module's root folder, in order of path. It leaves out folders named testdata
// and folders with their own go.mod.
func Parse(root string) ([]*Package, error) {
	var pkgs []*Package
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root && hidden(dir, d.Name()) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		p := &Package{Path: filepath.ToSlash(rel), Fset: token.NewFileSet()}
		if err := p.parse(dir); err != nil || len(p.Files) == 0 {
			return err
		}
		pkgs = append(pkgs, p)
		return nil
	})
	return pkgs, err
}

func hidden(dir, name string) bool {
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func (p *Package) parse(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := build.Default.MatchFile(dir, e.Name()); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		f, err := parser.ParseFile(p.Fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p.Files = append(p.Files, f)
	}
	return nil
}

// Imports returns the imports of the package, in order of files, with the position of each.
func (p *Package) Imports() []*ast.ImportSpec {
	var specs []*ast.ImportSpec
	for _, f := range p.Files {
		specs = append(specs, f.Imports...)
	}
	return specs
}

// At returns a position as file:line.
func (p *Package) At(pos token.Pos) string {
	at := p.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", at.Filename, at.Line)
}

// Check type-checks packages of the module at root and fills in their Info. It takes their imports from the go
// command's build cache, and compiles them first if they are not there.
func Check(root string, pkgs []*Package) error {
	if len(pkgs) == 0 {
		return nil
	}
	exports, err := exportData(root, pkgs)
	if err != nil {
		return err
	}
	for _, p := range pkgs {
		p.Info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: importer.ForCompiler(p.Fset, "gc", func(path string) (io.ReadCloser, error) {
			file, ok := exports[path]
			if !ok {
				return nil, fmt.Errorf("the go command lists no export data of %s", path)
			}
			return os.Open(file)
		})}
		if _, err := conf.Check(p.Path, p.Fset, p.Files, p.Info); err != nil {
			return err
		}
	}
	return nil
}

// exportData returns the export data file of each package that pkgs import, by import path.
func exportData(root string, pkgs []*Package) (map[string]string, error) {
	args := []string{"list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, p := range pkgs {
		args = append(args, "./"+p.Path)
	}
	out, err := goCommand(root, args...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range strings.Lines(out) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		if file != "" {
			exports[path] = file
		}
	}
	return exports, nil
}

// Closure returns the import paths of all packages that a package of the module at root is linked with, including
// itself.
func Closure(root, path string) ([]string, error) {
	out, err := goCommand(root, "list", "-deps", "./"+path)
	return strings.Fields(out), err
}

func goCommand(root string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("go %s: %w", strings.Join(args, " "), err), errors.New(stderr.String()))
	}
	return stdout.String(), nil
}
