package policies

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"heddle"
	"heddle/internal/near"
	"heddle/internal/plain"
)

//go:embed profiles/*.yaml
var profiles embed.FS

// A Profile is a whole scheduler as people write it: for every slot, a policy by name, with options.
type Profile struct {
	Name    string `yaml:"-"`
	File    string `yaml:"-"`                 // the file that it was read from; "" = none of its own
	Profile string `yaml:"profile,omitempty"` // starting point
	About   string `yaml:"about,omitempty"`
	Queues  string `yaml:"queues,omitempty"` // capacity, fair or one
	// Masters is how simulated MapReduce masters ask for containers: stock, or at-once for all reduces together with
	// the maps, as masters of slot clusters do; a gate then decides when reduces start.
	Masters  string         `yaml:"masters,omitempty"`
	Lanes    []LaneSpec     `yaml:"lanes,omitempty"`
	Share    []any          `yaml:"share,omitempty"`
	Size     map[string]any `yaml:"size,omitempty"`
	Gate     map[string]any `yaml:"gate,omitempty"`
	Trim     map[string]any `yaml:"trim,omitempty"`
	Place    map[string]any `yaml:"place,omitempty"`
	Book     any            `yaml:"book,omitempty"`
	Control  []any          `yaml:"control,omitempty"`
	Estimate map[string]any `yaml:"estimate,omitempty"`

	// Agentless says that [Profile.WithoutAgent] made the profile: its simulation has no node agents.
	Agentless bool `yaml:"-"`
	// Agents says that a simulation has realistic node agents. If neither Agents nor Agentless is set, the simulation
	// has ideal ones, which do everything at once.
	Agents bool `yaml:"-"`
	// Stock says that a simulation is of a stock ResourceManager that runs this profile, not of heddle rm.
	Stock bool `yaml:"-"`

	places places
}

// A LaneSpec is one lane of a profile.
type LaneSpec struct {
	Kinds    []string `yaml:"kinds"`
	Order    any      `yaml:"order"`
	PerNode  int      `yaml:"per_node,omitempty"`
	PerVcore float64  `yaml:"per_vcore,omitempty"`
}

// maxFile is the largest size of a profile's file, in bytes.
const maxFile = 64 << 10

