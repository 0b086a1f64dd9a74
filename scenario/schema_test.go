package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"heddle/internal/plain"
)

type schema map[string]any

func readSchema(t testing.TB) schema {
	t.Helper()
	data, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s schema) def(name string) map[string]any {
	d, _ := s["$defs"].(map[string]any)[name].(map[string]any)
	return d
}

// The keys of schema.json are those of the structs that files are decoded into.
func TestSchemaAgrees(t *testing.T) {
	s := readSchema(t)
	used := map[string]bool{"size": true, "memory": true, "span": true, "rate": true, "amount": true}
	for name, kind := range map[string]any{
		"": rawScenario{}, "cluster": rawCluster{}, "nodes": rawNodes{}, "queue": rawQueue{}, "workload": rawWorkload{}, "job": rawJob{}, "arrival": rawArrival{},
		"container": rawSize{}, "data": rawData{}, "spark": rawSpark{}, "dynamic": rawDynamic{}, "stage": rawStage{}, "fault": rawFault{}, "effects": rawEffects{},
	} {
		def := map[string]any(s)
		if name != "" {
			def = s.def(name)
			used[name] = true
		}
		if def["additionalProperties"] != false {
			t.Errorf("%s: further keys are allowed", name)
		}
		properties, _ := def["properties"].(map[string]any)
		have := plain.Keys(reflect.TypeOf(kind))
		for _, k := range have {
			if _, ok := properties[k]; !ok {
				t.Errorf("%s: the schema lacks %s", name, k)
			}
		}
		for k := range properties {
			if !slices.Contains(have, k) {
				t.Errorf("%s: the schema has %s, files have not", name, k)
			}
		}
	}
	for name := range s["$defs"].(map[string]any) {
		if !used[name] {
			t.Errorf("%s is defined and nothing of files", name)
		}
	}
	kinds := s.def("fault")["properties"].(map[string]any)["kind"].(map[string]any)["enum"]
	if fmt.Sprint(kinds) != fmt.Sprint(faultKinds) {
		t.Errorf("kinds of faults %v, want %v", kinds, faultKinds)
	}
}

