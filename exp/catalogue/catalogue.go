// Package catalogue is the list of all experiments: it puts the papers' systems, and Heddle, into one table.
//
// It knows which systems there are but not what is in them. Another paper is one more folder and one more line of
// [Systems].
package catalogue

import (
	"fmt"
	"strings"

	"heddle/exp"
	"heddle/exp/adaptcont"
	"heddle/exp/coupling"
	"heddle/exp/dress"
	"heddle/exp/heddle"
	"heddle/exp/ikayak"
	"heddle/exp/mrorchestrator"
	"heddle/internal/near"
)

// Systems lists the systems that have experiments, in the order of pages and tables.
var Systems = []exp.System{
	dress.System,
	coupling.System,
	ikayak.System,
	adaptcont.System,
	mrorchestrator.System,
	heddle.System,
}

// Names returns the names of the systems.
func Names() []string {
	names := make([]string, len(Systems))
	for i := range Systems {
		names[i] = Systems[i].Name
	}
	return names
}

// All returns every experiment, by system and in its paper's order.
func All() []*exp.Experiment {
	var out []*exp.Experiment
	for i := range Systems {
		list := Systems[i].Experiments()
		for k := range list {
			out = append(out, &list[k])
		}
	}
	return out
}

// Find returns the experiments for a name: that of an experiment, that of a system, or all.
func Find(name string) ([]*exp.Experiment, error) {
	all := All()
	if name == "all" {
		return all, nil
	}
	var out []*exp.Experiment
	for _, e := range all {
		if e.Name == name || e.System == name {
			out = append(out, e)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	names := append([]string{"all"}, Names()...)
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
	return nil, fmt.Errorf("no experiment %q; want all, a system (%s), or a name that exp list shows", name, strings.Join(Names(), ", "))
}
