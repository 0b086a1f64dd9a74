package policies_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/plain"
	"heddle/policies"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/policy"
	"heddle/sched"
)

func env() policies.Env {
	c := &capacity.Config{
		Queues:  []capacity.QueueConfig{{Path: "root", Parent: -1, Capacity: 1, MaxCapacity: 1}, {Path: "root.default", Capacity: 1, MaxCapacity: 1}},
		Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 4000), MultipleAssignments: true, MaxAssignments: 7, MaxOffSwitch: 2,
	}
	f := &fair.Config{
		Queues: []fair.QueueConfig{{Path: "root", Parent: -1}, {Path: "root.default"}}, UpdateInterval: heddle.Second,
		NodeThreshold: 0.5, RackThreshold: 0.5, Increment: heddle.Of(512, 1000),
	}
	return policies.Env{Capacity: c, Fair: f, Minimum: heddle.Of(256, 1000), Users: []string{"ann"}}
}

func TestEveryBuiltInProfileBuilds(t *testing.T) {
	for _, name := range policies.Names() {
		p, err := policies.Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := policies.Build(p, env())
		if err != nil {
			t.Fatal(err)
		}
		if b.Name != name || p.About == "" || len(b.Paths) != 2 || len(b.Queues) != 2 || b.Paths[1] != "root.default" {
			t.Errorf("%s builds %q %q with queues %v", name, b.Name, p.About, b.Paths)
		}
	}
}