// valid checks a value against the parts of JSON Schema that schema.json uses.
func (s schema) valid(rule map[string]any, v any, path string) error {
	if ref, ok := rule["$ref"].(string); ok {
		return s.valid(s.def(strings.TrimPrefix(ref, "#/$defs/")), v, path)
	}
	if c, ok := rule["const"]; ok && c != v {
		return fmt.Errorf("%s: %v is not %v", path, v, c)
	}
	if enum, ok := rule["enum"].([]any); ok && !slices.Contains(enum, v) {
		return fmt.Errorf("%s: %v is none of %v", path, v, enum)
	}
	if either, ok := rule["oneOf"].([]any); ok {
		fits := 0
		for _, r := range either {
			if s.valid(r.(map[string]any), v, path) == nil {
				fits++
			}
		}
		if fits != 1 {
			return fmt.Errorf("%s: fits %d of oneOf", path, fits)
		}
	}
	if err := validType(rule["type"], v, path); err != nil {
		return err
	}
	if n, ok := v.(float64); ok {
		if least, ok := rule["minimum"].(float64); ok && n < least {
			return fmt.Errorf("%s: %g is below %g", path, n, least)
		}
		if most, ok := rule["maximum"].(float64); ok && n > most {
			return fmt.Errorf("%s: %g is above %g", path, n, most)
		}
	}
	if list, ok := v.([]any); ok {
		items, _ := rule["items"].(map[string]any)
		for i, x := range list {
			if err := s.valid(items, x, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	object, ok := v.(map[string]any)
	properties, has := rule["properties"].(map[string]any)
	if !ok || !has {
		return nil
	}
	for k, x := range object {
		r, ok := properties[k].(map[string]any)
		if !ok {
			return fmt.Errorf("%s: no property %s", path, k)
		}
		if err := s.valid(r, x, path+"."+k); err != nil {
			return err
		}
	}
	required, _ := rule["required"].([]any)
	for _, k := range required {
		if _, ok := object[k.(string)]; !ok {
			return fmt.Errorf("%s: lacks %s", path, k)
		}
	}
	return nil
}

func validType(want, v any, path string) error {
	if want == nil {
		return nil
	}
	types, ok := want.([]any)
	if !ok {
		types = []any{want}
	}
	have := map[reflect.Kind][]any{reflect.String: {"string"}, reflect.Bool: {"boolean"}, reflect.Float64: {"number"}, reflect.Slice: {"array"}, reflect.Map: {"object"}}[reflect.ValueOf(v).Kind()]
	if n, ok := v.(float64); ok && n == float64(int64(n)) {
		have = append(have, "integer")
	}
	if v == nil {
		have = []any{"null"}
	}
	for _, h := range have {
		if slices.Contains(types, h) {
			return nil
		}
	}
	return fmt.Errorf("%s: %v is no %v", path, v, want)
}

func (s schema) check(t testing.TB, text []byte) error {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(asJSON, &v); err != nil {
		t.Fatal(err)
	}
	return s.valid(s, v, "")
}

// The scenarios that come with Heddle are valid, say what they show, and can be built.
func TestShippedScenarios(t *testing.T) {
	s := readSchema(t)
	paths, err := filepath.Glob("../scenarios/*.yaml")
	if err != nil || len(paths) < 3 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.check(t, text); err != nil {
			t.Errorf("%s: schema.json: %v", path, err)
		}
		sc, err := Read(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if sc.Name+".yaml" != filepath.Base(path) || sc.About == "" {
			t.Errorf("%s: name %q, about %q", path, sc.Name, sc.About)
		}
		if w := build(t, sc, 1); len(w.Jobs) == 0 {
			t.Errorf("%s: no jobs", path)
		} else if ok, job, _ := w.Given(); sc.World == "given" && !ok {
			t.Errorf("%s: job %s states no duration", path, job)
		}
	}
}

// What the schema refuses is also refused by Read.
func TestSchemaRefuses(t *testing.T) {
	s := readSchema(t)
	for _, text := range []string{
		"cluster: {nodes: [{memory: 8GiB, vcores: 1}]}\n",
		nodes4 + "workload: {jobs: [{maps: -1}]}\n",
		nodes4 + "workload: {jobs: [{maps: 1, mapps: 2}]}\n",
		nodes4 + "workload: {jobs: [{maps: 1, framework: tez}]}\n",
		nodes4 + "workload: {jobs: [{maps: 1, arrival: never}]}\n",
		nodes4 + "workload: {jobs: [{maps: 1, slow_start: 2}]}\n",
		nodes4 + "workload: {jobs: [{maps: 1, output_replicas: 0}]}\n",
		nodes4 + "workload: {jobs: [{maps: 1, map: {memory: 5}}]}\n",
		nodes4 + "workload: {jobs: [{maps: 1}]}\nfaults: [{at: 3}]\n",
		nodes4 + "workload: {jobs: [{maps: 1}]}\nfaults: [{kind: slow_node, at: 3, speed: 2}]\n",
		nodes4 + "workload: {jobs: [{maps: 1}]}\neffects: {skew: 3}\n",
		nodes4 + "workload: {jobs: [{maps: 1}]}\nparams: {}\n",
	} {
		if err := s.check(t, []byte(text)); err == nil {
			t.Errorf("schema.json takes\n%s", text)
		}
		if _, err := parseText(t, text); err == nil {
			t.Errorf("Read takes\n%s", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	paths, _ := filepath.Glob("../scenarios/*.yaml")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(nodes4 + "workload: {jobs: [{maps: 1}]}\nfaults: [{kind: node_loss, every: 5, until: 9}]\nprofile: {a: [1, {b: c}]}\n"))
	dir := f.TempDir()
	path := filepath.Join(dir, "s.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Read(path)
		if err != nil {
			if !strings.Contains(err.Error(), "s.yaml:") {
				t.Errorf("%v does not say where", err)
			}
			return
		}
		tasks := 0
		for i := range s.jobs {
			tasks += s.jobs[i].jobs() * (len(s.jobs[i].splits()) + s.jobs[i].Reduces.value + s.jobs[i].sparkTasks())
		}
		if tasks > 20_000 || len(s.nodes) > 1000 {
			return
		}
		w, err := s.Build(1)
		if err != nil {
			t.Error(err)
			return
		}
		for i := range w.Jobs {
			if w.Jobs[i].Submit < 0 || i > 0 && w.Jobs[i].Submit < w.Jobs[i-1].Submit {
				t.Errorf("job %d comes at %d", i, w.Jobs[i].Submit)
			}
		}
		for _, fault := range faults(t, s, 1, w, len(s.nodes)) {
			if fault.At < 0 || fault.Node >= len(s.nodes) || fault.Job >= len(w.Jobs) {
				t.Errorf("%+v", fault)
			}
		}
	})
}

// Every key is either required or says what applies without it, except for those that belong together.
func TestDefaultsAreSaid(t *testing.T) {
	s := readSchema(t)
	open := []string{"arrival.at", "arrival.every", "arrival.poisson", "fault.at", "fault.every", "fault.until", "fault.speed", "fault.rate"}
	check := func(name string, def map[string]any) {
		properties, _ := def["properties"].(map[string]any)
		required, _ := def["required"].([]any)
		for k, p := range properties {
			_, has := p.(map[string]any)["default"]
			if !has && !slices.Contains(required, any(k)) && !slices.Contains(open, name+"."+k) {
				t.Errorf("%s.%s: schema.json does not say what holds without it", name, k)
			}
		}
	}
	check("", s)
	for name := range s["$defs"].(map[string]any) {
		check(name, s.def(name))
	}
}
