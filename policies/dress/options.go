package dress

import (
	"errors"
	"strconv"

	"heddle"
	"heddle/policy"
)

// What θ is a part of, and when a category keeps its surplus.
const (
	total     = "total"
	available = "available"

	never     = "never"
	whileJobs = "jobs"

	capAll  = "all"
	capLast = "last"

	serveListed = "listed"
	serveOrder  = "order"

	lendWhole = "whole"
	lendPart  = "part"
)

// Options are the scheduler's options. The defaults are the paper's (V-A1), with δ free between 0 and a half, except
// for Patience, Prompt, Lend and Few.
type Options struct {
	// Theta lists the upper bounds of the categories, ascending, as parts of the cluster. A job that demands more than
	// the last bound is in the last category. One bound makes two categories: SD and LD.
	Theta []float64 `yaml:"theta"`

	// Against says what θ is a part of. The paper uses A_c, what is available at the moment, and then a fixed bound in
	// its experiments; in a full cluster A_c is 0 and every job is large. "total" is the whole cluster, "available" the
	// literal reading.
	Against string `yaml:"classify_against"`

	Delta    float64 `yaml:"delta"`     // initial δ of each category but the last
	DeltaMin float64 `yaml:"delta_min"` // the least δ of each of these
	DeltaMax float64 `yaml:"delta_max"` // … and the most of them together
	Interval float64 `yaml:"interval"`  // seconds between adjustments, which is also how far the estimate looks ahead

	// Patience is how long, in seconds, a category that waits and has no running task may be passed over. After that,
	// one of its containers takes precedence over the other category's reserve. The paper has no such bound, and with δ
	// at 0 a job can wait as long as the large ones take whatever is freed. It is also how long a job whose master runs,
	// and asks for nothing, counts as waiting for what it is expected to ask for. Negative: no bound.
	Patience float64 `yaml:"patience"`

	// Prompt gives room that comes free to a category that is short of it, and below DeltaMax, as soon as the node
	// reports it. The listing looks at what is free once an interval; by then the larger category has taken what comes
	// free in between.
	Prompt bool `yaml:"prompt"`

	// Serve says which jobs of the last category begin: "listed", or "order", which follows the profile's order with
	// the room there is. With "listed", the jobs of a leaf queue begin one after the other. While every category is
	// short, Alg. 3 sorts them, the smallest demand first, and assigns a job everything it asks for as a whole (lines
	// 12 to 20): the first one begins when all that it asks for fits what the category has left. At any other time a
	// new job goes to the end of the line, and the first one begins with the room there is. So a large job goes before
	// another that came while small ones waited (V-B2), and one that the reserve held back begins when the small ones
	// have theirs (V-B1).
	// In either case a job begins if its category runs nothing else, or if it was passed over for Patience: the jobs
	// behind a first one that cannot start, because of a limit of its user or the nodes it excludes, wait no longer
	// than that. With negative Patience they do not wait for a first one for which there is room. A job that asks for
	// more than half of what the category may have begins with the room there is, since waiting for that much would
	// keep too much idle.
	Serve string `yaml:"serve"`

	// Lend says what happens to room that is too small for the whole next job of either category. By the listing it
	// stays with the last category ("whole"). With "part", the first small job that waits gets room for one container:
	// its master needs no more to begin with.
	Lend string `yaml:"lend"`

	// Few is the number of containers up to which a job is small whatever Theta is, unless they are more than half of
	// the cluster. A tenth of the paper's hundred containers is ten; a tenth of twelve would make every job large.
	Few int `yaml:"few"`

	// Keep says when a category other than the last keeps its surplus. By the listing it never does: a second in which
	// no small job waits takes the whole reserve away, before any large job is short of it. The paper's account of its
	// runs (V-B1) differs: the reserve delayed a large job while no small one waited, and later small jobs started in
	// it. "jobs" keeps the reserve while the category has any job, running or pending.
	Keep string `yaml:"keep"`

	// Cap says which jobs the reservation holds back. With "all", as in the paper, it holds each category back from
	// what is reserved for the others. With "last", it holds back only the jobs with the largest demands: if the order
	// serves small jobs first anyway, holding them to δ leaves room idle that they could use. With "last", Patience
	// also applies to each job: otherwise, of the jobs held back, those that ask for small containers would take
	// whatever comes free below the limit, and the one that asks for a large container would wait for ever.
	Cap string `yaml:"cap"`

	Reserve bool `yaml:"reserve"` // false: jobs are put into categories, but nothing is reserved
	Adjust  bool `yaml:"adjust"`  // false: δ keeps its initial value
	Release bool `yaml:"release"` // false: F is 0 and only what is available counts, which is enough in every mix tried

	EstimateOptions `yaml:",inline"`
}

