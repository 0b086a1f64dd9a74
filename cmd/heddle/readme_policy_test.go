package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README's policy works: with its line in the table it compiles, keeps what every policy must keep, and the
// README's command runs it. Nothing is written into the tree: the compiler sees the files through an overlay.
func TestReadmePolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a heddle and runs simulations")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(readme), "## A policy in thirty lines\n")
	if !ok {
		t.Fatal("the README has no section “A policy in thirty lines”")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	part := func(what, pattern string) []string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(section)
		if m == nil {
			t.Fatalf("the section has no %s", what)
		}
		return m[1:]
	}
	code := part("code", "(?s)```go\n(.*?)```\n")[0]
	name := part("package", `\npackage (\w+)\n`)[0]
	entry := part("line for the table", "With `([^`]+)` in the table's `(\\w+)`")
	command := part("command", `\n    heddle (sim compare .*)\n`)[0]

	table, err := os.ReadFile(filepath.Join(root, "policies", "policies.go"))
	if err != nil {
		t.Fatal(err)
	}
	slot := regexp.MustCompile(`\n\t` + entry[1] + `: map\[.*\{\n`)
	if !slot.Match(table) {
		t.Fatalf("the table has no %s", entry[1])
	}
	table = slot.ReplaceAllFunc(table, func(line []byte) []byte { return append(bytes.Clone(line), entry[0]+",\n"...) })
	table = bytes.Replace(table, []byte("import (\n"), []byte("import (\n\t\"heddle/policies/"+name+"\"\n"), 1)

	dir := t.TempDir()
	overlay := map[string]string{}
	add := func(path string, text []byte) {
		file := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, path)] = file
	}
	add("policies/policies.go", table)
	add("policies/"+name+"/"+name+".go", []byte(code))
	add("policies/"+name+"/suite_test.go", []byte(`package `+name+`_test

import (
	"testing"

	"heddle"
	"heddle/policies/`+name+`"
	"heddle/policy"
	"heddle/policy/policytest"
)

func TestSuite(t *testing.T) {
	policytest.Run(t, `+name+`.New, "waiting: 2", func(g policy.Gate) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Gate[heddle.Reduce] = []policy.Gate{g}
		return s
	})
}
`))
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "heddle")
	suite := filepath.Join(dir, "suite")
	for _, args := range [][]string{
		{"go", "build", "-overlay", list, "-o", exe, "./cmd/heddle"},
		{"go", "test", "-c", "-vet=off", "-overlay", list, "-o", suite, "./policies/" + name},
		{suite, "-test.short"},
	} {
		run := exec.Command(args[0], args[1:]...)
		run.Dir = root
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}

	run := exec.Command("sh", "-c", exe+" "+command+" --seeds 1 -o json") // a shell reads the quotes as readers' shells do
	run.Dir, run.Stderr = root, os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("heddle %s: %v", command, err)
	}
	var got struct {
		Profiles []struct {
			Profile                 string
			Jobs, Completed, Failed float64
			JCT                     struct{ Mean float64 } `json:"jct_seconds"`
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(got.Profiles) != 2 {
		t.Fatalf("%d profiles in %s", len(got.Profiles), out)
	}
	without, with := got.Profiles[0], got.Profiles[1]
	if !strings.Contains(with.Profile, name) || with.Completed != with.Jobs || with.Jobs == 0 || with.Failed != 0 {
		t.Errorf("with the policy: %+v", with)
	}
	if with.JCT == without.JCT {
		t.Errorf("the policy changes nothing: %+v", with)
	}
}
