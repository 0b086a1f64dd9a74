package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"heddle"
	"heddle/rm"
	"heddle/yarn/rest"
)

// What -o json prints about applications, explanations, nodes and queues is what Heddle serves, member for member.
func TestPrintsWhatIsServed(t *testing.T) {
	url := startFake(t, true, t.Cleanup)
	const id = "application_1795246246143_0007"
	for path, args := range map[string][]string{
		"/apps":                            {"app", "list", "--all"},
		"/apps/" + id:                      {"app", "status", id},
		"/apps/" + id + "/why":             {"why", id},
		"/queues":                          {"queue", "list"},
		"/nodes":                           {"node", "list"},
		"/nodes/127.0.0.2:8041":            {"node", "status", "127.0.0.2:8041"},
		"/nodes/127.0.0.2:8041/containers": {"node", "containers", "127.0.0.2:8041"},
	} {
		resp, err := http.Get(url + rest.HeddleBase + path)
		if err != nil {
			t.Fatal(err)
		}
		served, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		var out bytes.Buffer
		root := newRoot(&app{out: &out, err: io.Discard, log: slog.New(slog.DiscardHandler)})
		root.SetArgs(append(args, "--rm", url, "-o", "json"))
		if err := root.Execute(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		var got, want bytes.Buffer
		if err := json.Compact(&got, out.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&want, served); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%v prints\n%s\nand %s serves\n%s", args, &got, path, &want)
		}
	}
}

// docs/commands.md lists every member of explanations and nodes, and every capability of nodes.
func TestMembersAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := string(data)
	listed := func(what, from, to string) map[string]bool {
		_, list, ok := strings.Cut(docs, "\n"+from)
		list, _, end := strings.Cut(list, "\n"+to)
		if !ok || !end {
			t.Fatalf("%s are not listed", what)
		}
		names := map[string]bool{}
		for _, name := range strings.FieldsFunc(list, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }) {
			names[name] = true
		}
		return names
	}
	for _, x := range []struct {
		of    reflect.Type
		names map[string]bool
	}{
		{reflect.TypeFor[rm.Explanation](), listed("explanations", "app why ", "node list ")},
		{reflect.TypeFor[rm.NodeRow](), listed("nodes", "node list ", "node status ")},
		{reflect.TypeFor[rm.NodeContainers](), listed("containers", "node containers ", "queue list ")},
	} {
		for _, name := range members(x.of) {
			if !x.names[name] {
				t.Errorf("%s of %v is not listed", name, x.of)
			}
		}
	}
	for _, name := range heddle.AllCaps.Names() {
		if row := "| `" + name + "` | " + rm.CapText(name); !strings.Contains(docs, row) {
			t.Errorf("%q is missing", row)
		}
	}
}

// members returns the names of a type's JSON members, including nested ones. Amounts are described separately.
func members(t reflect.Type) (out []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[rm.Amount]() {
		return nil
	}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			out = append(append(out, name), members(f.Type)...)
		}
	}
	return out
}
