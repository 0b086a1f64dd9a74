package plain

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

type nested struct {
	Count int      `json:"count" yaml:"count"`
	Share float64  `json:"share" yaml:"share,omitempty"`
	On    bool     `json:"on" yaml:"on"`
	Name  string   `json:"name" yaml:"name"`
	Kinds []string `json:"kinds" yaml:"kinds"`
	Small int8     `json:"small" yaml:"small"`
	Inner *nested  `json:"inner" yaml:"inner"`
	Own   string   `json:"-" yaml:"-"`
}

func TestLine(t *testing.T) {
	const evil = "größe\ta\r\n\x1b[2Jb\u009bc\x07\x7f\xff"
	if got, want := Line(evil), "größe a  \\x1b[2Jb\\u009bc\\a\\x7f\ufffd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Line("a\u202eb\u2066c تقرير"), `a\u202eb\u2066c تقرير`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Lines(evil), "größe\ta \n\\x1b[2Jb\\u009bc\\a\\x7f\ufffd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestYAML(t *testing.T) {
	for text, want := range map[string]string{
		"count: many":        "1:8 count: got text; wanted a whole number",
		"share: [1]":         "1:8 share: got a list; wanted a number",
		"on: perhaps":        "1:5 on: got text; wanted true or false",
		"name: {a: b}":       "1:7 name: got a mapping; wanted text",
		"kinds: map":         "1:8 kinds: got text; wanted a list",
		"inner: 5":           "1:8 inner: got a number; wanted a mapping",
		"inner:\n  count: x": "2:10 count: got text; wanted a whole number",
		"small: 300":         "1:8 small: 300 is out of range",
		"number: 5":          `1:1 : unknown key "number"`,
		"count: 1\ncount: 2": `2:1 : mapping key "count" already defined at [1:1]`,
		"- a":                "1:1 : got a list; wanted a mapping",
		"kinds: [a":          "1:8 : sequence end token ']' not found",
	} {
		err := yaml.UnmarshalWithOptions([]byte(text), &nested{}, yaml.Strict())
		if err == nil {
			t.Errorf("%q is read", text)
			continue
		}
		at, key, said := YAML(err)
		if at == nil || at.Position == nil {
			t.Errorf("%q: no place", text)
			continue
		}
		if got := jsonText(at.Position.Line) + ":" + jsonText(at.Position.Column) + " " + key + ": " + said; got != want {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

// A document may begin with a byte-order mark, which is not part of it. Input that would cost more than a message is
// refused.
func TestDocument(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeffcount: many":                            "1:8 got text; wanted a whole number",
		"\ufeff# none\ncount: 1":                       "",
		"\ufeff":                                       "",
		"count: 1\n---\ncount: 2":                      "3:1 a second document: there must be only one",
		"kinds: &a [x]":                                "1:8 anchors and aliases are not supported: write the value out",
		strings.Repeat("[", 100):                       "1:65 is nested more than 64 deep",
		"\n" + strings.Repeat("- ", 65):                "2:129 is nested more than 64 deep",
		"a:\n" + strings.Repeat("  b: 1\n\n", 300_000): "20002:3 exceeds the 10000 keys that a mapping may have",
	} {
		doc, err := Document([]byte(text))
		if err == nil && doc != nil {
			err = yaml.NodeToValue(doc, &nested{}, yaml.Strict())
		}
		if err == nil {
			if want != "" {
				t.Errorf("%q is read", text)
			}
			continue
		}
		at, _, said := YAML(err)
		if got := jsonText(at.Position.Line) + ":" + jsonText(at.Position.Column) + " " + said; got != want {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Mappings are told apart, and text in brackets or in a comment is not counted as their keys.
func TestManyMappings(t *testing.T) {
	text := "jobs:\n" + strings.Repeat("- id: 1\n  # of: it\n  input:\n    bytes: 1\n", maxKeys) + "nodes: [\n" + strings.Repeat("{count: 1},\n", maxKeys) + "]\n"
	if err := checkKeys([]byte(text)); err != nil {
		t.Error(err)
	}
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"count": "x"}`:           "count: got text; wanted a whole number",
		`{"count": 1.5}`:           "count: got 1.5; wanted a whole number",
		`{"inner": {"share": []}}`: "inner.share: got a list; wanted a number",
		`{"small": 300}`:           "small: 300 is out of range",
		`{"on": 1}`:                "on: got a number; wanted true or false",
		`{"name": {}}`:             "name: got an object; wanted text",
		`{"kinds": true}`:          "kinds: got true or false; wanted a list",
		`{"inner": "x"}`:           "inner: got text; wanted an object",
		`[]`:                       "got a list; wanted an object",
		`{"count"`:                 "is not JSON: unexpected end of JSON input",
	} {
		err := json.Unmarshal([]byte(text), &nested{})
		if err == nil {
			t.Errorf("%s is read", text)
		} else if got := JSONText(err); got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	if got := strings.Join(Keys(reflect.TypeFor[nested]()), " "); got != "count share on name kinds small inner" {
		t.Error(got)
	}
}