// Default holds the default options. One second is the interval at which nodes report. Patience is a guard, not a part
// of the mechanism. In the experiments' mixes, with seeds that are not reported, more patience shortens the mean wait
// and costs the large job that pays most: up to 150 s the cost equals the gain, and beyond that it is twice as much,
// with the same mean JCT.
var Default = Options{
	Theta: []float64{0.10}, Against: total, Delta: 0.10, DeltaMin: 0, DeltaMax: 0.5, Interval: 1, Patience: 150, Prompt: true, Serve: serveListed, Lend: lendPart, Few: 3, Keep: never, Cap: capAll,
	Reserve: true, Adjust: true, EstimateOptions: DefaultEstimate,
}

// maxCategories limits the number of categories of a profile.
const maxCategories = 16

func (o *Options) check() error {
	if n := len(o.Theta); n == 0 || n >= maxCategories {
		return errors.New("dress: theta must list 1 to " + strconv.Itoa(maxCategories-1) + " bounds")
	}
	least := 0.0
	for _, t := range o.Theta {
		if !(t > least && t < 1) {
			return errors.New("dress: theta must ascend between 0 and 1, both excluded")
		}
		least = t
	}
	n := float64(len(o.Theta))
	switch {
	case o.Against != total && o.Against != available:
		return errors.New("dress: classify_against must be total or available, not " + o.Against)
	case !(o.DeltaMin >= 0 && o.DeltaMax <= 1 && o.DeltaMin*n <= o.DeltaMax):
		return errors.New("dress: delta_min and delta_max must lie between 0 and 1, and delta_min times the categories but the last must not be above delta_max")
	case !(o.Delta >= o.DeltaMin && o.Delta*n <= o.DeltaMax):
		return errors.New("dress: delta must not be below delta_min, nor, times the categories but the last, above delta_max")
	case !(o.Interval >= 0.001 && o.Interval <= 86400):
		return errors.New("dress: interval must be 0.001 to 86400 s")
	case o.Few < 0 || o.Few > 1000:
		return errors.New("dress: few must be 0 to 1000 containers")
	case o.Keep != never && o.Keep != whileJobs:
		return errors.New("dress: keep must be never or jobs, not " + o.Keep)
	case o.Serve != serveListed && o.Serve != serveOrder:
		return errors.New("dress: serve must be listed or order, not " + o.Serve)
	case o.Lend != lendPart && o.Lend != lendWhole:
		return errors.New("dress: lend must be part or whole, not " + o.Lend)
	case o.Cap != capAll && o.Cap != capLast:
		return errors.New("dress: cap must be all or last, not " + o.Cap)
	case !(o.Patience <= 86400):
		return errors.New("dress: patience must be 86400 s at most, or negative for none")
	}
	return o.EstimateOptions.check()
}

// New returns the reservation as a share. If the profile's release estimate is dress too, the share uses that estimate.
func New(a policy.Args) (policy.Share, error) {
	o := Default
	o.Theta = nil // a list in the profile replaces the default's
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if o.Theta == nil {
		o.Theta = Default.Theta
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Scheduler{o: o, cats: make([]category, len(o.Theta)+1), delta: make([]float64, len(o.Theta)+1), lines: map[heddle.QueueID][]heddle.AppID{}, byLeaf: map[heddle.QueueID]*leaf{}}
	last := len(o.Theta)
	s.delta[last] = 1
	for k := range last {
		s.delta[k] = o.Delta
		s.delta[last] -= o.Delta
	}
	if e, ok := a.Release.(*Estimator); ok {
		if o.EstimateOptions != DefaultEstimate {
			return nil, errors.New("dress: the profile's release estimate is dress: its options belong there, not to the share")
		}
		s.est = e
	} else {
		s.est, s.alone = newEstimator(o.EstimateOptions), true
	}
	return s, nil
}
