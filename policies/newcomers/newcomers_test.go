package newcomers_test

import (
	"math"
	"testing"

	"heddle"
	"heddle/policies/newcomers"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

func put(s policy.Share) policy.Set {
	set := policytest.Base(policytest.Submitted{})
	set.Share = []policy.Share{s}
	return set
}

func TestSuite(t *testing.T) {
	policytest.Run(t, newcomers.New, "{wait: 20, most: 0.5, each: 0.3}", put)
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{
		"wait: 0", "wait: -1", "wait: .nan", "wait: 1e12", "most: -0.1", "most: 1.1", "most: .nan", "each: -0.1", "each: 1.1", "each: .nan",
		"least: -0.1", "least: 1.1", "least: .nan", "patience: 0", "patience: -1", "patience: .nan",
	} {
		if _, err := newcomers.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}

// A cluster is a core with one node of 100 GiB and 100 vcores.
type cluster struct {
	t *testing.T
	*sched.Core
	apps heddle.AppID
}

func newCluster(t *testing.T, options string) *cluster {
	t.Helper()
	s, err := newcomers.New(policytest.Args(options))
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t, sched.New(put(s)), 0}
	c.Step(0, heddle.NodeUp{Total: heddle.Of(100<<10, 100_000), Can: heddle.AllCaps})
	return c
}

// comes submits an application of which nothing is known, and has its master granted.
func (c *cluster) comes(at heddle.Time) heddle.AppID { return c.knownAs(at, heddle.Facts{}) }

// knownAs is comes for an application of which something is known.
func (c *cluster) knownAs(at heddle.Time, facts heddle.Facts) heddle.AppID {
	id := c.apps
	c.apps++
	c.Step(at, heddle.Submit{App: id, Queue: 1, Master: heddle.Of(1<<10, 1000), Facts: facts})
	c.Step(at, heddle.Heartbeat{})
	return id
}

// asks makes an application ask for the given number of maps.
func (c *cluster) asks(at heddle.Time, id heddle.AppID, maps int32) {
	c.Step(at, heddle.Ask{App: id, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, maps, heddle.Of(1<<10, 1000))}})
	c.Step(at, heddle.Heartbeat{})
}

// runs has an application come, ask for the given number of maps, and end.
func (c *cluster) runs(maps int32) {
	id := c.comes(0)
	c.asks(0, id, maps)
	c.Step(0, heddle.AppDone{App: id})
}

// gauge compares a number that the share shows with what it should be.
func (c *cluster) gauge(what, name string, want float64) {
	c.t.Helper()
	if c.GaugeWords(name) == "" {
		c.t.Errorf("nobody says what %s is", name)
	}
	got := math.NaN()
	c.Gauges(func(n string, value float64) {
		if n == name {
			got = value
		}
	})
	if !(math.Abs(got-want) <= 1e-9) {
		c.t.Errorf("%s: %s is %g, want %g", what, name, got, want)
	}
}

// An unknown application is expected to ask for as much as nine in ten of those that came lately did not exceed.
func TestUsual(t *testing.T) {
	c := newCluster(t, "{most: 1, each: 1, least: 0}")
	for range 4 {
		c.runs(5)
	}
	id := c.comes(0)
	c.gauge("after four", "newcomers.held", 0.01)
	c.Step(0, heddle.AppDone{App: id})
	for n := range int32(100) {
		c.runs(1 + n%10)
	}
	c.comes(0)
	c.gauge("after a hundred that asked for 1 to 10", "newcomers.held", 0.1)
}

// The package expects what the last run asked for first, whatever others asked for lately, or the demand if that is
// known.
func TestLastRun(t *testing.T) {
	c := newCluster(t, "{most: 1, each: 1, least: 0}")
	for range 5 {
		c.runs(7)
	}
	each := heddle.Of(1<<10, 1000)
	id := c.knownAs(0, heddle.Facts{Name: "report", Last: heddle.LastRun{First: each.Times(4), Most: each.Times(8), Containers: 8}})
	c.gauge("with a last run", "newcomers.held", 0.04)
	c.Step(0, heddle.AppDone{App: id})
	c.knownAs(0, heddle.Facts{Demand: heddle.Demand{Containers: 2, Each: each}, Last: heddle.LastRun{First: each.Times(4)}})
	c.gauge("with a demand", "newcomers.held", 0.02)
}

// Waste is counted from the first refusal until the application asks, or until its time is over.
func TestWaste(t *testing.T) {
	c := newCluster(t, "{most: 0.5, each: 1, least: 0.4}")
	at := func(seconds int) heddle.Time { return heddle.Time(seconds) * heddle.Time(heddle.Second) }
	c.asks(0, c.comes(0), 80)
	c.gauge("nobody is refused", "newcomers.waste", 0)
	c.comes(at(2))
	c.Step(at(5), heddle.Heartbeat{})
	c.gauge("everybody has what he asks for", "newcomers.waste", 0)
	c.asks(at(6), 0, 90) // 18 vcores are free, and 40 would be held back
	c.Step(at(10), heddle.Heartbeat{})
	c.gauge("4 s of 0.18", "newcomers.waste", 4*0.18/10)
	c.Step(at(12), heddle.Heartbeat{})
	c.Step(at(24), heddle.Heartbeat{})
	c.gauge("6 s of 0.18", "newcomers.waste", 6*0.18/24)
}
