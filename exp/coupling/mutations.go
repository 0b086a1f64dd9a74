package coupling

import (
	"heddle"
	"heddle/exp"
	"heddle/policy"
)

// lagMutations returns mistakes in Alg. 1: a job may launch reduces whatever its mismatch; while it is below 0; or from
// its first map on, since a threshold far above any number of reduces makes δ the same, 0, for all.
func lagMutations(loses ...string) []exp.Mutation {
	const all = "{coupling.mismatch: {threshold: 1000000}}"
	off := arm(coupling, "coupling", sharing, "gate.reduce=open")
	sign := arm(coupling, "coupling")
	sign.Prepare = turnLag
	constant := arm(coupling, "coupling", order(all), "gate.reduce="+all)
	return []exp.Mutation{
		{Name: "no mismatch: reduces may start at any time", Arms: []exp.Arm{off}, Loses: loses},
		{Name: "mismatch with the sign flipped", Arms: []exp.Arm{sign}, Loses: loses},
		{Name: "δ = 0 for every job", Arms: []exp.Arm{constant}, Loses: loses},
	}
}

// chanceMutations returns mistakes in Alg. 3: a map starts if chance denies it, and the other way round; or β has no
// effect.
func chanceMutations(loses ...string) []exp.Mutation {
	turned, same := fixed(), fixed()
	for i := range turned {
		turned[i].Prepare = turnPeek
		same[i].Set = []string{lagging, "place.map={coupling.peek: {beta: 0.3}}"}
	}
	return []exp.Mutation{
		{Name: "1 − p in place of p", Arms: turned, Loses: loses},
		{Name: "β = 0.3 whatever the arm sets", Arms: same, Loses: loses},
	}
}

// A turnedGate opens when the gate of reduces does not, as long as maps are pending.
type turnedGate struct{ policy.Gate }

func (t turnedGate) Open(v policy.View, a *policy.App, k heddle.Kind) policy.Verdict {
	is := t.Gate.Open(v, a, k)
	switch {
	case a.Waiting(heddle.Map) == 0:
		return is
	case is.OK():
		return policy.No(heddle.GateClosed)
	}
	return policy.Yes
}

func turnLag(_ uint64, set *policy.Set) {
	for i, g := range set.Gate[heddle.Reduce] {
		set.Gate[heddle.Reduce][i] = turnedGate{g}
	}
}

// A turnedPlace starts maps without local data on nodes that the place of maps refuses.
type turnedPlace struct {
	policy.Place
	policy.Listener
}

func (t turnedPlace) Judge(v policy.View, k *policy.Ask, n *policy.Node, at heddle.Locality) policy.Verdict {
	is := t.Place.Judge(v, k, n, at)
	switch {
	case at == heddle.NodeLocal || k.Places() == 1:
		return is
	case is.OK():
		return policy.No(heddle.WaitLocal)
	}
	return policy.Yes
}

func turnPeek(_ uint64, set *policy.Set) {
	p := set.Place[heddle.Map]
	set.Place[heddle.Map] = turnedPlace{p, p.(policy.Listener)}
}

// An evenPlace refuses a node that runs more reduces than another does.
type evenPlace struct{}

// Judge implements [policy.Place].
func (evenPlace) Judge(v policy.View, _ *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	for i := range v.NodeIDs() {
		if o := v.Node(heddle.NodeID(i)); o != nil && o.Up() && o.Running(heddle.Reduce) < n.Running(heddle.Reduce) {
			return policy.No(heddle.NotPicked)
		}
	}
	return policy.Yes
}
