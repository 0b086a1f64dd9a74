package maporder

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"heddle/internal/testkit/arch"
	"heddle/internal/testkit/source"
)

func TestPurePackages(t *testing.T) {
	const root = "../../.."
	for _, w := range check(t, root, arch.Pure) {
		t.Error(strings.TrimPrefix(w, root+"/"))
	}
}

func check(t *testing.T, root string, pure []string) []string {
	t.Helper()
	pkgs, err := source.Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	pkgs = arch.OnlyPure(pure, pkgs)
	if err := source.Check(root, pkgs); err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, p := range pkgs {
		wrong = append(wrong, Check(p)...)
	}
	return wrong
}

const toy = `package toy

import (
	"maps"
	"slices"
)

type table map[string]int

func f[M ~map[int]int, S ~[]int](m map[string]int, named table, m2 M, s S) {
	for range m { // BAD
	}
	for k := range named { // BAD
		_ = k
	}
	for range m2 { // BAD
	}
	for range s {
	}
	for range m { // order: only counted
	}
	for range m { // order:
	} // BAD was the line above: it gives no reason
	for range maps.Keys(m) { // BAD
	}
	_ = slices.Collect(maps.Values(m)) // BAD
	_ = slices.Sorted(maps.Keys(m))
	for range maps.All(m) { // order: only counted
	}
	for range 3 {
	}
}
`

func TestToy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module toy\n\ngo 1.26\n", "toy.go": toy} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var want []int
	for i, line := range strings.Split(toy, "\n") {
		if strings.HasSuffix(line, "// BAD") {
			want = append(want, i+1)
		} else if strings.Contains(line, "// BAD was the line above") {
			want = append(want, i)
		}
	}
	got := check(t, dir, []string{"."})
	if len(got) != len(want) {
		t.Fatalf("got %d, want lines %v:\n%s", len(got), want, strings.Join(got, "\n"))
	}
	for i, w := range want {
		if !strings.Contains(got[i], "toy.go:"+strconv.Itoa(w)+": ") {
			t.Errorf("got %s, want line %d", got[i], w)
		}
	}
}
