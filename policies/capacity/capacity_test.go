package capacity_test

import (
	"strings"
	"testing"

	"heddle"
	"heddle/policies/capacity"
	"heddle/policy"
	"heddle/policy/policytest"
)

func config() capacity.Config {
	c := capacity.Config{
		NodeLocalityDelay: 40, RackLocalityAdditional: -1, RackLocalityFullReset: true, ContinueLooking: true,
		MultipleAssignments: true, MaxAssignments: 100, MaxOffSwitch: 1, MaxApplications: 10000, GlobalQueueMaxApplication: -1,
		Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 8000),
	}
	c.Queues = []capacity.QueueConfig{{Path: "root", Parent: -1, Capacity: 1, MaxCapacity: 1}}
	for _, path := range []string{"root.a", "root.b"} {
		c.Queues = append(c.Queues, capacity.QueueConfig{
			Path: path, Capacity: 0.5, MaxCapacity: 1, MinimumUserLimit: 0.5,
			UserLimitFactor: 3, MaxAMShare: 1, MaxApplications: -1,
		})
	}
	return c
}

func put(s *capacity.Scheduler) policy.Set {
	set := policytest.Base(s)
	set.Share, set.Book = []policy.Share{s}, s
	set.Gate[heddle.AM] = []policy.Gate{s}
	d := capacity.NewDelay(s.Config())
	for k := range set.Place {
		set.Place[k] = d
	}
	set.Queues = []heddle.QueueID{heddle.NoQueue, 0, 0}
	set.Beat, set.Maximum = s.Config().Beat(), s.Config().Maximum
	return set
}

func maker(change func(*capacity.Config)) policy.Maker[*capacity.Scheduler] {
	return func(a policy.Args) (*capacity.Scheduler, error) {
		if err := a.Decode(&struct{}{}); err != nil {
			return nil, err
		}
		c := config()
		if change != nil {
			change(&c)
		}
		return capacity.New(c, []string{"ann", "bob"})
	}
}

func TestSuite(t *testing.T) { policytest.Run(t, maker(nil), "", put) }

func TestSuiteWithWeights(t *testing.T) {
	policytest.Run(t, maker(func(c *capacity.Config) {
		c.MemoryOnly, c.Queues[1].Fair, c.Queues[1].SizeBasedWeight = true, true, true
		c.Queues[1].UserWeights = map[string]float64{"bob": 2}
		c.Queues[1].Weight, c.Queues[2].Weight = 3, 1
		c.Queues[2].MaxParallelApps = 2
	}), "", put)
}

func TestSuiteWithAbsoluteQueues(t *testing.T) {
	policytest.Run(t, maker(func(c *capacity.Config) {
		c.Queues[1].Absolute, c.Queues[1].MaxAbsolute = heddle.Of(8192, 8000), heddle.Of(16384, 16000)
		c.Queues[2].Absolute, c.RackLocalityAdditional = heddle.Of(4096, 2000), 1
	}), "", put)
}

func TestTreesThatAreNone(t *testing.T) {
	for name, change := range map[string]func(*capacity.Config){
		"no queues":     func(c *capacity.Config) { c.Queues = nil },
		"no root":       func(c *capacity.Config) { c.Queues = c.Queues[1:] },
		"parent behind": func(c *capacity.Config) { c.Queues[1].Parent = 2 },
	} {
		if _, err := maker(change)(policytest.Args("")); err == nil || !strings.HasPrefix(err.Error(), "capacity: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
