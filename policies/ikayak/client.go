package ikayak

import (
	"errors"
	"slices"
	"strconv"

	"heddle"
	"heddle/policy"
)

// ClientOptions are the options of the YARN-client baseline.
type ClientOptions struct {
	Applications int `yaml:"applications"` // Spark applications at a time, 1 or more
}

// A Client is the paper's YARN-client deployment as a gate for masters: one Spark application runs at a time, in order
// of submission. The others wait, as if their client had not submitted them yet. It does not hold other applications
// back.
type Client struct {
	most  int
	alive []heddle.AppID // Spark applications: those that were found running, then the others in order of submission
	found int            // … how many were found running
	woken []heddle.AppID
}

// NewClient returns the gate.
func NewClient(a policy.Args) (policy.Gate, error) {
	o := ClientOptions{Applications: 1}
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if o.Applications < 1 {
		return nil, errors.New("ikayak.client: applications must be 1 or more")
	}
	return &Client{most: o.Applications}, nil
}

// Open implements [policy.Gate].
func (c *Client) Open(_ policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	if c.Holds(a) {
		return policy.No(heddle.AppLimit)
	}
	return policy.Yes
}

// Holds implements [policy.Holder].
func (c *Client) Holds(a *policy.App) bool {
	return a.Framework() == heddle.Spark && !slices.Contains(c.running(), a.ID())
}

// Limit implements [policy.Limiter].
func (c *Client) Limit(_ policy.View, k *policy.Ask, _ heddle.Why) (policy.Limit, bool) {
	run := c.running()
	return policy.Limit{
		What: "Spark applications that run", Queue: heddle.NoQueue, Counted: true, MostN: c.most, UsedN: len(run),
		By:    []string{"applications = " + strconv.Itoa(c.most)},
		Place: slices.Index(c.alive, k.App().ID()) - len(run) + 1, Line: len(c.alive) - len(run),
		Holds: func(a *policy.App) (heddle.Resource, bool) { return a.Used(), slices.Contains(run, a.ID()) },
	}, true
}

// running returns the applications whose turn it is.
func (c *Client) running() []heddle.AppID { return c.alive[:min(c.most, len(c.alive))] }

// Hears implements [policy.Listener].
func (*Client) Hears() policy.News { return policy.AppAdded | policy.AppDone | policy.Adopted }

// Hear implements [policy.Listener].
func (c *Client) Hear(_ policy.View, e policy.Effect) {
	if e.App.Framework() != heddle.Spark {
		return
	}
	id := e.App.ID()
	switch i := slices.Index(c.alive, id); {
	case e.What == policy.AppAdded:
		c.alive = append(c.alive, id)
	case e.What == policy.AppDone:
		c.alive = slices.Delete(c.alive, i, i+1)
		if i < c.found {
			c.found--
		}
		c.woken = append(c.woken, c.running()...)
	case i >= c.found: // it had its turn before a restart, or under another configuration
		c.alive = slices.Insert(slices.Delete(c.alive, i, i+1), c.found, id)
		c.found++
	}
}

// Woken implements [policy.Waker].
func (c *Client) Woken(_ policy.View, ids []heddle.AppID) []heddle.AppID {
	ids = append(ids, c.woken...)
	c.woken = c.woken[:0]
	return ids
}
