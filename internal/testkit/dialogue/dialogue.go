// Package dialogue runs text files of events and answers against the scheduler core: what happened, what was decided,
// and why the rest was refused. docs/scenarios.md describes the language.
//
// Its only clock is the time that a file gives, and its only cluster is the one that a file describes.
package dialogue

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"heddle"
	"heddle/policies"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/policy"
	"heddle/sched"
)

// Run runs every .txt file of a folder, each against a core of its own. After every event the core's own checks must
// find nothing wrong.
func Run(t *testing.T, folder string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no dialogues (%v)", folder, err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			var s *session
			datadriven.RunTest(t, f, func(t *testing.T, d *datadriven.TestData) string {
				if s == nil || d.Cmd == "cluster" {
					s = &session{nodes: names{}, racks: names{}, apps: names{}, users: names{}}
				}
				out, err := s.do(d)
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				return out
			})
		})
	}
}

// A session is the state of one file.
type session struct {
	total    heddle.Resource
	hosts    []host
	profile  *policies.Profile
	capacity *capacity.Config
	fair     *fair.Config
	trims    map[heddle.Kind]heddle.Resource
	memory   bool
	built    *policies.Built
	core     *sched.Core
	hand     hand
	now      heddle.Time
	nodes    names
	racks    names
	apps     names
	users    names
	refused  map[heddle.AppID][heddle.NumWhys]uint32
	out      strings.Builder
}

type host struct {
	node heddle.NodeID
	rack heddle.RackID
	size heddle.Resource
}

// names assigns dense ids in order of first use.
type names map[string]int

func (n names) id(name string) int {
	id, ok := n[name]
	if !ok {
		id = len(n)
		n[name] = id
	}
	return id
}

func (n names) known(name, what string) (int, error) {
	if id, ok := n[name]; ok {
		return id, nil
	}
	return 0, fmt.Errorf("no %s %q", what, name)
}

func (n names) name(id int) string {
	for s, i := range n { // order: ids are unique
		if i == id {
			return s
		}
	}
	return "?"
}

func (s *session) do(d *datadriven.TestData) (string, error) {
	s.out.Reset()
	var err error
	switch d.Cmd {
	case "cluster":
		err = s.cluster(d)
	case "queues":
		err = s.queues(d)
	case "profile":
		err = s.load(d)
	case "events":
		err = s.lines(d.Input, s.event)
	case "explain":
		err = s.start()
		if err == nil {
			err = s.each(d, s.explain)
		}
	case "show":
		err = s.start()
		if err == nil {
			err = s.each(d, s.show)
		}
	default:
		err = fmt.Errorf("no command %q; there are cluster, queues, profile, events, explain and show", d.Cmd)
	}
	if s.out.Len() == 0 {
		s.out.WriteString("ok\n")
	}
	return folded(s.out.String()), err
}

// folded replaces consecutive repeats of a line with one line and a count.
func folded(text string) string {
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		out.WriteString(lines[i])
		if n > 1 {
			fmt.Fprintf(&out, " (%d times)", n)
		}
		out.WriteByte('\n')
		i += n
	}
	return out.String()
}

// lines calls f for every line that is neither empty nor a comment.
func (s *session) lines(input string, f func([]string) error) error {
	for i, line := range strings.Split(input, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := f(words); err != nil {
			return fmt.Errorf("line %d, %q: %w", i+1, line, err)
		}
	}
	return nil
}

func (s *session) each(d *datadriven.TestData, f func(string) error) error {
	for _, a := range d.CmdArgs {
		if err := f(a.Key); err != nil {
			return err
		}
	}
	return nil
}

