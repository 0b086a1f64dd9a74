// Package spread places containers by how much room nodes have: on the emptiest (spread, Spark's
// SpreadOut) or on the fullest that still fits (pack, NonSpreadOut).
//
// It knows nothing of data or of time.
package spread

import (
	"heddle"
	"heddle/policy"
)

// A Place names the emptiest node, or the fullest that fits.
type Place struct{ pack bool }

// New returns spread.
func New(a policy.Args) (policy.Place, error) { return Place{}, a.Decode(&struct{}{}) }

// NewPack returns pack.
func NewPack(a policy.Args) (policy.Place, error) { return Place{pack: true}, a.Decode(&struct{}{}) }

// Judge implements [policy.Place]; it is called for reservations only.
func (Place) Judge(policy.View, *policy.Ask, *policy.Node, heddle.Locality) policy.Verdict {
	return policy.Yes
}

// Pick implements [policy.Pick].
func (p Place) Pick(v policy.View, k *policy.Ask) (heddle.NodeID, bool) {
	if p.pack {
		return v.LeastFree(k.App(), k.Size())
	}
	return v.MostFree(k.App(), k.Size())
}
