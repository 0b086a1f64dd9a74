package policies

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"

	"heddle"
	"heddle/internal/near"
	"heddle/policies/capacity"
	"heddle/policies/dress"
	"heddle/policies/fair"
	"heddle/policies/ikayak"
	"heddle/policy"
)

// An Env is what a profile is built for.
type Env struct {
	Capacity *capacity.Config // nil if no profile needs it
	Fair     *fair.Config
	Minimum  heddle.Resource // for profiles that use neither
	Maximum  heddle.Resource
	Users    []string // the known ones, by UserID; [Built.User] adds others
	Seed     uint64
}

// A Built is a policy set and the queue tree it was built for.
type Built struct {
	policy.Set
	Paths []string // of queues, by QueueID

	named []named
}

// named is a scheduler that depends on users' names.
type named interface {
	User(id heddle.UserID, name string)
}

// User tells the policies the name of a user that [Env.Users] did not have. It must be called before the user's first
// application.
func (b *Built) User(id heddle.UserID, name string) {
	for _, n := range b.named {
		n.User(id, name)
	}
}

// AtOnce is the value of [Profile.Masters] for masters that ask for all reduces together with the maps.
const AtOnce = "at-once"

// Build makes the policies that a profile names. The error for an unknown name lists the names there are; the error for
// a name in a slot it does not fit lists the slots it fits.
func Build(p *Profile, env Env) (*Built, error) {
	b := builder{p: p, env: env, shared: map[string]any{}}
	b.out.Name = p.Name
	if p.Masters != "" && p.Masters != "stock" && p.Masters != AtOnce {
		return nil, p.errorOf(&partError{"masters", fmt.Errorf("unknown value %q; %s", p.Masters, near.Names(p.Masters, []string{"stock", AtOnce}))})
	}
	for _, step := range []func() error{b.queues, b.estimates, b.lanes, b.slots} {
		if err := step(); err != nil {
			return nil, p.errorOf(err)
		}
	}
	return &b.out, nil
}

type builder struct {
	p      *Profile
	env    Env
	out    Built
	shared map[string]any
}

// queues builds the queue tree.
func (b *builder) queues() error {
	add := func(path string, parent int) {
		b.out.Paths = append(b.out.Paths, path)
		b.out.Queues = append(b.out.Queues, heddle.QueueID(parent))
	}
	switch b.p.Queues {
	case "capacity":
		c := b.env.Capacity
		if c == nil {
			return errors.New("it needs a capacity scheduler's configuration")
		}
		for i := range c.Queues {
			add(c.Queues[i].Path, c.Queues[i].Parent)
		}
		b.out.Beat, b.out.MemoryOnly = c.Beat(), c.MemoryOnly
		b.out.Minimum, b.out.Maximum, b.out.Step = c.Minimum, c.Maximum, c.Minimum
	case "fair":
		c := b.env.Fair
		if c == nil {
			return errors.New("it needs a fair scheduler's configuration")
		}
		for i := range c.Queues {
			add(c.Queues[i].Path, c.Queues[i].Parent)
		}
		b.out.Beat = c.Beat()
		b.out.Minimum, b.out.Maximum, b.out.Step = c.Minimum, c.Maximum, c.Increment
	case "one", "":
		add("root", -1)
		add("root.default", 0)
		b.out.Minimum, b.out.Maximum, b.out.Step = b.env.Minimum, b.env.Maximum, b.env.Minimum
	default:
		return &partError{"queues", fmt.Errorf("no tree %q; %s", b.p.Queues, near.Names(b.p.Queues, []string{"capacity", "fair", "one"}))}
	}
	return nil
}

func (b *builder) lanes() error {
	if len(b.p.Lanes) == 0 {
		return &partError{"lanes", errors.New("there are no lanes, and every kind needs one; profile: NAME takes them from another profile")}
	}
	for i, l := range b.p.Lanes {
		part := fmt.Sprintf("lanes[%d]", i)
		if l.PerNode < 0 || !(l.PerVcore >= 0 && l.PerVcore <= math.MaxInt32) || l.PerNode > 0 && l.PerVcore > 0 {
			return &partError{part, errors.New("wanted per_node or per_vcore, above 0, or neither for no limit")}
		}
		lane := policy.Lane{Slots: policy.Slots{PerNode: l.PerNode, PerVcore: l.PerVcore}}
		for _, k := range l.Kinds {
			kind, err := kindOf(k)
			if err != nil {
				return &partError{part, err}
			}
			lane.Kinds = append(lane.Kinds, kind)
		}
		var err error
		if lane.Order, err = make1(b, "order", Table.Order, l.Order); err != nil {
			return &partError{part, err}
		}
		b.out.Lanes = append(b.out.Lanes, lane)
		b.out.Names.Order = append(b.out.Names.Order, nameOf(l.Order))
	}
	var seen [heddle.NumKinds]int
	for _, l := range b.out.Lanes {
		for _, k := range l.Kinds {
			seen[k]++
		}
	}
	for k, n := range seen {
		if n != 1 {
			return &partError{"lanes", fmt.Errorf("%s is in %d lanes; every kind must be in exactly one", heddle.Kind(k), n)}
		}
	}
	return nil
}

