package catalogue

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"heddle"
	"heddle/conf"
	"heddle/exp"
	"heddle/policies"
	"heddle/policies/capacity"
	"heddle/policies/fair"
)

// Each name stands for one thing: a system or an experiment.
func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{"all": true}
	names := Names()
	for _, e := range All() {
		names = append(names, e.Name)
	}
	for _, n := range names {
		if seen[n] {
			t.Errorf("%s twice", n)
		}
		seen[n] = true
	}
}

func TestFind(t *testing.T) {
	all := All()
	for _, c := range []struct {
		name  string
		first string
		n     int
	}{
		{"all", all[0].Name, len(all)},
		{"coupling-two-greps", "coupling-two-greps", 1},
		{"heddle", "heddle-on-dress-mixed-10", 8},
	} {
		found, err := Find(c.name)
		if err != nil || len(found) != c.n || found[0].Name != c.first {
			t.Errorf("%s: %d found, %v", c.name, len(found), err)
		}
	}
	for name, want := range map[string]string{
		"greps":  `no experiment "greps"; there are coupling-two-greps, coupling-ten-greps`,
		"dres":   "",
		"ikayal": "did you mean ikayak?",
		"zzz":    "want all, a system (" + strings.Join(Names(), ", ") + ")",
	} {
		if found, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d found, %v", name, len(found), err)
		}
	}
	if !slices.Equal(Names(), []string{"dress", "coupling", "ikayak", "adaptcont", "mrorchestrator", "heddle"}) {
		t.Errorf("the order of pages and tables is %v", Names())
	}
}

// A folder with the settings that an arm names reads as the configuration that the arm is simulated with.
func TestSettings(t *testing.T) {
	arms, alike := 0, map[string]bool{}
	check := func(e *exp.Experiment, a *exp.Arm) {
		all, err := a.Settings()
		if err != nil {
			t.Fatal(err)
		}
		var key strings.Builder
		for _, s := range all {
			key.WriteString(s.String() + "\n")
		}
		if a.Hadoop == nil || alike[key.String()] {
			return
		}
		arms, alike[key.String()] = arms+1, true
		got, err := conf.ReadDir(written(t, all))
		if err != nil && strings.Contains(err.Error(), "the smallest container must be more than 0") {
			return // MROrchestrator's containers without processors: no folder can express them
		}
		if err != nil {
			t.Fatalf("%s, %s: %v", e.Name, a.Name, err)
		}
		p, err := policies.Load(a.Profile, a.Set)
		if err != nil {
			t.Fatal(err)
		}
		has := a.Hadoop()
		diff := cmp.Diff(has.Site, got.Site, cmpopts.IgnoreUnexported(conf.Site{}), cmpopts.IgnoreFields(conf.Site{}, "Increment", "Scheduler"))
		switch p.Queues {
		case "capacity":
			has.Capacity.Queues[0].MaxAMShare = got.Capacity.Queues[0].MaxAMShare // it limits nothing except in leaves
			diff += cmp.Diff(has.Capacity, got.Capacity, cmpopts.IgnoreFields(capacity.QueueConfig{}, "Own"), cmpopts.EquateApprox(1e-6, 0))
		case "fair":
			if has.Fair.Increment != got.Fair.Increment {
				diff += "increments differ"
			}
			for i := range got.Fair.Queues[1:] { // there are two resources
				most := &got.Fair.Queues[1+i].Max
				most.Fixed = heddle.Of(most.Fixed[heddle.Memory], most.Fixed[heddle.CPU])
			}
			diff += cmp.Diff(has.Fair.Queues[1:], got.Fair.Queues[1:], cmpopts.IgnoreFields(fair.QueueConfig{}, "Own"))
		}
		if diff != "" {
			t.Errorf("%s, %s: %s", e.Name, a.Name, diff)
		}
	}
	for _, e := range All() {
		for i := range e.Arms {
			check(e, &e.Arms[i])
		}
		for _, sweep := range e.Sweeps {
			for i := range sweep.Arms {
				check(e, &sweep.Arms[i])
			}
		}
	}
	if arms < 5 {
		t.Errorf("%d arms have settings of their own", arms)
	}
}

// written returns a folder with settings.
func written(t *testing.T, all []exp.Setting) string {
	t.Helper()
	dir := t.TempDir()
	text := map[string]string{}
	for _, s := range all {
		queue, element, of := strings.Cut(s.Name, ".")
		switch {
		case s.File != "fair-scheduler.xml":
			text[s.File] += "<property><name>" + s.Name + "</name><value>" + s.Value + "</value></property>"
		case of:
			text[s.File] += "<queue name='" + queue + "'><" + element + ">" + s.Value + "</" + element + "></queue>"
		default:
			text[s.File] += "<" + s.Name + ">" + s.Value + "</" + s.Name + ">"
		}
	}
	for file, lines := range text {
		root := "configuration"
		if file == "fair-scheduler.xml" {
			root = "allocations"
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte("<"+root+">"+lines+"</"+root+">"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
