package main

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what the demo prints into the README")

// The README shows what make demo prints.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole demo")
	}
	const readme = "../../README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile("(?s)It prints\n\n```\n(.*?)```\n").FindSubmatchIndex(text)
	if at == nil {
		t.Fatal("the README has no block after “It prints”")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	demo := exec.Command(exe, "sim", "compare", "--profiles", "capacity,fair,heddle", "--clairvoyant", "scenarios/demo.yaml")
	demo.Args[0], demo.Dir, demo.Stderr = "heddle", "../..", os.Stderr
	out, err := demo.Output()
	if err != nil {
		t.Fatal(err)
	}
	switch shown := text[at[2]:at[3]]; {
	case string(shown) == string(out):
	case *rewrite:
		if err = os.WriteFile(readme, append(append(text[:at[2]:at[2]], out...), text[at[3]:]...), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the README shows\n%s\nand the demo prints\n%s\nmake rewrite brings it up to date", shown, out)
	}
}
