package adaptcont

import (
	"math/rand/v2"

	"heddle"
	"heddle/exp"
	"heddle/policy"
)

// most is the number of unit waves in the 250 workers.
const most = 3

// turned gives the masters of wide waves what those of narrow waves should have, and the other way round.
type turned struct {
	rule policy.Size
	policy.Listener
}

// Size implements [policy.Size].
func (t turned) Size(v policy.View, a *policy.App, k heddle.Kind, asked heddle.Resource) heddle.Resource {
	size := t.rule.Size(v, a, k, asked)
	if k != heddle.AM {
		return size
	}
	return steps(most + 1 - size[heddle.Memory]/256)
}

// drawn gives masters a size that is unrelated to their jobs.
type drawn struct{ seed uint64 }

// Size implements [policy.Size].
func (d drawn) Size(_ policy.View, a *policy.App, k heddle.Kind, asked heddle.Resource) heddle.Resource {
	if k != heddle.AM {
		return asked
	}
	return steps(1 + rand.New(rand.NewPCG(d.seed, 0xc4a7ce<<32|uint64(a.ID()))).Int64N(most))
}

// steps returns the size of a master with so many steps of the paper's rule.
func steps(k int64) heddle.Resource { return heddle.Of(256*k, 1000*((k+1)/2)) }

// mutations returns mistakes in Dynamic that must lose what depends on it, for each experiment that has such figures.
func mutations(loses ...string) []exp.Mutation {
	of := func(name string, arm func(name, scheduler string) exp.Arm) exp.Mutation {
		m := exp.Mutation{Name: name, Loses: loses}
		for _, s := range schedulers {
			m.Arms = append(m.Arms, arm(s[1]+", Dynamic", s[0]))
		}
		return m
	}
	// prepared replaces Dynamic's policy by another one, and resizes nothing.
	prepared := func(instead func(seed uint64, s policy.Size) policy.Size) func(name, scheduler string) exp.Arm {
		return func(name, scheduler string) exp.Arm {
			a := dynamic(name, scheduler, "feedback: false")
			a.Prepare = func(seed uint64, set *policy.Set) {
				set.Size[heddle.AM], set.Control = instead(seed, set.Size[heddle.AM]), nil
			}
			return a
		}
	}
	return []exp.Mutation{
		of("rule off: every master gets what it asks for", func(name, s string) exp.Arm { return arm(name, s, "") }),
		of("rule off: the smallest master for every job", func(name, s string) exp.Arm { return oneSize(name, s, 256) }),
		of("constant estimate: every wave counts as one of 150", func(name, s string) exp.Arm { return oneSize(name, s, 512) }),
		of("sign flipped: the widest wave has the smallest master", prepared(func(_ uint64, s policy.Size) policy.Size { return turned{s, s.(policy.Listener)} })),
		of("sizes drawn at random", prepared(func(seed uint64, _ policy.Size) policy.Size { return drawn{seed} })),
	}
}
