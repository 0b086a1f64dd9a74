package coupling

import (
	"heddle"
	"heddle/exp"
	policies "heddle/policies/coupling"
	"heddle/policy"
)

// lagMutations are mistakes in Alg. 1: a job may launch reduces whatever its mismatch; while it is below 0; and from its first
// map on, since a threshold far above any number of reduces makes δ the same, 0, for all.
func lagMutations(loses ...string) []exp.Mutation {
	const all = "{coupling.mismatch: {threshold: 1000000}}"
	off := arm(coupling, "coupling", order("{slots: {kind: reduce}}"), "gate.reduce=open")
	sign := arm(coupling, "coupling")
	sign.Prepare = turnLag
	constant := arm(coupling, "coupling", order(all), "gate.reduce="+all)
	return []exp.Mutation{
		{Name: "no mismatch: reduces start when they like", Arms: []exp.Arm{off}, Loses: loses},
		{Name: "mismatch with the sign turned", Arms: []exp.Arm{sign}, Loses: loses},
		{Name: "δ = 0 for every job", Arms: []exp.Arm{constant}, Loses: loses},
	}
}

// chanceMutations are mistakes in Alg. 3: a map starts where chance denies it, and the other way round; or β counts for
// nothing.
func chanceMutations(loses ...string) []exp.Mutation {
	turned, same := fixed(), fixed()
	for i := range turned {
		turned[i].Prepare = turnPeek
		same[i].Set = []string{"place.map={coupling.peek: {slots: 4, beta: 0.3}}"}
	}
	return []exp.Mutation{
		{Name: "1 − p in place of p", Arms: turned, Loses: loses},
		{Name: "β = 0.3 whatever it is to be", Arms: same, Loses: loses},
	}
}

// A turnedLag opens where Alg. 1 does not, as long as maps are pending.
type turnedLag struct{ *policies.Lag }

func (t turnedLag) Open(v policy.View, a *policy.App, k heddle.Kind) policy.Verdict {
	open := t.Lag.Open(v, a, k).OK()
	if a.Waiting(heddle.Map) > 0 {
		open = !open
	}
	if open {
		return policy.Yes
	}
	return policy.No(heddle.GateClosed)
}

func turnLag(set *policy.Set) {
	for i, g := range set.Gate[heddle.Reduce] {
		if lag, ok := g.(*policies.Lag); ok {
			set.Gate[heddle.Reduce][i] = turnedLag{lag}
		}
	}
}

// A turnedPeek starts maps without local data where Alg. 3 does not.
type turnedPeek struct{ *policies.Peek }

func (t turnedPeek) Judge(v policy.View, k *policy.Ask, n *policy.Node, at heddle.Locality) policy.Verdict {
	is := t.Peek.Judge(v, k, n, at)
	switch {
	case at == heddle.NodeLocal || k.Places() == 1:
		return is
	case is.OK():
		return policy.No(heddle.WaitLocal)
	}
	return policy.Yes
}

func turnPeek(set *policy.Set) {
	if p, ok := set.Place[heddle.Map].(*policies.Peek); ok {
		set.Place[heddle.Map] = turnedPeek{p}
	}
}
