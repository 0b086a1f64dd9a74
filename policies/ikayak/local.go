package ikayak

import (
	"errors"

	"heddle"
	"heddle/policy"
)

// LocalOptions are those of [Local].
type LocalOptions struct {
	Sample int `yaml:"sample"` // as of [ShrinkOptions]
	// Least is the least part of its container that a map may be offered near its data for a node farther away to be refused, whatever β
	// says: at 80 % a map near its data is still the faster one, at 60 % it is not (Fig. 6).
	Least float64 `yaml:"least"`
}

// LocalDefault goes by the paper's Fig. 6.
var LocalDefault = LocalOptions{Sample: ShrinkDefault.Sample, Least: 0.8}

// Local is the choice before Alg. 3 (section 3.3): "between allowing remote data access and allocating less resource than its demand but with
// local data access". As a place of maps that stands after another one it refuses a node without their data as long as some node with
// them has room for a map of β of the size.
type Local struct {
	maps
	o LocalOptions
}

// NewLocal returns the place.
func NewLocal(a policy.Args) (policy.Place, error) {
	o := LocalDefault
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if o.Sample < 0 || !(o.Least > 0 && o.Least <= 1) {
		return nil, errors.New("ikayak.local: sample must be 0 or more, least above 0 and at most 1")
	}
	return &Local{o: o}, nil
}

// Judge implements [policy.Place].
func (l *Local) Judge(v policy.View, k *policy.Ask, _ *policy.Node, at heddle.Locality) policy.Verdict {
	if at == heddle.NodeLocal || k.Hosts() == 0 {
		return policy.Yes
	}
	part := max(l.o.Least, l.beta(v.Now(), l.o.Sample))
	need := k.Size()
	for d := range need {
		need[d] = int64(part * float64(need[d]))
	}
	refused := false
	k.EachHost(func(id heddle.NodeID) {
		n := v.Node(id)
		refused = refused || n != nil && n.Up() && n.Booked() == nil && k.AtHost(id) > 0 && v.Fits(need, n.Free())
	})
	if refused {
		return policy.No(heddle.WaitLocal)
	}
	return policy.Yes
}

// Hears implements [policy.Listener].
func (*Local) Hears() policy.News { return policy.Granted }

// Hear implements [policy.Listener].
func (l *Local) Hear(v policy.View, e policy.Effect) { l.count(v.Now(), e.Container) }
