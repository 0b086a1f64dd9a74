package mrorchestrator

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/estimate"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

var makers = []policy.Maker[policy.Control]{NewUniform, NewRegression}

func put(c policy.Control) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Control = []policy.Control{c}
	return s
}

func TestSuite(t *testing.T) {
	for i, name := range []string{"uniform", "regression"} {
		t.Run(name, func(t *testing.T) {
			policytest.Run(t, makers[i], "{epoch: 3, profile: 1, lower_memory: always, lower_cpu: always}", put)
		})
	}
}

func TestWrongOptions(t *testing.T) {
	for option, want := range map[string]string{
		"epoch: 0":          "epoch must be between",
		"profile: -1":       "profile must be between",
		"deficit: 1.1":      "deficit must be between 0 and 1, not 1.1",
		"hogging: 0.9":      "hogging must be between",
		"straggler: .nan":   "straggler must be between",
		"alpha: 0.5":        "alpha must be between",
		"mode: disk":        `mode must be one of cpu, memory, both, not "disk"`,
		"scope: some":       "scope must be one of flagged, all",
		"lower_cpu: never":  "lower_cpu must be one of",
		"lower_memory: 100": "lower_memory must be one of",
	} {
		for _, maker := range makers {
			if _, err := maker(policytest.Args(option)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", option, err, want)
			}
		}
	}
}

// A manager that controls memory needs to know what tasks that have ended used. If processes keep their memory, no task
// gets less than that, and while it is unknown no task is lowered.
func TestHearsPeaks(t *testing.T) {
	for mode, want := range map[string]bool{modeCPU: false, modeMemory: true, modeBoth: true} {
		for _, maker := range makers {
			c, err := maker(policytest.Args("mode: " + mode))
			if err != nil {
				t.Fatal(err)
			}
			if got := c.(policy.Needer).Needs().Peaks; got != want {
				t.Errorf("mode %s: hears peaks %v", mode, got)
			}
		}
	}
}

// running returns a core on which every node runs ten maps of a hundred jobs, four windows into their lives. Some hog
// and some are in deficit, so that there is something to do.
func running(m *Manager, nodes int) *sched.Core {
	const jobs, each = 100, 10
	set := put(m)
	set.Minimum, set.Step = heddle.Of(1, 0), heddle.Of(1, 0)
	c := sched.New(set)
	size := heddle.Of(512, 1000)
	for n := range nodes {
		c.Step(0, heddle.NodeUp{Node: heddle.NodeID(n), Rack: heddle.RackID(n / 40), Total: heddle.Of(each*600, each*1000), Can: heddle.AllCaps})
	}
	for a := range heddle.AppID(jobs) {
		c.Step(0, heddle.Submit{App: a, Queue: 1, Master: heddle.Of(1, 0), Framework: heddle.MapReduce})
	}
	c.Step(0, heddle.Heartbeat{Node: 0})
	for a := range heddle.AppID(jobs) {
		c.Step(0, heddle.Ask{App: a, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, int32(nodes*each/jobs), size)}})
	}
	var ids []heddle.ContainerID
	for n := range nodes {
		for _, d := range c.Step(0, heddle.Heartbeat{Node: heddle.NodeID(n)}) {
			if l, ok := d.(*heddle.Launch); ok {
				ids = append(ids, l.Container)
			}
		}
	}
	for a := range heddle.AppID(jobs) {
		c.Step(0, heddle.Acquire{App: a})
	}
	for _, id := range ids {
		c.Step(0, heddle.Started{Container: id})
	}
	for w := 1; w <= 3; w++ {
		now := heddle.Time(w) * heddle.Time(5*heddle.Second)
		for _, id := range ids {
			c.Step(now, heddle.Progress{Container: id, Phase: heddle.MapRead, Fraction: float64(w) * (0.05 + float64(id%7)/100)})
			c.Step(now, heddle.Profile{Container: id, CPU: 300 + 100*int64(id%8), Memory: 100 + 59*int64(id%8)})
		}
	}
	return c
}

