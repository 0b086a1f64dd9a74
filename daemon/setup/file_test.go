package setup

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/plain"
)

// FuzzFile looks for a heddle.yaml that breaks the reader. An error must name a place; accepted values must be valid.
func FuzzFile(f *testing.F) {
	for _, s := range []string{
		"", "# nothing", "profile: heddle\nset: [place.map=delay]", "beats: {fast: 10ms, normal: 1s, load: 3}", "a: &a [*a]",
		"listen: {host: '::1', web: 8088}", "insecure_open: I understand", "log:\n  level: WARN\n", "data: |\n  a\n---\n", "? a\n: b", "set: [{a: b}]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		got, err := parseFile("heddle.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "heddle.yaml:") {
				t.Errorf("%q does not say where", err)
			}
			return
		}
		for _, d := range []time.Duration{got.Beats.fast, got.Beats.normal, got.Beats.idle} {
			if d != 0 && d < minBeat {
				t.Errorf("%q: a beat of %v", data, d)
			}
		}
		if got.InsecureOpen != "" && got.InsecureOpen != understood {
			t.Errorf("%q opens with %q", data, got.InsecureOpen)
		}
	})
}

// The keys of schema.json are those of the structs that heddle.yaml is decoded into.
func TestSchemaAgrees(t *testing.T) {
	data, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		AdditionalProperties *bool                      `json:"additionalProperties"`
		Properties           map[string]json.RawMessage `json:"properties"`
	}
	var check func(name string, data []byte, kind reflect.Type)
	check = func(name string, data []byte, kind reflect.Type) {
		var o object
		if err := json.Unmarshal(data, &o); err != nil {
			t.Fatal(err)
		}
		if o.AdditionalProperties == nil || *o.AdditionalProperties {
			t.Errorf("%s: further keys are allowed", name)
		}
		var have []string
		for key := range o.Properties {
			have = append(have, key)
		}
		want := plain.Keys(kind)
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) {
			t.Errorf("%s: the schema has %v, the struct %v", name, have, want)
		}
		for f := range kind.Fields() {
			if f.Type.Kind() == reflect.Struct && tag(f) != "" {
				check(name+"."+tag(f), o.Properties[tag(f)], f.Type)
			}
		}
	}
	check("heddle.yaml", data, reflect.TypeFor[file]())
	if !bytes.Contains(data, []byte(understood)) {
		t.Error("the schema does not know what insecure_open says")
	}
}

// The example in the documentation is valid.
func TestDocumentedExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/daemon.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```yaml\n# heddle.yaml")
	example, _, end := strings.Cut(rest, "```")
	if !ok || !end {
		t.Fatal("docs/daemon.md has no example")
	}
	got, err := parseFile("heddle.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(*got)
	for i := range v.NumField() {
		if f := v.Type().Field(i); tag(f) != "" && v.Field(i).IsZero() {
			t.Errorf("the example lacks %s", tag(f))
		}
	}
}
