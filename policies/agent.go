package policies

import (
	"fmt"
	"maps"
	"slices"
)

// agentOnly is, by slot, what a ResourceManager with stock NodeManagers and masters cannot carry out or be told:
// a NodeManager kills a container above the size it was launched with, and changes nothing of one that runs.
var agentOnly = map[string]map[string]string{
	"size": {
		"adaptcont.dynamic": "a master in less than it asked for is killed, and its heap does not grow with its container",
		"adaptcont.pool":    "a master in less than it asked for is killed, and its heap does not grow with its container",
	},
	"trim": {
		"ikayak.fixed":  "running a task in less than was asked for needs a node agent",
		"ikayak.shrink": "running a task in less than was asked for needs a node agent",
	},
	"place": {
		"coupling.wait": "only a node agent tells where map output lies",
		"uncrowded":     "only a node agent tells how much a task computes",
	},
	"control": {
		"ikayak.suspend":            "freezing a container needs a node agent",
		"mrorchestrator.regression": "changing what a running task may use needs a node agent",
		"mrorchestrator.uniform":    "changing what a running task may use needs a node agent",
	},
	"estimate": {
		"ikayak.fuzzy": "only a node agent tells how far a task is",
		"progress":     "only a node agent tells how far a task is",
	},
}

// agentOptions are options, by mechanism, that are of use with a node agent alone.
var agentOptions = map[string]map[string]string{
	"coupling.mismatch": {"delta_by_output": "only a node agent tells how much map output there is"},
}

// WithoutAgent returns what of a profile a ResourceManager can carry out where no node agent stands beside the
// NodeManagers, and what is off for want of one: a line each, as "ikayak.suspend (control): why". What is off is
// replaced by the slot's neutral policy. Under the profile that is left no container is granted in less than was
// asked for, and no running one is changed.
func (p *Profile) WithoutAgent() (carried *Profile, off []string) {
	var w without
	out := *p
	out.Agentless = true
	out.Lanes = slices.Clone(p.Lanes)
	for i := range out.Lanes {
		out.Lanes[i].Order = w.options("lanes", out.Lanes[i].Order)
	}
	out.Size = w.perKind("size", p.Size)
	out.Gate = w.perKind("gate", p.Gate)
	out.Trim = w.perKind("trim", p.Trim)
	out.Place = w.perKind("place", p.Place)
	out.Control = w.list("control", "control", p.Control)
	out.Estimate = w.perKind("estimate", p.Estimate)
	return &out, w.off
}

// without gathers what is off.
type without struct{ off []string }

// perKind goes through a slot that is filled by kind, or by quantity. Where the first of several places is off
// any node will do, as far as the others say nothing.
func (w *without) perKind(slot string, refs map[string]any) map[string]any {
	if refs == nil {
		return nil
	}
	out := maps.Clone(refs)
	for _, key := range sorted(refs) {
		where := slot + "." + key
		several, ok := refs[key].([]any)
		if !ok {
			several = []any{refs[key]}
		}
		left := w.list(slot, where, several)
		switch {
		case len(left) == 0:
			delete(out, key)
		case slot == "place" && why(slot, several[0]) != "":
			out[key] = append([]any{"any"}, left...)
		case ok:
			out[key] = left
		default:
			out[key] = left[0]
		}
	}
	return out
}

// list returns the references of a slot that can be carried out, without the options that cannot.
func (w *without) list(slot, where string, refs []any) []any {
	var left []any
	for _, ref := range refs {
		if why := why(slot, ref); why != "" {
			w.off = append(w.off, fmt.Sprintf("%s (%s): %s", nameOf(ref), where, why))
			continue
		}
		left = append(left, w.options(where, ref))
	}
	return left
}

// why is why a reference of a slot needs an agent, "" where it does not. What is no reference, or of another
// slot, is left for [Build] to refuse.
func why(slot string, ref any) string {
	name, _, err := reference(ref)
	if err != nil {
		return ""
	}
	return agentOnly[slot][name]
}

// options returns a reference without the options that need an agent.
func (w *without) options(where string, ref any) any {
	name, options, err := reference(ref)
	given, ok := options.(map[string]any)
	if err != nil || !ok || agentOptions[name] == nil {
		return ref
	}
	given = maps.Clone(given)
	for _, option := range sorted(agentOptions[name]) {
		if on, said := given[option]; said {
			delete(given, option)
			if on != false {
				w.off = append(w.off, fmt.Sprintf("%s: %s (%s): %s", name, option, where, agentOptions[name][option]))
			}
		}
	}
	return map[string]any{name: given}
}