// The decisions never add up to more than a node has, whatever is wanted, and they are carried out as made.
func TestNodesHoldWhatIsGiven(t *testing.T) {
	for _, options := range []string{"", "{lower_cpu: needed}", "{lower_memory: needed, in_step: false}", "{lower_cpu: always, tolerance: 0}"} {
		for i, maker := range makers {
			m := made(t, maker, options)
			core := running(m, 40)
			free := make([]heddle.Resource, 40)
			for n := range free {
				free[n] = core.View().Node(heddle.NodeID(n)).Free()
			}
			var p policy.Plan
			m.Run(core.View(), &p)
			for _, s := range p.Steps {
				x := core.View().Container(s.Container)
				n := x.Node().ID()
				if s.Do == policy.Weigh {
					if size := x.Told()[heddle.CPU]; s.Weight < size/widest || s.Weight > size*widest {
						t.Fatalf("%q, estimator %d: weight %d of a container of %d", options, i, s.Weight, size)
					}
					continue
				}
				if free[n] = free[n].Minus(s.Limit.Minus(x.Limit())); free[n].AnyNegative() {
					t.Fatalf("%q, estimator %d: node %d is left with %v after %+v", options, i, n, free[n], s)
				}
			}
			if len(p.Steps) == 0 && i == 1 {
				t.Errorf("%q: nothing was done", options)
			}
			if i == 1 && carriedOut(running(made(t, maker, options), 40)) != len(p.Steps) {
				t.Errorf("%q: not all of %d steps were carried out", options, len(p.Steps))
			}
		}
	}
}

// Whatever a node reports, a limit remains a valid limit.
func TestNonsenseIsReported(t *testing.T) {
	for _, maker := range makers {
		m := made(t, maker, "{lower_cpu: always, alpha: 1000000}")
		c := running(m, 40)
		now := heddle.Time(19 * heddle.Second)
		for i, x := range []heddle.Progress{
			{Phase: heddle.MapRead, Fraction: math.NaN()},
			{Phase: heddle.MapRead, Fraction: -3},
			{Phase: heddle.ReduceCopy, Fraction: math.Inf(1)},
			{Phase: heddle.Holding, Fraction: 0.5},
			{Phase: heddle.NoPhase},
			{Phase: 200, Fraction: 1e300},
		} {
			x.Container = m.tasks[i].id
			c.Step(now, x)
			c.Step(now, heddle.Profile{Container: x.Container, CPU: math.MaxInt64, Memory: math.MinInt64})
			c.Step(now, heddle.Profile{Container: x.Container, CPU: math.MinInt64, Memory: math.MaxInt64})
		}
		var p policy.Plan
		m.Run(c.View(), &p)
		for _, s := range p.Steps {
			x := c.View().Container(s.Container)
			if s.Do == policy.Weigh {
				if s.Weight < 1 || s.Weight > widest*x.Told()[heddle.CPU] {
					t.Errorf("container %d of %v: weight %d", s.Container, x.Told(), s.Weight)
				}
				continue
			}
			if s.Limit.AnyNegative() || !s.Limit.Fits(x.Node().Total()) {
				t.Errorf("container %d of %v: limit %v", s.Container, x.Limit(), s.Limit)
			}
		}
	}
}

// Profiles of tasks that have ended make room for new ones.
func TestProfilesAreDropped(t *testing.T) {
	m := made(t, NewRegression, "")
	c := running(m, 10)
	tasks := len(m.tasks)
	now := heddle.Time(20 * heddle.Second)
	for i := range tasks / 2 {
		c.Step(now, heddle.Exit{Container: m.tasks[i].id})
	}
	m.Run(c.View(), &policy.Plan{})
	if len(m.of) != tasks-tasks/2 || len(m.free) != tasks/2 {
		t.Errorf("%d of %d tasks are known and %d places free", len(m.of), tasks, len(m.free))
	}
	if m.gather(c.View()); len(m.rows) != 0 {
		t.Errorf("%d tasks take part in an epoch in which nothing was measured of them", len(m.rows))
	}
	i := m.place()
	if int(i) >= tasks || len(m.tasks) != tasks {
		t.Errorf("a new task goes to place %d of %d", i, tasks)
	}
}

// A use far below the peers' is a deficit only if the task is behind them.
func TestDeficitIsBehind(t *testing.T) {
	m := made(t, NewRegression, "")
	c := running(m, 10)
	m.gather(c.View())
	r := &m.rows[0]
	m.tasks[r.t].last = amount{100, 100}
	r.use = amount{100, 100}
	for _, v := range []struct {
		rate float64
		want Verdict
	}{{1, Alike}, {0.85, Deficit}} {
		r.rate = v.rate
		if got := m.judge(r, heddle.Memory, 400, 0.9, true); got != v.want {
			t.Errorf("a rate of %v against 0.9: %v, want %v", v.rate, got, v.want)
		}
	}
}

