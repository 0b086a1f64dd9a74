package ikayak

import (
	"errors"

	"heddle"
	"heddle/policy"
)

// shrink is Alg. 3: how many of p maps with local data, of demand D each, a node with so much free accepts,
// and the size each is given: all at D if they fit, else as many as get at least β·D when they divide what
// is free. The listing takes the size before it lowers the number; it is that of the number accepted here. In
// no dimension is a map given more than D, nor less than one unit of what it demands. accepted is 0 where
// not even one map gets enough. With proportional all dimensions are shrunk by the part of the scarcest.
func shrink(free, d heddle.Resource, p int, beta float64, counts func(heddle.Dim) bool, proportional bool) (accepted int, size heddle.Resource) {
	for ; p > 0; p-- {
		part := 1.0
		size = d
		for i := range d {
			if !counts(heddle.Dim(i)) || d[i] == 0 {
				continue
			}
			size[i] = min(d[i], free[i]/int64(p))
			part = min(part, float64(size[i])/float64(d[i]))
		}
		if part < beta || part <= 0 {
			continue
		}
		if proportional {
			for i := range d {
				size[i] = max(min(d[i], 1), int64(part*float64(d[i])))
			}
		}
		return p, size
	}
	return 0, d
}

// ratio is β = N_local/(N_local + N_remote) (section 3.3): 1 until enough maps ran to say.
func ratio(local, remote, enough int64) float64 {
	if n := local + remote; n >= enough && n > 0 {
		return float64(local) / float64(n)
	}
	return 1
}

// ShrinkOptions are the shrinking's.
type ShrinkOptions struct {
	// Proportional shrinks a map in all dimensions alike. The paper's algorithm divides what is free, which
	// leaves a map all the memory it wants where only processors are scarce; its text has containers
	// "proportionally" shrunk.
	Proportional bool `yaml:"proportional"`
	// Sample is how many maps must have started before β is other than 1: shares of a few mean nothing.
	// The paper does not say.
	Sample int `yaml:"sample"`
}

// ShrinkDefault is the paper's algorithm.
var ShrinkDefault = ShrinkOptions{Sample: 20}

// A Shrink is the Trim of maps: where several maps find their data on a node that has too little free for all
// of them, each is given less, so that fewer must read over the network.
type Shrink struct {
	maps
	o      ShrinkOptions
	shrunk int64
}

// maps are those that started so far, and how many of them found their data.
type maps struct {
	sofar  started
	at     heddle.Time // when a map last started
	before started     // how many had before that
}

// started counts maps.
type started struct{ local, remote int64 }

// NewShrink returns the trim.
func NewShrink(a policy.Args) (policy.Trim, error) {
	o := ShrinkDefault
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if o.Sample < 0 {
		return nil, errors.New("ikayak.shrink: sample must be 0 or more")
	}
	return &Shrink{o: o}, nil
}

// Trim implements [policy.Trim]. Maps whose data lies elsewhere are left as they are.
func (s *Shrink) Trim(v policy.View, k *policy.Ask, n *policy.Node, room heddle.Resource) heddle.Resource {
	if at, _ := k.Nearest(n); at != heddle.NodeLocal {
		return k.Size()
	}
	p := min(k.AtHost(n.ID()), k.AtRack(n.Rack()), k.Count())
	_, size := shrink(room, k.Size(), p, s.beta(v.Now(), s.o.Sample), v.Counts, s.o.Proportional)
	return size
}

// beta is β of the maps that started before now: those accepted together are all measured by the same β.
func (m *maps) beta(now heddle.Time, enough int) float64 {
	if now == m.at {
		return m.before.ratio(enough)
	}
	return m.sofar.ratio(enough)
}

func (n started) ratio(enough int) float64 { return ratio(n.local, n.remote, int64(enough)) }

// Floor implements [policy.Trim]: no map is given less than β of its demand.
func (s *Shrink) Floor(smallest heddle.Resource) heddle.Resource {
	b := min(s.before.ratio(s.o.Sample), s.sofar.ratio(s.o.Sample))
	for d, n := range smallest {
		if n > 0 {
			smallest[d] = max(1, int64(b*float64(n)))
		}
	}
	return smallest
}

// Needs implements [policy.Needer].
func (*Shrink) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Peaks: true}, Can: heddle.Limits}
}

// Hears implements [policy.Listener].
func (s *Shrink) Hears() policy.News { return policy.Granted }

// Hear implements [policy.Listener]: it counts where maps start.
func (s *Shrink) Hear(v policy.View, e policy.Effect) {
	if s.count(v.Now(), e.Container) && e.Container.Limit() != e.Container.Told() {
		s.shrunk++
	}
}

// count counts a container if it is a map, and says whether it is one that finds its data. Maps that may run anywhere, because nobody
// knows where their data lies or because they failed before, say nothing of locality.
func (m *maps) count(now heddle.Time, x *policy.Container) (local bool) {
	if x.Kind() != heddle.Map {
		return false
	}
	if now != m.at {
		m.before, m.at = m.sofar, now
	}
	switch {
	case x.At() == heddle.NodeLocal:
		m.sofar.local++
		return true
	case x.At() == heddle.RackLocal || x.Ask().Places() > 1:
		m.sofar.remote++
	}
	return false
}

// Gauges implements [policy.Gauged]: β, and how many maps were shrunk so far.
func (s *Shrink) Gauges(_ policy.View, emit func(name string, value float64)) {
	emit("ikayak.beta", s.sofar.ratio(s.o.Sample))
	emit("ikayak.shrunk", float64(s.shrunk))
}

// GaugeWords implements [policy.Gauged].
func (s *Shrink) GaugeWords(name string) string {
	switch name {
	case "ikayak.beta":
		return "β: the part of the maps so far that ran on a node with their data, and the least part of its container that a shrunk map gets."
	case "ikayak.shrunk":
		return "Maps whose containers iKayak made smaller so far, so that more of them fit on the nodes that hold their data."
	}
	return ""
}

// FixedOptions are those of [Fixed].
type FixedOptions struct {
	Part float64 `yaml:"part"` // of what is asked for, above 0, at most 1
}

// Fixed is the Trim of the paper's study of map variants (Fig. 6): everything is given the same part of
// what it asks for.
type Fixed struct{ part float64 }

// NewFixed returns the trim.
func NewFixed(a policy.Args) (policy.Trim, error) {
	o := FixedOptions{Part: 1}
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if !(o.Part > 0 && o.Part <= 1) {
		return nil, errors.New("ikayak.fixed: part must be above 0 and at most 1")
	}
	return Fixed{o.Part}, nil
}

// Trim implements [policy.Trim].
func (f Fixed) Trim(_ policy.View, k *policy.Ask, _ *policy.Node, _ heddle.Resource) heddle.Resource {
	return f.of(k.Size())
}

// Needs implements [policy.Needer].
func (Fixed) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Peaks: true}, Can: heddle.Limits}
}

// Floor implements [policy.Trim].
func (f Fixed) Floor(smallest heddle.Resource) heddle.Resource { return f.of(smallest) }

func (f Fixed) of(r heddle.Resource) heddle.Resource {
	for d, n := range r {
		if n > 0 {
			r[d] = max(1, int64(f.part*float64(n)))
		}
	}
	return r
}