// cluster reads nodes=4 racks=2 each=4g,4c; lines of the block add nodes: name rack size.
func (s *session) cluster(d *datadriven.TestData) error {
	o := options{o: map[string]string{}}
	for _, a := range d.CmdArgs {
		o.o[a.Key] = strings.Join(a.Vals, ",")
	}
	count, racks, each := 0, 1, heddle.Resource{}
	o.integer("nodes", &count)
	o.integer("racks", &racks)
	o.size("each", &each)
	if err := o.end(); err != nil {
		return err
	}
	for i := range count {
		s.addHost(fmt.Sprintf("n%d", i+1), fmt.Sprintf("r%d", i*racks/count+1), each)
	}
	err := s.lines(d.Input, func(w []string) error {
		if len(w) != 3 {
			return fmt.Errorf("want a node, its rack and its size")
		}
		size, err := parseSize(w[2])
		s.addHost(w[0], w[1], size)
		return err
	})
	fmt.Fprintf(&s.out, "%d nodes, %s\n", len(s.hosts), size(s.total))
	return err
}

func (s *session) addHost(node, rack string, size heddle.Resource) {
	s.hosts = append(s.hosts, host{heddle.NodeID(s.nodes.id(node)), heddle.RackID(s.racks.id(rack)), size})
	s.total = s.total.Plus(size)
}

// load reads a profile: its name and changes to it in YAML.
func (s *session) load(d *datadriven.TestData) error {
	if len(d.CmdArgs) == 0 {
		return fmt.Errorf("want the name of a profile")
	}
	s.trims = map[heddle.Kind]heddle.Resource{}
	for _, a := range d.CmdArgs[1:] {
		if err := s.extra(a.Key, strings.Join(a.Vals, ",")); err != nil {
			return err
		}
	}
	p, err := policies.Parse("profile", []byte("profile: "+d.CmdArgs[0].Key+"\n"+d.Input))
	s.profile = p
	return err
}

// extra reads what a profile cannot say: with trim-map=512m,1c no more than that is enforced for maps; memory-only
// makes the fit check look at memory alone.
func (s *session) extra(key, value string) error {
	if key == "memory-only" {
		s.memory = true
		return nil
	}
	name, ok := strings.CutPrefix(key, "trim-")
	if !ok {
		return fmt.Errorf("no argument %q; there are trim-KIND and memory-only", key)
	}
	k, err := kindOf(name)
	if err != nil {
		return err
	}
	s.trims[k], err = parseSize(value)
	return err
}

// start creates the core and brings the nodes up, once.
func (s *session) start() error {
	if s.core != nil {
		return nil
	}
	if s.profile == nil {
		return fmt.Errorf("no profile yet")
	}
	b, err := policies.Build(s.profile, policies.Env{Capacity: s.capacity, Fair: s.fair, Minimum: heddle.Of(1024, 1000), Seed: 1})
	if err != nil {
		return err
	}
	s.built = b
	b.Set.MemoryOnly = b.Set.MemoryOnly || s.memory
	for k, most := range s.trims { // order: each has a place of its own
		b.Set.Trim[k] = trim{most}
	}
	b.Set.Control = append(b.Set.Control, &s.hand)
	s.core = sched.New(b.Set)
	s.refused = map[heddle.AppID][heddle.NumWhys]uint32{}
	for _, h := range s.hosts {
		if err := s.step(heddle.NodeUp{Node: h.node, Rack: h.rack, Total: h.size, Can: heddle.AllCaps}, ""); err != nil {
			return err
		}
	}
	return nil
}

// trim enforces at most a limit if the node has less room than was asked for.
type trim struct{ most heddle.Resource }

func (t trim) Trim(_ policy.View, k *policy.Ask, _ *policy.Node, _ heddle.Resource) heddle.Resource {
	return k.Size().Min(t.most)
}

func (t trim) Floor(smallest heddle.Resource) heddle.Resource { return smallest.Min(t.most) }

// A hand is a Control that does what the file says.
type hand struct{ plan policy.Plan }

func (*hand) Every() heddle.Span { return heddle.Second }

func (h *hand) Run(_ policy.View, p *policy.Plan) {
	p.Steps = append(p.Steps, h.plan.Steps...)
	h.plan.Steps = h.plan.Steps[:0]
}
