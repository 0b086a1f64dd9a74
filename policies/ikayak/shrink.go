package ikayak

import (
	"errors"

	"heddle"
	"heddle/policy"
)

// shrink is Alg. 3. It returns how many of p maps with local data, of demand D each, a node with that much free
// accepts, and the size each gets: all at D if they fit, else as many as get at least β·D when they divide what is
// free. The listing takes the size before it lowers the number; here the size is that of the number accepted. In no
// dimension does a map get more than D, nor less than one unit of what it demands. accepted is 0 if not even one map
// gets enough. With proportional, all dimensions shrink by the part of the scarcest.
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

// ratio returns β = N_local/(N_local + N_remote) (section 3.3); it is 1 until enough maps have run.
func ratio(local, remote, enough int64) float64 {
	if n := local + remote; n >= enough && n > 0 {
		return float64(local) / float64(n)
	}
	return 1
}

// ShrinkOptions are the options of shrinking.
type ShrinkOptions struct {
	// Proportional shrinks a map by the same part in all dimensions. The paper's algorithm divides what is free, so a
	// map keeps all the memory it wants if only processors are scarce; its text has containers "proportionally" shrunk.
	Proportional bool `yaml:"proportional"`
	// Sample is how many maps must have started before β is other than 1: the ratio of a few means nothing. The paper
	// does not say.
	Sample int `yaml:"sample"`
}

// ShrinkDefault is the paper's algorithm.
var ShrinkDefault = ShrinkOptions{Sample: 20}

// A Shrink is the trim of maps: if several maps find their data on a node that has too little free for all of them,
// each gets less, so that fewer must read over the network.
type Shrink struct {
	maps
	o      ShrinkOptions
	shrunk int64
}

// maps counts the maps that have started so far, and how many of them found their data.
type maps struct {
	sofar  started
	at     heddle.Time // when a map last started
	before started     // how many had started before that
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

// Trim implements [policy.Trim]. Maps whose data is elsewhere keep their size.
func (s *Shrink) Trim(v policy.View, k *policy.Ask, n *policy.Node, room heddle.Resource) heddle.Resource {
	if at, _ := k.Nearest(n); at != heddle.NodeLocal {
		return k.Size()
	}
	p := min(k.AtHost(n.ID()), k.AtRack(n.Rack()), k.Count())
	_, size := shrink(room, k.Size(), p, s.beta(v.Now(), s.o.Sample), v.Counts, s.o.Proportional)
	return size
}

// beta returns β of the maps that started before now, so that maps accepted together are all measured by the same β.
func (m *maps) beta(now heddle.Time, enough int) float64 {
	if now == m.at {
		return m.before.ratio(enough)
	}
	return m.sofar.ratio(enough)
}

func (n started) ratio(enough int) float64 { return ratio(n.local, n.remote, int64(enough)) }

// Floor implements [policy.Trim]: no map gets less than β of its demand.
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

// count counts a container if it is a map, and reports whether it is one that finds its data. Maps that may run
// anywhere, because the location of their data is unknown or because they failed before, say nothing about locality.
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

// Gauges implements [policy.Gauged]: it emits β, and how many maps were shrunk so far.
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

// FixedOptions are the options of [Fixed].
type FixedOptions struct {
	Part float64 `yaml:"part"` // of what is asked for, above 0, at most 1
}

// Fixed is the trim of the paper's study of map variants (Fig. 6): every container gets the same part of what it asks
// for.
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
