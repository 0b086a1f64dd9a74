package ikayak

import (
	"errors"
	"math"

	"heddle"
	"heddle/policy"
)

// LocalOptions are the options of [Local].
type LocalOptions struct {
	Sample int `yaml:"sample"` // as in [ShrinkOptions]
	// Least is the smallest part of its container for which a map near its data is preferred to a node farther away,
	// whatever β says: at 80 % a map near its data is still the faster one, at 60 % it is not (Fig. 6).
	Least float64 `yaml:"least"`
}

// LocalDefault follows the paper's Fig. 6.
var LocalDefault = LocalOptions{Sample: ShrinkDefault.Sample, Least: 0.8}

// Local is the choice before Alg. 3 (section 3.3): "between allowing remote data access and allocating less resource
// than its demand but with local data access". As a place policy for maps after another one, it refuses a node without
// their data as long as some node with the data has room for a map of β of the size, or of the whole size if no trim of
// the profile starts a smaller one.
type Local struct {
	maps
	o    LocalOptions
	trim policy.Trim // for maps; nil = none
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

// Trimmed sets the trim that maps have.
func (l *Local) Trimmed(t policy.Trim) { l.trim = t }

// Needs implements [policy.Needer]: if no map is shrunk there is no choice to make.
func (*Local) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Peaks: true}, Can: heddle.Limits}
}

// Judge implements [policy.Place].
func (l *Local) Judge(v policy.View, k *policy.Ask, _ *policy.Node, at heddle.Locality) policy.Verdict {
	if at == heddle.NodeLocal || k.Hosts() == 0 {
		return policy.Yes
	}
	need, a, refused := l.least(v, k), k.App(), false
	k.EachHost(func(id heddle.NodeID) {
		n := v.Node(id)
		refused = refused || n != nil && n.Up() && n.Booked() == nil && !a.Excludes(id) && k.AtHost(id) > 0 && v.Fits(need, n.Room(a))
	})
	if refused {
		return policy.No(heddle.WaitLocal)
	}
	return policy.Yes
}

// least returns the room for which it is worth waiting: β of the map, and no less than the trim starts a map in.
func (l *Local) least(v policy.View, k *policy.Ask) heddle.Resource {
	need := k.Size()
	if l.trim == nil {
		return need
	}
	part := max(l.o.Least, l.beta(v.Now(), l.o.Sample))
	for d, n := range need {
		need[d] = int64(math.Ceil(part * float64(n)))
	}
	return need.Max(l.trim.Floor(k.Size()))
}

// Hears implements [policy.Listener].
func (*Local) Hears() policy.News { return policy.Granted }

// Hear implements [policy.Listener].
func (l *Local) Hear(v policy.View, e policy.Effect) { l.count(v.Now(), e.Container) }
