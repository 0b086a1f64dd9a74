package exp

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/near"
)

// Systems are the systems experiments belong to, in the order of pages and tables.
var Systems = []string{"dress", "coupling", "ikayak", "adaptcont", "mrorchestrator", "heddle"}

// All returns every experiment: by system, in its paper's order.
func All() []*Experiment {
	var out []*Experiment
	for _, list := range [][]Experiment{
		dressExperiments(),
		couplingExperiments(),
		ikayakExperiments(),
		remainingExperiments(),
		adaptcontExperiments(),
		mrorchestratorExperiments(),
		heddleExperiments(),
	} {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}

// Find returns the experiments of a name: of an experiment, of a system, or all.
func Find(name string) ([]*Experiment, error) {
	all := All()
	if name == "all" {
		return all, nil
	}
	var out []*Experiment
	for _, e := range all {
		if e.Name == name || e.System == name {
			out = append(out, e)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	names := append([]string{"all"}, Systems...)
	for _, e := range all {
		if strings.Contains(e.Name, name) {
			out = append(out, e)
		}
		names = append(names, e.Name)
	}
	if len(out) > 0 {
		parts := make([]string, len(out))
		for i, e := range out {
			parts[i] = e.Name
		}
		return nil, fmt.Errorf("no experiment %q; there are %s", name, strings.Join(parts, ", "))
	}
	if meant, ok := near.Name(name, names); ok {
		return nil, fmt.Errorf("no experiment %q; did you mean %s? exp list shows all", name, meant)
	}
	return nil, fmt.Errorf("no experiment %q; want all, a system (%s), or a name that exp list shows", name, strings.Join(Systems, ", "))
}

// Arm returns the arm of a name, of the experiment or of one of its sweeps.
func (e *Experiment) Arm(name string) (*Arm, error) {
	var names []string
	lists := [][]Arm{e.Arms}
	for i := range e.Sweeps {
		lists = append(lists, e.Sweeps[i].Arms)
	}
	for _, arms := range lists {
		for i := range arms {
			if arms[i].Name == name {
				return &arms[i], nil
			}
			if !slices.Contains(names, arms[i].Name) {
				names = append(names, arms[i].Name)
			}
		}
	}
	return nil, fmt.Errorf("experiment %s has no arm %q; %s", e.Name, name, near.Names(name, names))
}
