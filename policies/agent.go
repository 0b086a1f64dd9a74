package policies

import (
	"fmt"
	"maps"
	"slices"

	"heddle"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/policy"
)

// WithoutAgent returns the part of a profile that a ResourceManager can carry out if no node agent runs beside the
// NodeManagers. off lists what is off for want of an agent, one line each, as "ikayak.suspend (control): why". Policies
// say what they need themselves ([policy.Needer]). The slot's neutral policy replaces what is off. Orders, shares and
// books have none: [Build] then refuses the profile.
func (p *Profile) WithoutAgent() (carried *Profile, off []string) {
	w := without{b: trial(p)}
	out := *p
	out.Agentless, out.Agents = true, false
	out.Lanes = slices.Clone(p.Lanes)
	for i := range out.Lanes {
		out.Lanes[i].Order = w.kept("lanes", out.Lanes[i].Order, tried(w.b, "order", Table.Order))
	}
	out.Share = slices.Clone(p.Share)
	for i := range out.Share {
		out.Share[i] = w.kept("share", out.Share[i], tried(w.b, "share", Table.Share))
	}
	out.Book = w.kept("book", p.Book, tried(w.b, "book", Table.Book))
	out.Size = w.perKind("size", p.Size, tried(w.b, "size", Table.Size))
	out.Gate = w.perKind("gate", p.Gate, tried(w.b, "gate", Table.Gate))
	out.Trim = w.perKind("trim", p.Trim, tried(w.b, "trim", Table.Trim))
	out.Place = w.perKind("place", p.Place, tried(w.b, "place", Table.Place))
	out.Control, _ = w.list("control", p.Control, tried(w.b, "control", Table.Control))
	remaining, release := tried(w.b, "estimate", Table.Remain), tried(w.b, "estimate", Table.Release)
	out.Estimate = w.perKind("estimate", p.Estimate, func(ref any) any {
		if made := remaining(ref); made != nil {
			return made
		}
		return release(ref)
	})
	return &out, w.off
}

// trial makes the policies of a profile over one queue, only to ask them what they need. What cannot be made is left
// for [Build] to refuse.
func trial(p *Profile) *builder {
	with := *p
	with.Agentless = false
	b := &builder{p: &with, shared: map[string]any{}, env: Env{
		Capacity: &capacity.Config{Queues: []capacity.QueueConfig{{Path: "root", Parent: -1}, {Path: "root.default", Capacity: 1, MaxCapacity: 1}}},
		Fair:     &fair.Config{Queues: []fair.QueueConfig{{Path: "root", Parent: -1}, {Path: "root.default"}}, UpdateInterval: heddle.Second},
	}}
	_ = b.estimates() // Build reports what is wrong with them
	return b
}

// tried returns a function that makes a slot's policy from a reference, or returns nil if it cannot.
func tried[H any](b *builder, slot string, table map[string]policy.Maker[H]) func(ref any) any {
	return func(ref any) any {
		made, err := make1(b, slot, table, ref)
		if err != nil {
			return nil
		}
		return made
	}
}

// without collects what is off.
type without struct {
	b   *builder
	off []string
}

// perKind goes through a slot that is filled by kind or by quantity. If the first of several places is off, any node
// will do unless the other places refuse it.
func (w *without) perKind(slot string, refs map[string]any, try func(ref any) any) map[string]any {
	if refs == nil {
		return nil
	}
	out := maps.Clone(refs)
	for _, key := range sorted(refs) {
		several, ok := refs[key].([]any)
		if !ok {
			several = []any{refs[key]}
		}
		left, first := w.list(slot+"."+key, several, try)
		switch {
		case len(left) == 0:
			delete(out, key)
		case slot == "place" && !first:
			out[key] = append([]any{"any"}, left...)
		case ok:
			out[key] = left
		default:
			out[key] = left[0]
		}
	}
	return out
}

// list returns the references of a slot that can be carried out, without the options that cannot. first reports whether
// the first reference is among them.
func (w *without) list(where string, refs []any, try func(ref any) any) (left []any, first bool) {
	for i, ref := range refs {
		rest, why := w.options(where, ref, try)
		if why != "" {
			w.off = append(w.off, fmt.Sprintf("%s (%s): %s", nameOf(ref), where, why))
			continue
		}
		left, first = append(left, rest), first || i == 0
	}
	return left, first
}

// kept returns a reference of a slot that has no neutral policy, without the options that cannot be carried out.
func (w *without) kept(where string, ref any, try func(ref any) any) any {
	ref, _ = w.options(where, ref, try)
	return ref
}

// options returns a reference without the options that need an agent. why is the reason that the remaining policy still
// needs one, or "" if it does not.
func (w *without) options(where string, ref any, try func(ref any) any) (left any, why string) {
	for {
		n, ok := try(ref).(policy.Needer)
		if !ok {
			return ref, ""
		}
		needs := n.Needs()
		why := needs.WithoutAgent()
		name, options, _ := reference(ref)
		given, _ := options.(map[string]any)
		if _, said := given[needs.Option]; why == "" || !said {
			return ref, why
		}
		w.off = append(w.off, fmt.Sprintf("%s: %s (%s): %s", name, needs.Option, where, why))
		given = maps.Clone(given)
		delete(given, needs.Option)
		ref = map[string]any{name: given}
	}
}
