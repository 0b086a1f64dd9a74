package adaptcont_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/policies/adaptcont"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

func put(s policy.Size) policy.Set {
	set := policytest.Base(policytest.Submitted{})
	set.Size[heddle.AM] = s
	return set
}

func TestSuite(t *testing.T) {
	for _, q := range []string{"fifo", "fair", "capacity"} {
		for name, maker := range map[string]policy.Maker[policy.Size]{"dynamic": adaptcont.NewDynamic, "pool": adaptcont.NewPool} { // order: each by itself
			t.Run(name+" "+q, func(t *testing.T) {
				policytest.Run(t, maker, "{queue: "+q+", unit_wave: 2, unit_memory: 1024, split: 1, shrink: true}", put)
			})
		}
	}
}

// A running master is resized only once it is known to run, and the core reports starts only if a policy asks for them.
func TestFeedbackHearsOfStarts(t *testing.T) {
	for options, want := range map[string]bool{"{queue: fifo}": true, "{queue: fifo, feedback: false}": false} { // order: each by itself
		s, err := adaptcont.NewDynamic(policytest.Args(options))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.(policy.Needer).Needs().Starts; got != want {
			t.Errorf("%s: hears of starts: %v", options, got)
		}
	}
}

func TestWrongOptions(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{"", "say by which discipline"},
		{"queue: lifo", "fifo, fair or capacity"},
		{"{queue: fifo, least: 0}", "least: 0: want a number from 1"},
		{"{queue: fifo, unit_wave: 0}", "unit_wave: 0: want a number from 1"},
		{"{queue: fifo, unit_memory: -1}", "unit_memory"},
		{"{queue: fifo, unit_memory: 99999999999}", "unit_memory"},
		{"{queue: fifo, split: 0}", "split"},
		{"{queue: fifo, every: 0}", "every: want seconds above 0"},
		{"{queue: fifo, every: .nan}", "every"},
		{"{queue: fifo, threshold: -1}", "threshold"},
		{"{queue: fifo, container: {memory: 0, vcores: 1}}", "container.memory"},
		{"{queue: fifo, pool: []}", "want one master at least"},
		{"{queue: fifo, pool: [{memory: 512}]}", "pool[0]: want memory"},
		{"{queue: fifo, pool: [{memory: 512, vcores: 1}, {memory: 1024, vcores: 1}]}", "pool[0]: serves: only the last"},
		{"{queue: fifo, pool: [{memory: 512, vcores: 1, serves: 9}, {memory: 512, vcores: 1}]}", "pool[1]: want more memory"},
		{"{queue: fifo, pool: [{memory: 512, vcores: 1, serves: 9}, {memory: 600, vcores: 1, serves: 9}]}", "pool[1]: want more memory"},
	} {
		if _, err := adaptcont.NewPool(policytest.Args(c.options)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.options, err, c.want)
		}
	}
}

// Computing waves by skipping whole ones gives the same result as simulating them one by one.
func TestWavesAgreeWithPlayingThemOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		containers := rapid.IntRange(1, 40).Draw(t, "containers")
		maps := rapid.SliceOfN(rapid.IntRange(0, 200), 1, 8).Draw(t, "maps")
		for _, q := range []string{"fifo", "capacity"} {
			got, want := adaptcont.Waves(q, containers, maps), slow(q, containers, maps)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s, %d containers, maps %v: waves %v, one by one %v", q, containers, maps, got, want)
				}
			}
		}
	})
}

// slow simulates every wave.
func slow(queue string, containers int, maps []int) []int {
	left, wave := append([]int(nil), maps...), make([]int, len(maps))
	for {
		free, alive := containers, 0
		for _, n := range left {
			if n > 0 {
				alive++
			}
		}
		if alive == 0 {
			return wave
		}
		share := containers
		if queue == "capacity" {
			share = max(containers/alive, 1)
		}
		for i := range left {
			n := min(left[i], share)
			if queue == "fifo" {
				n = min(n, free)
				free -= n
			}
			left[i] -= n
			wave[i] = max(wave[i], n)
		}
	}
}

// No master is sized larger than the largest node, whatever its job's waves.
func TestMastersFitTheLargestNode(t *testing.T) {
	for name, maker := range map[string]policy.Maker[policy.Size]{"dynamic": adaptcont.NewDynamic, "pool": adaptcont.NewPool} { // order: each by itself
		s, err := maker(policytest.Args("{queue: capacity, unit_wave: 1}"))
		if err != nil {
			t.Fatal(err)
		}
		c := sched.New(put(s))
		for i := range heddle.NodeID(8) {
			c.Step(0, heddle.NodeUp{Node: i, Total: heddle.Of(1024, 1000), Can: heddle.AllCaps})
		}
		c.Step(0, heddle.Submit{App: 0, Queue: 1, Framework: heddle.MapReduce, Master: heddle.Of(512, 1000), Facts: heddle.Facts{Maps: 100}})
		if got, want := s.Size(c.View(), c.View().App(0), heddle.AM, heddle.Of(512, 1000)), heddle.Of(1024, 1000); got != want {
			t.Errorf("%s: a master of %v, want %v", name, got, want)
		}
	}
}

// A new core that is told of many applications whose masters wait simulates their waves once, not for each of them.
func TestWavesAreNotPlayedForEachWaitingMaster(t *testing.T) {
	s, err := adaptcont.NewDynamic(policytest.Args("queue: capacity"))
	if err != nil {
		t.Fatal(err)
	}
	c := sched.New(put(s))
	c.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(64<<10, 64_000), Can: heddle.AllCaps})
	played := 0
	step := func(ev heddle.Event) {
		c.Step(0, ev)
		if adaptcont.Played(s) {
			played++
		}
	}
	const apps = 1000
	for a := range heddle.AppID(apps) {
		step(heddle.Submit{App: a, Queue: 1, Framework: heddle.MapReduce, Facts: heddle.Facts{Maps: int32(1 + a%7)}})
	}
	for a := range heddle.AppID(apps) {
		step(heddle.Attempt{App: a, Master: heddle.Of(1024, 1000)})
	}
	if played > 2 {
		t.Errorf("waves were simulated in %d steps of %d", played, 2*apps)
	}
}