// A hogging task is bounded to its estimate once it has settled, and only as long as it hogs.
func TestHogsAreBounded(t *testing.T) {
	for _, options := range []string{"", "quota: true"} {
		m := made(t, NewUniform, options)
		c := running(m, 10)
		m.gather(c.View())
		r := &m.rows[0]
		s := &m.sites[r.node]
		s.used[heddle.CPU] = m.processors(r)
		r.verdict[heddle.CPU], r.est[heddle.CPU], r.factor, r.ran = Hogging, 250, 0.5, settled
		want := int64(0)
		if options != "" {
			want = 250
		}
		if got := m.bound(r); got != want {
			t.Errorf("%q: bounded to %d, want %d", options, got, want)
		}
		for name, change := range map[string]func(){
			"starts":          func() { r.ran = settled - 1 },
			"hogs no more":    func() { r.verdict[heddle.CPU] = Alike },
			"nobody is short": func() { r.factor = 1 },
			"node is idle":    func() { s.used[heddle.CPU] = 0 },
		} {
			before, sited := *r, *s
			change()
			if got := m.bound(r); got != 0 {
				t.Errorf("%q: a task that %s is bounded to %d", options, name, got)
			}
			*r, *s = before, sited
		}
	}
}

// carriedOut runs a core's next epoch and counts the steps that are carried out.
func carriedOut(c *sched.Core) (n int) {
	for _, d := range c.Step(heddle.Time(20*heddle.Second), heddle.Wake{}) {
		switch d.(type) {
		case *heddle.Resize, *heddle.Weigh:
			n++
		default: // not about a running container
		}
	}
	return n
}

func made(t testing.TB, maker policy.Maker[policy.Control], options string) *Manager {
	t.Helper()
	c, err := maker(policytest.Args(options))
	if err != nil {
		t.Fatal(err)
	}
	return c.(*Manager)
}

// BenchmarkEpoch measures one control epoch over 100,000 running tasks on 10,000 nodes. The project's limit is 200 ms.
func BenchmarkEpoch(b *testing.B) {
	for i, name := range []string{"uniform", "regression"} {
		b.Run(name, func(b *testing.B) {
			m := made(b, makers[i], "")
			c := running(m, 10_000)
			sums := make([]task, len(m.tasks))
			copy(sums, m.tasks)
			var p policy.Plan
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				copy(m.tasks, sums)
				p.Steps = p.Steps[:0]
				b.StartTimer()
				m.Run(c.View(), &p)
			}
			if each := b.Elapsed() / time.Duration(b.N); each > 200*time.Millisecond {
				b.Errorf("an epoch takes %v, more than 200 ms", each)
			}
			b.ReportMetric(float64(len(m.rows)), "tasks")
			b.ReportMetric(float64(len(p.Steps)), "steps")
		})
	}
}

// BenchmarkProfile measures recording one measurement of a task.
func BenchmarkProfile(b *testing.B) {
	m := made(b, NewRegression, "")
	c := running(m, 1000)
	v := c.View()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m.Hear(v, policy.Effect{What: policy.TaskUsage, Container: v.Container(m.tasks[i%len(m.tasks)].id)})
		i++
	}
}

// A task uses more as its weight grows: without peers or without a history, its weight stays as it is.
func TestLoneTasksKeepTheirWeight(t *testing.T) {
	for _, c := range []struct {
		count, want float64
		history     int
	}{{1, 1, 4}, {1, 1, 1}, {2, 1, 1}, {2, 2, 4}} {
		m := made(t, NewRegression, "mode: cpu")
		m.gather(running(m, 10).View())
		r := m.rows[m.byNode[m.sites[0].first]]
		m.sites[0].used[heddle.CPU] = m.processors(&r)
		r.use[heddle.CPU], r.verdict[heddle.CPU] = 200, Alike
		r.f.count, m.tasks[r.t].cpu = c.count, estimate.Line{}
		for i := range c.history {
			m.tasks[r.t].cpu.Add(float64(i), 50*float64(i+1))
		}
		m.estimate(&r)
		m.rows = []row{r}
		m.share()
		near(t, fmt.Sprint("factor of one of ", c.count, " with ", c.history, " windows"), m.rows[0].factor, c.want)
	}
}

// A task on a node that cannot weigh keeps the weight of its size, however often another one is wanted.
func TestOnlyWeightsThatAreSetCount(t *testing.T) {
	for _, c := range []struct {
		can  heddle.Caps
		want float64 // of a task of 1000
	}{{heddle.AllCaps, 2000}, {heddle.AllCaps &^ heddle.Weighs, 1000}} {
		m := made(t, NewRegression, "mode: cpu")
		core := running(m, 10)
		for n := range heddle.NodeID(10) {
			core.Step(heddle.Time(15*heddle.Second), heddle.NodeCan{Node: n, Can: c.can})
		}
		m.gather(core.View())
		m.rows[0].factor = 2
		m.rows = m.rows[:1]
		var p policy.Plan
		m.weigh(&p)
		m.gather(core.View())
		if got := m.rows[0].weight; got != c.want || len(p.Steps) != 1 {
			t.Errorf("a node that can do %v: weight %v after %d steps, want %v after 1", c.can, got, len(p.Steps), c.want)
		}
	}
}
