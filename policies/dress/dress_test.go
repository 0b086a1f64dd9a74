package dress_test

import (
	"math"
	"strings"
	"testing"

	"heddle"
	"heddle/cluster"
	"heddle/policies/dress"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

func put(s policy.Share) policy.Set {
	set := policytest.Base(policytest.Submitted{})
	set.Share = []policy.Share{s}
	return set
}

// ordered returns put's set with the order by category.
func ordered(s policy.Share) policy.Set {
	set := put(s)
	o, err := dress.Within(policytest.Args(""), policytest.Submitted{})
	if err == nil {
		err = o.Of(set.Share)
	}
	if err != nil {
		panic(err)
	}
	set.Lanes[0].Order = o
	return set
}

// eager reserves every full node, so that the test covers reservations too.
type eager struct{}

func (eager) Reserve(policy.View, *policy.Ask, *policy.Node) bool    { return true }
func (eager) Beside(policy.View, *policy.Ask) bool                   { return true }
func (eager) Keep(policy.View, *policy.Ask, *policy.Node) bool       { return true }
func (eager) Floor(policy.View, heddle.Resource) (r heddle.Resource) { return r }

func TestShare(t *testing.T) {
	for _, o := range []string{
		"",
		"{theta: [0.3], delta: 0.3, interval: 0.5, window: 2, t_s: 0, t_e: 0}",
		"{theta: [0.2, 0.5], delta: 0.2, delta_min: 0.05, delta_max: 0.9, classify_against: available}",
		"{theta: [0.5], adjust: false, delta: 0.5, patience: -1}",
		"{theta: [0.3], release: false, delta_max: 1, keep: jobs, patience: 0}",
		"{theta: [0.3], release: true, estimate: cumulative, gamma: all, t_s: 0, t_e: 0, window: 1}",
		"{theta: [0.3], few: 0, prompt: false, serve: order, release: true}",
		"{theta: [0.3], lend: whole}",
	} {
		t.Run(o, func(t *testing.T) { policytest.Run(t, dress.New, o, put) })
	}
	for _, o := range []string{"{theta: [0.3]}", "{theta: [0.2, 0.5], delta: 0.2, classify_against: available}"} {
		t.Run("ordered "+o, func(t *testing.T) { policytest.Run(t, dress.New, o, ordered) })
	}
	t.Run("booking", func(t *testing.T) {
		policytest.Run(t, dress.New, "{theta: [0.3], delta: 0.3, patience: 1}", func(s policy.Share) policy.Set {
			set := put(s)
			set.Book = eager{}
			return set
		})
	})
}

func TestRelease(t *testing.T) {
	policytest.Run(t, dress.NewRelease, "{t_s: 0, t_e: 0, window: 2}", func(r policy.Release) policy.Set {
		set := policytest.Base(policytest.Submitted{})
		set.Release = r
		return set
	})
}

// If the profile's estimate is dress's, the share uses it, and both get each event once.
func TestOneEstimatorForBoth(t *testing.T) {
	maker := func(a policy.Args) (policy.Set, error) {
		r, err := dress.NewRelease(policytest.Args("{t_s: 0, t_e: 0, window: 2}"))
		if err != nil {
			return policy.Set{}, err
		}
		a.Release = r
		s, err := dress.New(a)
		if err != nil {
			return policy.Set{}, err
		}
		set := put(s)
		set.Release = r
		return set, nil
	}
	policytest.Run(t, maker, "{theta: [0.3]}", func(s policy.Set) policy.Set { return s })
	if _, err := maker(policytest.Args("{window: 5}")); err == nil || !strings.Contains(err.Error(), "belong there") {
		t.Errorf("options of the estimate beside the profile's own were taken: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for o, want := range map[string]string{
		"theta: []":              "theta must list",
		"theta: [0.2, 0.2]":      "theta must ascend",
		"theta: [0]":             "theta must ascend",
		"theta: [1]":             "theta must ascend",
		"theta: [.nan]":          "theta must ascend",
		"classify_against: free": "total or available",
		"keep: always":           "never or jobs",
		"serve: smallest":        "listed or order",
		"few: -1":                "few must",
		"delta_min: -0.1":        "delta_min and delta_max",
		"delta_max: 1.1":         "delta_min and delta_max",
		"delta_max: .nan":        "delta_min and delta_max",
		"{theta: [0.1, 0.2, 0.3], delta_min: 0.2}": "delta_min and delta_max",
		"delta: 0.6":                   "delta must not",
		"{delta: 0.1, delta_min: 0.2}": "delta must not",
		"delta: .nan":                  "delta must not",
		"interval: 0":                  "interval must",
		"interval: .inf":               "interval must",
		"patience: .nan":               "patience must",
		"patience: 1e9":                "patience must",
		"window: 0":                    "window must",
		"window: .nan":                 "window must",
		"t_s: -1":                      "t_s and t_e",
		"t_e: 2000":                    "t_e must",
		"estimate: mean":               "window or cumulative",
		"gamma: first":                 "window or all",
	} {
		if _, err := dress.New(policytest.Args(o)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %q", o, err, want)
		}
	}
	if _, err := dress.NewRelease(policytest.Args("window: -1")); err == nil {
		t.Error("an estimate took a negative window")
	}
}

// Eight tasks start and end within two seconds of each other. After six ends the estimate expects the rest: c·h/Δps of
// them a second, and no more than still run. In a cluster of nine containers the paper's five of a hundred are one: two
// ends are enough.
func TestEstimateFromEvents(t *testing.T) {
	for _, of := range []struct {
		containers int64
		expects    []float64 // by the number of ends so far
	}{
		{101, []float64{0, 0, 0, 0, 0, 0, 2, 1}},
		{9, []float64{0, 0, 32.0 / 7, 32.0 / 7, 4, 3, 2, 1}}, // 8/(7/4) a second, as long as that many run
	} {
		r, err := dress.NewRelease(policytest.Args(""))
		if err != nil {
			t.Fatal(err)
		}
		set := policytest.Base(policytest.Submitted{})
		set.Release = r
		c := sched.New(set)
		c.Step(0, heddle.NodeUp{Total: heddle.Of(of.containers<<10, 1000*of.containers), Can: heddle.AllCaps})
		c.Step(0, heddle.Submit{Queue: 1, Master: heddle.Of(1024, 1000)})
		c.Step(0, heddle.Heartbeat{})
		c.Step(0, heddle.Ask{Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 8, heddle.Of(1024, 1000))}})
		c.Step(0, heddle.Heartbeat{})
		c.Step(0, heddle.Acquire{})
		second := func(s float64) heddle.Time { return heddle.Time(heddle.Seconds(s)) }
		for i := range 8 { // Δps = 7/4 s
			c.Step(second(float64(i)/4), heddle.Started{Container: heddle.ContainerID(2 + i)})
		}
		expects := func() float64 { return r.Release(c.View(), c.View().App(0), heddle.Second) }
		for i, want := range of.expects {
			if got := expects(); math.Abs(got-want) > 1e-9 {
				t.Errorf("of %d containers, after %d ends %v are expected, want %v", of.containers, i, got, want)
			}
			if i < 7 {
				c.Step(second(30+float64(i)/10), heddle.Exit{Container: heddle.ContainerID(2 + i)})
			}
		}
		if x := c.View().Container(9); x.State() != cluster.Running {
			t.Fatalf("the last task is %v", x.State())
		}
		c.Step(second(31.75), heddle.Wake{}) // γ + Δps is over: the last task is a trailing task
		if got := expects(); got != 0 {
			t.Errorf("%v are expected of a trailing task", got)
		}
	}
}
