package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"heddle": main, hangs: hang, writes: writeForEver})
}

// The scripts test the command line as users see it: what is printed where, and the exit code. "exit N COMMAND" expects
// exactly that code, "shape FILE" prints the keys and types of a JSON file.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata", UpdateScripts: *rewrite,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("NO_COLOR", "")
			e.Setenv("HEDDLE_CHECK", "")
			e.Setenv("HADOOP_CONF_DIR", "")
			e.Setenv("HADOOP_USER_NAME", "ada")
			e.Setenv("TZ", "UTC")
			e.Setenv("RM", startFake(t, true, e.Defer))
			e.Setenv("STOCK", startFake(t, false, e.Defer))
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exit": exit, "shape": shape},
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
	})
}

// exit runs heddle and expects an exit code.
func exit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exit CODE ARGUMENT…")
	}
	code := 0
	if err := ts.Exec("heddle", args[1:]...); err != nil {
		var status interface{ ExitCode() int }
		if !errors.As(err, &status) {
			ts.Fatalf("%v", err)
		}
		code = status.ExitCode()
	}
	if got := fmt.Sprint(code); got != args[0] {
		ts.Fatalf("heddle exited with %s, want %s", got, args[0])
	}
}

// shape prints one line for every key of a JSON file: its path and the type of its value; [] marks the keys of a list's
// first element.
func shape(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: shape FILE")
	}
	d := json.NewDecoder(bytes.NewBufferString(ts.ReadFile(args[0])))
	ts.Check(shapeOf(ts.Stdout(), d, ""))
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("more than one object")
	}
}

func shapeOf(w io.Writer, d *json.Decoder, path string) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	kind := "null"
	switch t := t.(type) {
	case json.Delim:
		return shapeIn(w, d, path, t)
	case string:
		kind = "text"
	case float64:
		kind = "number"
	case bool:
		kind = "boolean"
	}
	_, err = fmt.Fprintln(w, path, kind)
	return err
}

func shapeIn(w io.Writer, d *json.Decoder, path string, open json.Delim) error {
	if open == '[' && !d.More() {
		fmt.Fprintln(w, path+"[]", "empty")
	}
	for first := true; d.More(); first = false {
		at, out := path+"[]", w
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			at = path + "." + key.(string)
		} else if !first {
			out = io.Discard
		}
		if err := shapeOf(out, d, at); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func TestNothingLeftOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if err := os.WriteFile(path, []byte("before"), 0o640); err != nil {
		t.Fatal(err)
	}
	out, err := openTarget("--jobs", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err = out.write(func(w io.Writer) error { fmt.Fprint(w, "half"); return io.ErrUnexpectedEOF }); err == nil {
		t.Error("a failed write is no error")
	}
	if got, _ := os.ReadFile(path); string(got) != "before" {
		t.Errorf("a failed write left %q", got)
	}
	if out, err = openTarget("--jobs", path, nil); err != nil {
		t.Fatal(err)
	}
	if err := out.write(func(w io.Writer) error { _, err := fmt.Fprint(w, "after"); return err }); err != nil {
		t.Fatal(err)
	}
	out.drop()
	if got, _ := os.ReadFile(path); string(got) != "after" {
		t.Errorf("wrote %q", got)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v", info.Mode())
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("%d files are left, want 1", len(left))
	}
}
