package ikayak_test

import (
	"testing"

	"heddle"
	"heddle/policies/ikayak"
	"heddle/policies/progress"
	"heddle/policy"
	"heddle/policy/policytest"
)

// executors returns a set with a place policy for Spark's executors.
func executors(p policy.Place) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Place[heddle.Executor] = p
	return s
}

func TestExecutor(t *testing.T) {
	maker := func(a policy.Args) (policy.Place, error) {
		rest, err := progress.New(policytest.Args(""))
		if err != nil {
			return nil, err
		}
		a.Remaining = rest
		return ikayak.NewExecutor(a)
	}
	policytest.Run(t, maker, "", executors)
}

func TestExecutorStays(t *testing.T) {
	policytest.Run(t, ikayak.NewExecutor, "stay: true", executors)
}

func TestExecutorWithoutEstimate(t *testing.T) {
	policytest.Run(t, ikayak.NewExecutor, "", func(p policy.Place) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Place[heddle.Executor], s.Place[heddle.Other] = p, p
		return s
	})
}

func TestSuspend(t *testing.T) {
	policytest.Run(t, ikayak.NewSuspend, "interval: 2\nepsilon: 0\nslack: 1", func(c policy.Control) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Control = []policy.Control{c}
		return s
	})
}

func TestSuspendOptions(t *testing.T) {
	policytest.Run(t, ikayak.NewSuspend, "interval: 2\nepsilon: 0\nslack: 1\nper_job: true\nlend_memory: 0.5", func(c policy.Control) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Control = []policy.Control{c}
		return s
	})
}

func TestSuspendFrozen(t *testing.T) {
	policytest.Run(t, ikayak.NewSuspend, "interval: 2\nepsilon: 0\nslack: 1\nfreeze: true\nlend_memory: 0.5", func(c policy.Control) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Control = []policy.Control{c}
		return s
	})
}

func TestLocal(t *testing.T) {
	policytest.Run(t, ikayak.NewLocal, "sample: 2", func(p policy.Place) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Place[heddle.Map] = p
		return s
	})
}

func TestShrink(t *testing.T) {
	policytest.Run(t, ikayak.NewShrink, "sample: 2", func(c policy.Trim) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Trim[heddle.Map] = c
		return s
	})
}

func TestFixed(t *testing.T) {
	policytest.Run(t, ikayak.NewFixed, "part: 0.4", func(c policy.Trim) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Trim[heddle.Map] = c
		return s
	})
}

func TestSpreadOut(t *testing.T) {
	for _, m := range []policy.Maker[policy.Place]{ikayak.NewSpreadOut, ikayak.NewNonSpreadOut} {
		policytest.Run(t, m, "", executors)
	}
}

func TestClient(t *testing.T) {
	policytest.Run(t, ikayak.NewClient, "applications: 2", func(g policy.Gate) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Gate[heddle.AM] = []policy.Gate{g}
		return s
	})
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"v: 0", "v: -1", "v: .nan", "v: .inf", "epsilon: -0.1", "epsilon: 1.5", "interval: 0", "interval: .nan", "slack: 2", "lend_memory: 1"} {
		if _, err := ikayak.NewSuspend(policytest.Args(o)); err == nil {
			t.Errorf("suspend took %s", o)
		}
	}
	if _, err := ikayak.NewShrink(policytest.Args("sample: -1")); err == nil {
		t.Error("shrink took sample: -1")
	}
	for _, o := range []string{"sample: -1", "least: 0", "least: 1.1"} {
		if _, err := ikayak.NewLocal(policytest.Args(o)); err == nil {
			t.Errorf("local took %s", o)
		}
	}
	for _, o := range []string{"part: 0", "part: 1.1", "part: .nan"} {
		if _, err := ikayak.NewFixed(policytest.Args(o)); err == nil {
			t.Errorf("fixed took %s", o)
		}
	}
	if _, err := ikayak.NewClient(policytest.Args("applications: 0")); err == nil {
		t.Error("client took applications: 0")
	}
}

func TestExecutorOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"patience: -1", "patience: .nan", "patience: 1e12"} {
		if _, err := ikayak.NewExecutor(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}