func (b *builder) slots() error {
	for i, ref := range b.p.Share {
		s, err := make1(b, "share", Table.Share, ref)
		if err != nil {
			return &partError{fmt.Sprintf("share[%d]", i), err}
		}
		b.out.Share = append(b.out.Share, s)
		b.out.Names.Share = append(b.out.Names.Share, nameOf(ref))
	}
	for i, ref := range b.p.Control {
		c, err := make1(b, "control", Table.Control, ref)
		if err != nil {
			return &partError{fmt.Sprintf("control[%d]", i), err}
		}
		b.out.Control = append(b.out.Control, c)
		b.out.Names.Control = append(b.out.Names.Control, nameOf(ref))
	}
	if err := b.categories(); err != nil {
		return err
	}
	if b.p.Book != nil && b.p.Book != "none" {
		k, err := make1(b, "book", Table.Book, b.p.Book)
		if err != nil {
			return &partError{"book", err}
		}
		b.out.Book, b.out.Names.Book = k, nameOf(b.p.Book)
	}
	if err := perKind(b, "size", b.p.Size, Table.Size, &b.out.Size); err != nil {
		return err
	}
	if err := perKind(b, "trim", b.p.Trim, Table.Trim, &b.out.Trim); err != nil {
		return err
	}
	if err := b.places(); err != nil {
		return err
	}
	b.trimmed()
	return b.gates()
}

// categories tells orders that use DRESS's categories which share has them.
func (b *builder) categories() error {
	for i, l := range b.out.Lanes {
		if o, ok := l.Order.(*dress.Order); ok {
			if err := o.Of(b.out.Share); err != nil {
				return &partError{fmt.Sprintf("lanes[%d]", i), err}
			}
		}
	}
	return nil
}

// places makes the places of every kind. If a kind has several, the first decides where its containers go; the others
// may refuse a node before the first is asked.
func (b *builder) places() error {
	for _, name := range sorted(b.p.Place) {
		kind, err := kindOf(name)
		if err != nil {
			return &partError{"place." + name, err}
		}
		refs, ok := b.p.Place[name].([]any)
		if !ok {
			refs = []any{b.p.Place[name]}
		}
		for i, ref := range refs {
			p, err := make1(b, "place", Table.Place, ref)
			if err != nil {
				return &partError{"place." + name, err}
			}
			if i == 0 {
				b.out.Place[kind], b.out.Names.Place[kind] = p, nameOf(ref)
				continue
			}
			if _, picks := p.(policy.Pick); picks {
				return &partError{"place." + name, fmt.Errorf("%v chooses the node itself; it can only come first", ref)}
			}
			b.out.Veto[kind] = append(b.out.Veto[kind], p)
			b.out.Names.Veto[kind] = append(b.out.Names.Veto[kind], nameOf(ref))
		}
	}
	return nil
}

// trimmed gives each place that chooses between a smaller container and a farther node the trim of its kind.
func (b *builder) trimmed() {
	for kind, t := range b.out.Trim {
		for _, p := range append([]policy.Place{b.out.Place[kind]}, b.out.Veto[kind]...) {
			if l, ok := p.(*ikayak.Local); ok {
				l.Trimmed(t)
			}
		}
	}
}

func (b *builder) gates() error {
	for _, name := range sorted(b.p.Gate) {
		kind, err := kindOf(name)
		if err != nil {
			return &partError{"gate." + name, err}
		}
		refs, ok := b.p.Gate[name].([]any)
		if !ok {
			refs = []any{b.p.Gate[name]}
		}
		for _, ref := range refs {
			g, err := make1(b, "gate", Table.Gate, ref)
			if err != nil {
				return &partError{"gate." + name, err}
			}
			b.out.Gate[kind] = append(b.out.Gate[kind], g)
			b.out.Names.Gate[kind] = append(b.out.Names.Gate[kind], nameOf(ref))
		}
	}
	b.hold()
	return nil
}

// hold tells the CapacityScheduler which gates hold applications back.
func (b *builder) hold() {
	s, ok := b.shared["capacity"].(*capacity.Scheduler)
	if !ok {
		return
	}
	for _, g := range b.out.Gate[heddle.AM] {
		if h, ok := g.(policy.Holder); ok {
			s.Hold(h)
		}
	}
}

func (b *builder) estimates() error {
	for _, name := range sorted(b.p.Estimate) {
		var err error
		switch name {
		case "release":
			b.out.Release, err = make1(b, "estimate", Table.Release, b.p.Estimate[name])
		case "remaining":
			b.out.Remaining, err = make1(b, "estimate", Table.Remain, b.p.Estimate[name])
		default:
			return &partError{"estimate." + name, fmt.Errorf("no quantity %q; %s", name, near.Names(name, []string{"release", "remaining"}))}
		}
		if err != nil {
			return &partError{"estimate." + name, err}
		}
	}
	return nil
}