func build(text string) (*policies.Built, error) {
	p, err := policies.Parse("test.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return policies.Build(p, env())
}

func TestWhatAProfileTakesFromItsQueues(t *testing.T) {
	for _, c := range []struct {
		profile string
		step    heddle.Resource
		beat    policy.Beat
	}{
		{"fifo", heddle.Of(256, 1000), policy.Beat{}},
		{"capacity", heddle.Of(1024, 1000), policy.Beat{Containers: 7, OffSwitch: 2, StopAtBook: true}},
		{"fair", heddle.Of(512, 1000), policy.Beat{Containers: 1}},
	} {
		b, err := build("profile: " + c.profile)
		if err != nil {
			t.Fatal(err)
		}
		if b.Step != c.step || b.Beat != c.beat {
			t.Errorf("%s: step %v beat %+v, want %v %+v", c.profile, b.Step, b.Beat, c.step, c.beat)
		}
	}
}

func TestSlotsAreFilledByKind(t *testing.T) {
	b, err := build(`
profile: fifo
lanes:
  - {kinds: [am, map, executor, other], order: fifo}
  - {kinds: [reduce], order: fifo, per_node: 3}
gate: {reduce: [open, {slowstart: {completed: 0.5}}]}
place: {map: {delay: {node_wait: 1, rack_wait: 2}}, executor: spread}
trim: {map: whole}
size: {am: asked}
share: [whole]
control: [idle]
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Lanes) != 2 || b.Lanes[1].PerNode != 3 || len(b.Gate[heddle.Reduce]) != 2 || b.Place[heddle.Map] == nil || b.Place[heddle.Reduce] != nil ||
		b.Trim[heddle.Map] == nil || b.Size[heddle.AM] == nil || len(b.Share) != 1 || len(b.Control) != 1 || b.Book != nil {
		t.Errorf("%+v", b.Set)
	}
}

// The error for a wrong profile says what would be right.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no such policy", "profile: fifo\nplace: {map: nowhere}", `no policy "nowhere" for the slot place; there are`},
		{"wrong slot", "profile: fifo\nplace: {map: slowstart}", "slowstart does not fit the slot place; it fits gate"},
		{"no such kind", "profile: fifo\nplace: {mop: any}", `no kind "mop"; did you mean map? There are am, map, reduce, executor and other`},
		{"kind of a gate", "profile: fifo\ngate: {mop: open}", `no kind "mop"`},
		{"kind in no lane", "profile: fifo\nlanes: [{kinds: [am], order: fifo}]", "map is in 0 lanes"},
		{"kind of a lane", "profile: fifo\nlanes: [{kinds: [mop], order: fifo}]", `lanes[0]: no kind "mop"`},
		{"two bounds of a lane", "profile: fifo\nlanes: [{kinds: [am], order: fifo, per_node: 2, per_vcore: 0.5}]", "lanes[0]: wanted per_node or per_vcore"},
		{"bound of a lane", "profile: fifo\nlanes: [{kinds: [am], order: fifo, per_vcore: -1}]", "lanes[0]: wanted per_node or per_vcore"},
		{"order of a lane", "profile: fifo\nlanes: [{kinds: [am], order: slow}]", `lanes[0]: no policy "slow"`},
		{"order by categories that nobody has", "profile: fifo\nlanes: [{kinds: [am, map, reduce, executor, other], order: dress}]", "lanes[0]: dress: the order uses the categories of the share dress"},
		{"unknown option", "profile: fifo\nplace: {map: {delay: {wait: 3}}}", "options of delay"},
		{"options of none", "profile: fifo\nplace: {map: {any: {wait: 3}}}", "options of any"},
		{"two names", "profile: fifo\nplace: {map: {any: 1, delay: 2}}", "want a policy's name, or one name with its options"},
		{"share", "profile: fifo\nshare: [nothing]", "share[0]"},
		{"control", "profile: fifo\ncontrol: [nothing]", "control[0]"},
		{"book", "profile: fifo\nbook: nothing", "book: "},
		{"size", "profile: fifo\nsize: {am: nothing}", "size.am: "},
		{"trim", "profile: fifo\ntrim: {map: nothing}", "trim.map: "},
		{"estimate", "profile: fifo\nestimate: {past: x}", `no quantity "past"; there are release and remaining`},
		{"tree", "profile: fifo\nqueues: many", `no tree "many"; there are capacity, fair and one`},
		{"other's tree", "profile: fifo\nshare: [capacity]", "the profile's queues must be capacity"},
		{"no such base", "profile: lifo", `no built-in profile "lifo"; did you mean fifo? There are adaptcont, capacity`},
		{"unknown key", "profile: fifo\nplaces: {}", "places"},
	} {
		_, err := build(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
	for profile, want := range map[string]string{"capacity": "needs a capacity scheduler's configuration", "fair": "needs a fair scheduler's configuration"} {
		p, err := policies.Load(profile, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = policies.Build(p, policies.Env{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", profile, err, want)
		}
	}
}

// Masters may be sized, and neutral policies named, without any task getting less than its master asks for.
func TestShrinks(t *testing.T) {
	for _, c := range []struct {
		name string
		set  []string
		want bool
	}{
		{"fifo", nil, false},
		{"heddle", nil, false}, // sizes and weighs masters
		{"heddle", []string{"trim.map=whole", "size.reduce=asked"}, false},
		{"heddle", []string{"trim.map=ikayak.shrink"}, true},
		{"fifo", []string{"trim.executor={ikayak.fixed: {part: 0.5}}"}, true},
		{"fifo", []string{"size.map=adaptcont.pool"}, true},
		{"fifo", []string{"control=[mrorchestrator.regression]"}, true},
	} {
		p, err := policies.Load(c.name, c.set)
		if err != nil {
			t.Fatal(err)
		}
		if p.Shrinks() != c.want {
			t.Errorf("%s %v: %v, want %v", c.name, c.set, !c.want, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte("\ufeffprofile: fifo\nabout: mine\nplace: {map: any}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := policies.Load(file, []string{"place.reduce=any", "place.map={delay: {node_wait: 5}}", "book=none"})
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "mine (place.reduce=any, place.map={delay: {node_wait: 5}}, book=none)" || p.About != "mine" || len(p.Lanes) != 1 ||
		p.Place["reduce"] != "any" || p.Place["map"] == "any" || p.Book != "none" {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct {
		name string
		set  []string
		want string
	}{
		{"nowhere", nil, "neither built in nor a file; there are adaptcont, capacity"},
		{"fifo", []string{"place.map"}, "want slot.kind=policy"},
		{"fifo", []string{"profile=fair"}, "name the starting point with --profile"},
		{"fifo", []string{"plaice.map=any"}, "plaice"},
	} {
		if _, err := policies.Load(c.name, c.set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q in it", c.name, c.set, err, c.want)
		}
	}
}

// The error for a part that cannot be built names the file and the line of that part.
func TestBuildErrorsHaveAPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	const lanes = "lanes: [{kinds: [am, map, reduce, executor, other], order: fifo}]\n"
	for _, c := range []struct {
		text    string
		changes []policies.Change
		want    string
	}{
		{"# nothing\n", nil, "FILE: holds no profile; wanted a mapping with profile, about, queues, "},
		{"about: mine\n", nil, "FILE:1:1: lanes: there are no lanes, and every kind needs one; profile: NAME"},
		{"profile: fair\nplace:\n  map: nope\n", nil, `FILE:3:8: place.map: no policy "nope"`},
		{"profile: fair\nplace: {mop: any}\n", nil, `FILE:2:14: place.mop: no kind "mop"`},
		{"profile: fair\ngate:\n  map:\n", nil, "FILE:3:8: gate.map: got nothing; want a policy's name"},
		{"profile: fair\nqueues: many\n", nil, `FILE:2:9: queues: no tree "many"`},
		{"profile: fair\nmasters: all\n", nil, `FILE:2:10: masters: unknown value "all"`},
		{"profile: fair\nestimate: {past: x}\n", nil, `FILE:2:18: estimate.past: no quantity "past"`},
		{"profile: fair\nqueues: one\n", nil, "FILE:1:1: lanes[0]: fair shares a queue tree of its own kind"},
		{"profile: fair\nplace: {map: {delay: {node_wait: .nan}}}\n", nil, "FILE:2:14: place.map: delay: node_wait and rack_wait must be"},
		{lanes + "share:\n  - whole\n  - none\n", nil, `FILE:4:5: share[1]: no policy "none"`},
		{lanes + "control:\n  - none\n", nil, `FILE:3:3: control[0]: no policy "none"`},
		{"profile: fiar\n", nil, `FILE:1:10: profile: no built-in profile "fiar"; did you mean fair?`},
		{lanes, []policies.Change{{Text: "place.map="}}, "profile mine (place.map=): place.map: got nothing; want a policy's name"},
		{lanes, []policies.Change{{Text: "place.map=nope", Place: plain.Place{File: "h.yaml", Line: 3, Column: 5, Key: "set[0]"}}}, `h.yaml:3:5: set[0]: place.map: no policy "nope"`},
		{lanes, []policies.Change{{Text: "x", Place: plain.Place{File: "h.yaml", Line: 3, Column: 5, Key: "set[0]"}}}, `h.yaml:3:5: set[0]: "x": want slot.kind=policy`},
		{lanes, []policies.Change{{Text: "#=x"}}, `--set "#=x": want slot.kind=policy`},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := policies.LoadChanged(file, c.changes)
		if err == nil {
			p, _ = p.WithoutAgent()
			_, err = policies.Build(p, env())
		}
		if want := strings.ReplaceAll(c.want, "FILE", file); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q %v: %v\nwant %s", c.text, c.changes, err, want)
		}
	}
}

// A file that is not a profile only costs a message.
func TestProfilesHaveLimits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	for text, want := range map[string]string{
		"profile: fair\ngate: " + strings.Repeat("[", 10_000): file + ":2:71: is nested more than 64 deep",
		"profile: fair\ngate: &a {map: *a}":                   file + ":2:7: anchors and aliases are not supported",
		strings.Repeat("# all of it is a remark\n", 5000):     file + " is larger than the limit of 65536 bytes",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := policies.Load(file, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Users may be named long after the policies were made.
func TestUsersAreNamedAsTheyCome(t *testing.T) {
	for _, profile := range []string{"capacity", "fair"} {
		e := env()
		e.Users = nil
		e.Capacity.Queues[1].UserWeights = map[string]float64{"bob": 0.5}
		e.Capacity.Queues[1].MinimumUserLimit, e.Capacity.Queues[1].UserLimitFactor, e.Capacity.Queues[1].MaxAMShare = 1, 1, 1
		e.Capacity.MaxApplications, e.Capacity.Queues[1].MaxApplications = 10, -1
		e.Fair.UserMaxApps, e.Fair.UserMaxAppsDefault = map[string]int{"bob": 1}, 2
		e.Fair.Queues[0].MaxAMShare, e.Fair.Queues[1].MaxAMShare = -1, -1
		p, err := policies.Load(profile, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := policies.Build(p, e)
		if err != nil {
			t.Fatal(err)
		}
		c := sched.New(b.Set)
		c.Step(0, heddle.NodeUp{Total: heddle.Of(8192, 8000), Can: heddle.AllCaps})
		for i, name := range []string{"ann", "bob"} {
			b.User(heddle.UserID(i), name)
			for range 2 {
				c.Step(0, heddle.Submit{App: heddle.AppID(c.View().AppIDs()), Queue: 1, User: heddle.UserID(i), Master: heddle.Of(1024, 1000)})
			}
		}
		switch profile {
		case "capacity": // half the weight, half of the queue
			ann, bob := c.Headroom(0), c.Headroom(2)
			if want := heddle.Of(8192, 8000); ann != want || bob != heddle.Of(4096, 4000) {
				t.Errorf("ann may have %v, bob %v", ann, bob)
			}
		case "fair": // one application at a time; others may have two
			for range 8 {
				c.Step(heddle.Time(heddle.Second), heddle.Heartbeat{})
			}
			if v := c.View(); v.App(1).Master() == nil || v.App(2).Master() == nil || v.App(3).Master() != nil {
				t.Errorf("masters run of ann's %v %v and of bob's %v %v", v.App(0).Master(), v.App(1).Master(), v.App(2).Master(), v.App(3).Master())
			}
		}
	}
}

// Errors in a profile give their place and use the profile's words.
func TestProfileErrorsArePlain(t *testing.T) {
	for text, want := range map[string]string{
		"profile: [a]": "f.yaml:1:10: profile: got a list; wanted text",
		"profile: fair\nlanes: [{kinds: [map], per_node: x}]": "f.yaml:2:34: per_node: got text; wanted a whole number",
		"nosuch: 1":  `f.yaml:1:1: unknown key "nosuch"; there are profile, about, queues, `,
		"lanes: x":   "f.yaml:1:8: lanes: got text; wanted a list",
		"profile: [": "f.yaml:1:10: ",
	} {
		if _, err := policies.Parse("f.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for set, want := range map[string]string{
		"place=any":  `--set "place=any": place: got text; wanted a mapping`,
		"place.x=[a": `--set "place.x=[a": sequence end token ']' not found`,
		"plaice=any": `--set "plaice=any": unknown key "plaice"; did you mean place? There are profile, `,
	} {
		if _, err := policies.Load("fair", []string{set}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", set, err, want)
		}
	}
	for set, want := range map[string]string{
		"place.map={delay: {node_wait: soon}}": "place.map: options of delay: node_wait: got text; wanted a number",
		"place.map={delay: {wait: 1}}":         `place.map: options of delay: unknown key "wait"; there are node_wait, rack_wait, node_fraction and rack_fraction`,
		"place.map={delay: 7}":                 "place.map: options of delay: got a number; wanted a mapping",
	} {
		p, err := policies.Load("fair", []string{set})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policies.Build(p, env()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", set, err, want)
		}
	}
}
