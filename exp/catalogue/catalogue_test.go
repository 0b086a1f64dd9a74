package catalogue

import (
	"slices"
	"strings"
	"testing"
)

// Names stand for one thing each: a system or an experiment.
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
