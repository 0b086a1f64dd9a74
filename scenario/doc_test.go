package scenario_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"heddle/scenario"
)

var rewrite = flag.Bool("rewrite", false, "write the page of the schema anew")

const docHead = `# Scenario files

A scenario is a YAML file with a cluster, its work, the faults, and the physical effects that count.
` + "`heddle sim run FILE.yaml`" + ` runs it; ` + "[`scenarios/`](../scenarios)" + ` has examples. [` + "`scenario/schema.json`" + `](../scenario/schema.json) describes
the files for editors. This page is generated from that schema: edit the schema, and ` + "`make rewrite`" + ` updates the page.

` + "```yaml" + `
name: morning
cluster:
  racks: 2
  nodes: [{count: 20, memory: 16GiB, vcores: 8}]
queues:
  - {name: prod, capacity: 70, maximum-capacity: 90}
  - {name: default, capacity: 30}
workload:
  jobs:
    - {id: report, program: wordcount, queue: prod, input: 24GiB, reduces: 12}
    - {id: query, program: grep, count: 20, input: 512MiB, arrival: {poisson: 20s}}
faults:
  - {kind: node_loss, at: 5m, node: n7, for: 10m}
` + "```" + `

An unknown key, program or queue is an error with file, line and column that lists the names there are.

## Values

| type | is |
|---|---|
`

// documented turns the schema into the page.
func documented(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s yaml.MapSlice // JSON is YAML, and this keeps the order of keys
	if err := yaml.UnmarshalWithOptions(data, &s, yaml.UseOrderedMap()); err != nil {
		t.Fatal(err)
	}
	b := &strings.Builder{}
	b.WriteString(docHead)
	defs := member(s, "$defs").(yaml.MapSlice)
	for _, d := range defs {
		if def := d.Value.(yaml.MapSlice); member(def, "properties") == nil {
			fmt.Fprintf(b, "| %s | %s |\n", d.Key, member(def, "description"))
		}
	}
	b.WriteString("\n## The file\n")
	table(t, b, s, defs)
	for _, d := range defs {
		def := d.Value.(yaml.MapSlice)
		if member(def, "properties") == nil {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n%s\n", d.Key, member(def, "description"))
		table(t, b, def, defs)
	}
	return b.String()
}

func member(of yaml.MapSlice, key string) any {
	for _, m := range of {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// table writes the keys of a mapping.
func table(t *testing.T, b *strings.Builder, def, defs yaml.MapSlice) {
	t.Helper()
	var required []any
	if r := member(def, "required"); r != nil {
		required = r.([]any)
	}
	b.WriteString("\n| key | type | unit | default | meaning |\n|---|---|---|---|---|\n")
	for _, p := range member(def, "properties").(yaml.MapSlice) {
		rule := p.Value.(yaml.MapSlice)
		about, std := member(rule, "description"), member(rule, "default")
		if about == nil {
			t.Errorf("schema.json does not say what %s means", p.Key)
		}
		what := ""
		switch {
		case std == true:
			what = "on"
		case std == false:
			what = "off"
		case std != nil:
			what = fmt.Sprint(std)
		case slices.Contains(required, p.Key):
			what = "required"
		}
		kind, unit := typed(rule, defs)
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", p.Key, kind, unit, what, about)
	}
}

// typed returns which values are allowed, and the unit of a number without one.
func typed(rule, defs yaml.MapSlice) (kind, unit string) {
	if u := member(rule, "unit"); u != nil {
		unit = u.(string)
	}
	if ref, ok := member(rule, "$ref").(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		if member(member(defs, name).(yaml.MapSlice), "properties") != nil {
			return "[" + name + "](#" + name + ")", unit
		}
		return name, map[string]string{"size": "bytes", "memory": "MiB", "span": "seconds", "rate": "MB/s", "amount": "ratio of the input"}[name]
	}
	if either, ok := member(rule, "oneOf").([]any); ok {
		var parts []string
		for _, e := range either {
			k, _ := typed(e.(yaml.MapSlice), defs)
			parts = append(parts, k)
		}
		return strings.Join(parts, " or "), unit
	}
	if c, ok := member(rule, "const").(string); ok {
		return "`" + c + "`", unit
	}
	if values, ok := member(rule, "enum").([]any); ok {
		var parts []string
		for _, v := range values {
			parts = append(parts, fmt.Sprintf("`%v`", v))
		}
		return strings.Join(parts, ", "), unit
	}
	switch of := member(rule, "type").(type) {
	case []any:
		switch {
		case slices.Contains(of, any("object")):
			return "name or mapping", unit
		case unit != "":
			return "text or number", unit
		}
		return "text", unit
	case string:
		switch of {
		case "array":
			k, u := typed(member(rule, "items").(yaml.MapSlice), defs)
			return "list of " + k, u
		case "integer":
			return "whole number", unit
		case "boolean":
			return "true or false", unit
		default:
			return of, unit
		}
	}
	return "", unit
}

// The page says what the schema says.
func TestDocumented(t *testing.T) {
	const page = "../docs/scenario-schema.md"
	want := documented(t)
	if *rewrite {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("%s is not what the schema says; make rewrite brings it up to date (-schema +page):\n%s", page, diff)
	}
	// The example on the page is a scenario.
	_, example, _ := strings.Cut(want, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if _, err := scenario.Parse("example.yaml", []byte(example)); err != nil {
		t.Errorf("the example is none: %v", err)
	}
}