func perKind[H any](b *builder, slot string, refs map[string]any, table map[string]policy.Maker[H], into *[heddle.NumKinds]H) error {
	for _, name := range sorted(refs) {
		kind, err := kindOf(name)
		if err != nil {
			return &partError{slot + "." + name, err}
		}
		if into[kind], err = make1(b, slot, table, refs[name]); err != nil {
			return &partError{slot + "." + name, err}
		}
	}
	return nil
}

// make1 makes one policy from its reference, which is a name or a name with options.
func make1[H any](b *builder, slot string, table map[string]policy.Maker[H], ref any) (H, error) {
	var none H
	name, options, err := reference(ref)
	if err != nil {
		return none, err
	}
	maker, ok := table[name]
	if !ok {
		if fits := slotsOf(name); len(fits) > 0 {
			return none, fmt.Errorf("%s does not fit the slot %s; it fits %s", name, slot, strings.Join(fits, ", "))
		}
		return none, fmt.Errorf("no policy %q for the slot %s; %s", name, slot, near.Names(name, sorted(table)))
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	made, err := maker(policy.Args{
		Decode:    func(into any) error { return decode(name, options, into) },
		Rand:      rand.New(rand.NewPCG(b.env.Seed, h.Sum64())),
		Remaining: b.out.Remaining,
		Release:   b.out.Release,
		Book:      b.out.Book,
		Shared:    b.sharedOf,
	})
	if err != nil {
		return none, err
	}
	if n, ok := any(made).(policy.Needer); ok {
		needs := n.Needs()
		if why := needs.WithoutAgent(); b.p.Agentless && why != "" {
			return none, fmt.Errorf("%s needs a node agent, and there is none: %s", name, why)
		}
		b.out.Feeds = b.out.Feeds.And(needs.Feeds)
	}
	return made, nil
}

func reference(ref any) (name string, options any, err error) {
	switch r := ref.(type) {
	case string:
		return r, nil, nil
	case nil:
		return "", nil, errors.New("got nothing; want a policy's name, or one name with its options")
	case map[string]any:
		if len(r) == 1 {
			for k, v := range r { // order: there is one entry
				return k, v, nil
			}
		}
	}
	return "", nil, fmt.Errorf("%v: want a policy's name, or one name with its options", ref)
}

// nameOf returns the name in a reference from which a policy has already been made.
func nameOf(ref any) string {
	name, _, _ := reference(ref)
	return name
}

func decode(name string, options, into any) error {
	if options == nil {
		return nil
	}
	text, err := yaml.Marshal(options)
	if err != nil {
		return err
	}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(into); err != nil {
		return fmt.Errorf("options of %s: %s", name, wrong(err, into))
	}
	return nil
}

// sharedOf returns the scheduler that fills several slots, made once per set.
func (b *builder) sharedOf(name string) (any, error) {
	if s, ok := b.shared[name]; ok {
		return s, nil
	}
	if b.p.Queues != name {
		return nil, fmt.Errorf("%s shares a queue tree of its own kind: the profile's queues must be %s", name, name)
	}
	var s any
	var err error
	if name == "capacity" {
		s, err = capacity.New(*b.env.Capacity, b.env.Users)
	} else {
		s, err = fair.New(*b.env.Fair, b.env.Users)
	}
	if err != nil {
		return nil, err
	}
	b.shared[name] = s
	if n, ok := s.(named); ok {
		b.out.named = append(b.out.named, n)
	}
	return s, nil
}

func kindOf(name string) (heddle.Kind, error) {
	for k := range heddle.Kind(heddle.NumKinds) {
		if k.String() == name {
			return k, nil
		}
	}
	names := make([]string, heddle.NumKinds)
	for k := range names {
		names[k] = heddle.Kind(k).String()
	}
	return 0, fmt.Errorf("no kind %q; %s", name, near.Names(name, names))
}

// slotsOf returns the slots that know a name.
func slotsOf(name string) []string {
	var fits []string
	for _, s := range []struct {
		slot  string
		names []string
	}{
		{"size", sorted(Table.Size)},
		{"order", sorted(Table.Order)},
		{"share", sorted(Table.Share)},
		{"gate", sorted(Table.Gate)},
		{"trim", sorted(Table.Trim)},
		{"place", sorted(Table.Place)},
		{"book", sorted(Table.Book)},
		{"control", sorted(Table.Control)},
		{"estimate", append(sorted(Table.Release), sorted(Table.Remain)...)},
	} {
		if slices.Contains(s.names, name) {
			fits = append(fits, s.slot)
		}
	}
	return fits
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for k := range m { // order: sorted below
		names = append(names, k)
	}
	sort.Strings(names)
	return names
}
