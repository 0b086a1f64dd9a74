package arch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/testkit/source"
)

const root = "../../.."

func parse(t *testing.T, root string) []*source.Package {
	t.Helper()
	pkgs, err := source.Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

func none(t *testing.T, wrong []string) {
	t.Helper()
	for _, w := range wrong {
		t.Error(strings.TrimPrefix(w, root+"/"))
	}
}

func TestImportTable(t *testing.T) { none(t, Imports("heddle", Table, parse(t, root))) }

func TestClosureOfSched(t *testing.T) {
	closure, err := source.Closure(root, "sched")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(closure, "heddle/cluster") {
		t.Fatalf("this is no closure of sched: %v", closure)
	}
	none(t, Linked(Impure, closure))
}

func TestClosureOfTheMachine(t *testing.T) {
	closure, err := source.Closure(root, "rm")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(closure, "heddle/sched") || !slices.Contains(closure, "sync") {
		t.Fatalf("this is no closure of rm: %v", closure)
	}
	pkgs := parse(t, root)
	none(t, Imported("heddle", OnlyBelow, closure, pkgs))
	none(t, Imported("heddle", []string{Streams}, []string{"heddle/rm"}, pkgs)) // none of these needs it
	none(t, Linked(ImpureMachine, slices.DeleteFunc(closure, func(p string) bool { return p == Streams })))
}

// The decision record on libraries lists each library that go.mod requires directly.
func TestLibrariesAreListed(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	listed, err := os.ReadFile(filepath.Join(root, "docs", "adr", "0007-libraries.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(mod)) {
		path, version, ok := strings.Cut(strings.TrimSpace(line), " v")
		if !ok || strings.HasSuffix(strings.TrimSpace(version), "// indirect") {
			continue
		}
		checked++
		name := strings.TrimPrefix(path, "github.com/")
		if at := strings.LastIndex(name, "/v"); at > 0 {
			name = name[:at]
		}
		if !strings.Contains(string(listed), name) {
			t.Errorf("docs/adr/0007-libraries.md lacks %s: what is it for, and why this one?", name)
		}
	}
	if checked < 20 {
		t.Errorf("%d libraries were read of go.mod", checked)
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range parse(t, root) {
		none(t, Docs(p))
	}
}

func TestNoInit(t *testing.T) {
	for _, p := range parse(t, root) {
		none(t, Inits(p))
	}
}

func TestPurePackages(t *testing.T) {
	pure := OnlyPure(Pure, parse(t, root))
	if err := source.Check(root, pure); err != nil {
		t.Fatal(err)
	}
	for _, p := range pure {
		none(t, Impurities(p))
	}
}

// module writes a module with the given files, by path, and parses it.
func module(t *testing.T, files map[string]string) (string, []*source.Package) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module toy\n\ngo 1.26\n"
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, parse(t, dir)
}

// want fails unless each report contains its text, in order, and there are no others.
func want(t *testing.T, wrong []string, parts ...string) {
	t.Helper()
	if len(wrong) != len(parts) {
		t.Fatalf("reported %q, want %q", wrong, parts)
	}
	for i := range parts {
		if !strings.Contains(wrong[i], parts[i]) {
			t.Errorf("reported %q, want %q", wrong[i], parts[i])
		}
	}
}

func TestImportsAreReported(t *testing.T) {
	_, pkgs := module(t, map[string]string{
		"a.go":             "package toy\n",
		"low/l.go":         "package low\n\nimport _ \"toy/high\"\n",
		"low/l_test.go":    "package low\n\nimport _ \"toy/new\"\n",
		"high/h.go":        "package high\n\nimport (\n\t_ \"os\"\n\t_ \"toy\"\n\t_ \"toy/p/x\"\n)\n",
		"p/x/x.go":         "package x\n\nimport _ \"toy/p/y\"\n",
		"p/y/y.go":         "package y\n",
		"new/n.go":         "package new\n",
		"testdata/t.go":    "package t\n",
		"nested/go.mod":    "module nested\n",
		"nested/nested.go": "package nested\n",
	})
	table := []Row{{".", nil}, {"low", []string{"."}}, {"high", []string{".", "p/*"}}, {"p/*", []string{"."}}, {"gone", nil}}
	want(t, Imports("toy", table, pkgs),
		"low/l.go:3: low may not import high", "new: not in the import table", "x.go:3: p/x may not import p/y",
		"has a row for gone")
}

func TestLinkedIsReported(t *testing.T) {
	want(t, Linked([]string{"os", "sync"}, []string{"osmosis", "os", "sync/atomic", "internal/sync"}), "os", "sync/atomic")
}

func TestImportedIsReported(t *testing.T) {
	_, pkgs := module(t, map[string]string{
		"a.go":         "package toy\n\nimport _ \"io/fs\"\n",
		"in/i.go":      "package in\n\nimport (\n\t_ \"iter\"\n\t_ \"sync\"\n)\n",
		"in/i_test.go": "package in\n\nimport _ \"io\"\n",
		"out/o.go":     "package out\n\nimport _ \"sync\"\n",
	})
	want(t, Imported("toy", []string{"sync", "io"}, []string{"toy", "toy/in", "sync"}, pkgs), "a.go:3: imports io/fs", "in/i.go:5: imports sync")
}

func TestDocsAndInitsAreReported(t *testing.T) {
	_, pkgs := module(t, map[string]string{
		"none/a.go":    "package none\n",
		"two/a.go":     "// Package two is.\npackage two\n",
		"two/b.go":     "// Package two is.\npackage two\n",
		"odd/a.go":     "// odd is.\npackage odd\n",
		"good/a.go":    "// Package good is.\npackage good\n\ntype t int\n\nfunc (t) init() {}\n",
		"good/b.go":    "package good\n\nfunc init() {}\n",
		"good/c.go":    "// Code generated by toy. DO NOT EDIT.\n\npackage good\n\nfunc init() {}\n",
		"cmd/run/a.go": "// Command run runs.\npackage main\n",
	})
	var docs, inits []string
	for _, p := range pkgs {
		docs = append(docs, Docs(p)...)
		inits = append(inits, Inits(p)...)
	}
	want(t, docs, "none: 0 package", "odd/a.go:1: the package comment", "two: 2 package")
	want(t, inits, "good/b.go:3")
}

func TestImpuritiesAreReported(t *testing.T) {
	dir, pkgs := module(t, map[string]string{
		"bad/a.go": `package bad

import (
	clock "time"
	"math/rand/v2"
	"sync"
)

var mu sync.Mutex

func f(rand2 *rand.Rand) {
	now := clock.Now
	_ = now()
	go f(nil)
	_ = rand.IntN(3)
	_ = make(chan int)
	_ = clock.Second + clock.Duration(rand2.IntN(3))
	_ = rand.New(rand.NewPCG(1, 2))
}
`,
		"old/a.go":  "package old\n\nimport \"math/rand\"\n\nvar R = rand.New(rand.NewSource(1))\n",
		"free/a.go": "package free\n\nimport \"time\"\n\nvar T = time.Now()\n",
	})
	pure := OnlyPure([]string{"bad", "old"}, pkgs)
	if err := source.Check(dir, pure); err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, p := range pure {
		wrong = append(wrong, Impurities(p)...)
	}
	want(t, wrong, "a.go:6: imports sync", "a.go:12: time.Now", "a.go:14: starts a goroutine", "a.go:15: rand.IntN",
		"a.go:16: uses a channel", "old/a.go:3: imports math/rand")
}