// Names returns the built-in profiles, sorted.
func Names() []string {
	files, err := profiles.ReadDir("profiles")
	if err != nil {
		panic(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// A Change is one change of a profile, such as place.map=delay.
type Change struct {
	Text  string
	Place plain.Place // where the change stands, for errors; zero for --set on the command line
}

func (c Change) errorf(format string, args ...any) error {
	if c.Place != (plain.Place{}) {
		return &plain.Fault{Place: c.Place, Err: fmt.Errorf("%q: %s", c.Text, fmt.Sprintf(format, args...))}
	}
	return fmt.Errorf("--set %q: %s", c.Text, fmt.Sprintf(format, args...))
}

// ErrNoProfile is the error for a name that is neither a built-in profile nor a file.
var ErrNoProfile = errors.New("neither built in nor a file")

// Load reads a profile, given a built-in name or a YAML file. Each element of set is a change such as place.map=delay;
// changes are applied in order.
func Load(name string, set []string) (*Profile, error) {
	changes := make([]Change, len(set))
	for i, text := range set {
		changes[i].Text = text
	}
	return LoadChanged(name, changes)
}

// LoadChanged is like [Load] but takes changes that say where they stand.
func LoadChanged(name string, changes []Change) (*Profile, error) {
	p, err := load(name)
	if err != nil {
		return nil, err
	}
	var said []string
	for _, c := range changes {
		if p, err = p.with(c); err != nil {
			return nil, err
		}
		said = append(said, c.Text)
	}
	if len(said) > 0 {
		p.Name += " (" + strings.Join(said, ", ") + ")"
	}
	return p, nil
}

func load(name string) (*Profile, error) {
	if slices.Contains(Names(), name) {
		data, err := profiles.ReadFile("profiles/" + name + ".yaml")
		if err != nil {
			return nil, err
		}
		p, err := parse(name, name, data)
		if err == nil {
			p.places = nil // its file is not on the user's disk
		}
		return p, err
	}
	data, err := plain.ReadFile(name, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no profile %q, %w; %s", name, ErrNoProfile, near.Names(name, Names()))
	}
	if err != nil {
		return nil, err
	}
	p, err := parse(name, strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".yaml"), data)
	if err != nil {
		return nil, err
	}
	p.File = name
	return p, nil
}

// Parse reads a profile from YAML; file names it in errors.
func Parse(file string, data []byte) (*Profile, error) { return parse(file, "profile", data) }

// FromNode reads a profile that is part of another YAML file; file names that file in errors.
func FromNode(file string, n ast.Node) (*Profile, error) { return fromNode(file, "profile", n) }

func parse(file, name string, data []byte) (*Profile, error) {
	doc, err := plain.Document(data)
	if err != nil {
		return nil, &plain.Fault{Place: placeOf(file, err), Err: errors.New(wrong(err, &Profile{}))}
	}
	if doc == nil {
		return nil, &plain.Fault{Place: plain.Place{File: file}, Err: fmt.Errorf("holds no profile; wanted a mapping with %s", strings.Join(plain.Keys(reflect.TypeFor[Profile]()), ", "))}
	}
	return fromNode(file, name, doc)
}

func fromNode(file, name string, n ast.Node) (*Profile, error) {
	var p Profile
	if err := yaml.NodeToValue(n, &p, yaml.Strict()); err != nil {
		return nil, &plain.Fault{Place: placeOf(file, err), Err: errors.New(wrong(err, &p))}
	}
	p.Name, p.places = name, placesIn(n, func(n ast.Node) plain.Place { return plain.At(file, plain.Start(n)) })
	if p.Profile == "" {
		return &p, nil
	}
	if !slices.Contains(Names(), p.Profile) {
		return nil, &plain.Fault{Place: p.places.of("profile"), Err: fmt.Errorf("profile: no built-in profile %q; %s", p.Profile, near.Names(p.Profile, Names()))}
	}
	base, err := load(p.Profile)
	if err != nil {
		return nil, err
	}
	base.merge(&p)
	return base, nil
}

// placeOf returns where in a file YAML cannot be read.
func placeOf(file string, err error) plain.Place {
	t, _, _ := plain.YAML(err)
	return plain.At(file, t)
}

// wrong describes what is wrong with YAML that was read into a struct.
func wrong(err error, into any) string {
	_, key, text := plain.YAML(err)
	if unknown, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		text += "; " + near.Names(unknown.GetToken().Value, plain.Keys(reflect.TypeOf(into).Elem()))
		if _, whole := into.(*Profile); whole {
			text += "; of a lane " + near.Names(unknown.GetToken().Value, plain.Keys(reflect.TypeFor[LaneSpec]()))
		}
	}
	if key != "" {
		return key + ": " + text
	}
	return text
}

// Shrinks reports whether tasks may get less than their masters ask for: by the profile's sizes or trims, or by its
// control, which may resize what runs. What masters themselves get does not count, nor what changes weights alone.
func (p *Profile) Shrinks() bool {
	less := func(refs map[string]any, neutral string) bool {
		for kind, ref := range refs { // order: none matters for whether there is one
			if kind != heddle.AM.String() && ref != neutral {
				return true
			}
		}
		return false
	}
	resizes := func(ref any) bool {
		name := nameOf(ref)
		return name != "idle" && name != "masters"
	}
	return less(p.Size, "asked") || less(p.Trim, "whole") || slices.ContainsFunc(p.Control, resizes)
}

// merge lays o over p: what o sets replaces what p sets, slot by slot and kind by kind.
func (p *Profile) merge(o *Profile) {
	p.Name, p.Profile = o.Name, ""
	if p.places == nil {
		p.places = places{}
	}
	maps.Copy(p.places, o.places)
	if o.About != "" {
		p.About = o.About
	}
	if o.Queues != "" {
		p.Queues = o.Queues
	}
	if o.Masters != "" {
		p.Masters = o.Masters
	}
	if o.Lanes != nil {
		p.Lanes = o.Lanes
	}
	if o.Share != nil {
		p.Share = o.Share
	}
	if o.Book != nil {
		p.Book = o.Book
	}
	if o.Control != nil {
		p.Control = o.Control
	}
	for _, m := range []struct{ to, from *map[string]any }{
		{&p.Size, &o.Size}, {&p.Gate, &o.Gate}, {&p.Trim, &o.Trim}, {&p.Place, &o.Place}, {&p.Estimate, &o.Estimate},
	} {
		if *m.to == nil {
			*m.to = map[string]any{}
		}
		maps.Copy(*m.to, *m.from)
	}
}

// with returns the profile with one change applied, of the form slot.kind=policy or slot=policy. The policy may be any
// YAML value, so that options can be given: place.map={delay: {node_wait: 5}}.
func (p *Profile) with(c Change) (*Profile, error) {
	key, value, ok := strings.Cut(c.Text, "=")
	if !ok {
		return nil, c.errorf("want slot.kind=policy, such as place.map=delay")
	}
	parts := strings.Split(strings.TrimSpace(key), ".")
	var text strings.Builder
	for i, part := range parts {
		text.WriteString(strings.Repeat("  ", i) + part + ":")
		if i < len(parts)-1 {
			text.WriteString("\n")
		}
	}
	text.WriteString(" " + value + "\n")
	var o Profile
	doc, err := plain.Document([]byte(text.String()))
	switch {
	case err == nil && doc == nil: // a comment
		return nil, c.errorf("want slot.kind=policy, such as place.map=delay")
	case err == nil:
		err = yaml.NodeToValue(doc, &o, yaml.Strict())
	}
	if err != nil {
		return nil, c.errorf("%s", wrong(err, &o))
	}
	if o.Profile != "" {
		return nil, c.errorf("name the starting point with --profile")
	}
	o.Name, o.places = p.Name, placesIn(doc, func(ast.Node) plain.Place { return c.Place })
	delete(o.places, "") // the rest of the profile keeps its places
	p.merge(&o)
	return p, nil
}
