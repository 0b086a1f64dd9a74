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

// Options are the scheduler's. The defaults are the paper's (V-A1), with δ free between 0 and a half, but for Patience, Prompt,
// Lend and Few.
type Options struct {
	// Theta are the upper bounds of the categories, ascending, as parts of the cluster; what demands more than
	// the last bound is in the last category. One bound makes two: SD and LD.
	Theta []float64 `yaml:"theta"`

	// Against says what θ is a part of. The paper has A_c, what is available at the moment, and then uses a fixed
	// bound in its experiments; in a full cluster A_c is 0 and every job is large. "total" is the whole
	// cluster, "available" the literal reading.
	Against string `yaml:"classify_against"`

	Delta    float64 `yaml:"delta"`     // δ at first, of each category but the last
	DeltaMin float64 `yaml:"delta_min"` // each of these keeps as much
	DeltaMax float64 `yaml:"delta_max"` // … and they have no more together
	Interval float64 `yaml:"interval"`  // seconds between adjustments, which is how far the estimate looks ahead

	// Patience is how long, in seconds, a category that waits and of which no task runs may be passed over: then
	// one container of it goes before the other's reserve. The paper has no such bound, and with δ at 0 a job
	// can wait as long as the large ones take whatever is freed. Negative: no bound.
	Patience float64 `yaml:"patience"`

	// Prompt gives room that comes free to a category that is short of it, and below DeltaMax, when the node reports it.
	// The listing looks at what is free once an interval; by then the larger category has taken what comes between.
	Prompt bool `yaml:"prompt"`

	// Serve says which jobs of the last category begin: "listed" or "order", whatever the profile's order says, with what
	// there is. As listed those of a leaf queue begin one after the other. While every category is short Alg. 3 sorts
	// them, the smallest demand first, and assigns a job what it asks for as a whole (lines 12 to 20): the first begins when all
	// that it asks for fits what the category has left. At any other time who comes queues behind, and the first begins with
	// what there is. So a large job goes before another that came when small ones waited (V-B2), and one that the reserve held
	// back begins when they have theirs (V-B1).
	// In either case a job begins when its category runs nothing else and when it was passed over for Patience: those behind
	// a first one that cannot start, for a limit of its user or for the nodes it excludes, wait no longer than that. With
	// negative Patience they do not wait for a first one for which there is room. One that asks for more than half of what
	// the category may have begins with what there is: for that much too much would be kept idle.
	Serve string `yaml:"serve"`

	// Lend says what becomes of room that neither category's next job fits into as a whole. By the listing it stays with the
	// last category ("whole"). With "part" the first small job that waits is given room for one container of it: its master
	// needs no more to begin with.
	Lend string `yaml:"lend"`

	// Few says how many containers are so few that a job which asks for no more is small whatever Theta is, unless they
	// are more than half of the cluster. A tenth of the paper's hundred containers is ten; a tenth of twelve would
	// make every job large.
	Few int `yaml:"few"`

	// Keep says when a category but the last keeps what it has too much. By the listing never: a second in which
	// no small job waits takes the whole reserve away, before any large job is short of it. What the paper tells of
	// its runs (V-B1) is otherwise: a large job delayed by the reserve while no small one waited, and later
	// small jobs that started in it. "jobs" keeps the reserve while the category has any job, running or
	// pending.
	Keep string `yaml:"keep"`

	// Cap says whom the reservation holds back: "all", as the paper has it, each category from what is reserved for
	// the others, or "last", only the jobs with the largest demands: where the order serves small jobs first
	// anyway, holding them to δ leaves room idle that they could use. With "last" Patience is each job's own too: of
	// those held back the ones that ask for small containers would else take whatever comes free below the
	// limit, and the one that asks for a large container wait for ever.
	Cap string `yaml:"cap"`

	Reserve bool `yaml:"reserve"` // false: jobs are put into categories and nothing is reserved
	Adjust  bool `yaml:"adjust"`  // false: δ stays as it is at first
	Release bool `yaml:"release"` // false: F is 0, only what is available counts, as in every mix tried it may

	EstimateOptions `yaml:",inline"`
}

// Default is the options' default; one second is the interval at which nodes report. Patience is a guard, not a part of the mechanism:
// in the experiments' mixes, with seeds that are not reported, more of it makes the mean wait shorter and costs the large job
// that pays most, as much of the one as of the other up to 150 s and beyond that twice as much, with the same mean JCT.
var Default = Options{
	Theta: []float64{0.10}, Against: total, Delta: 0.10, DeltaMin: 0, DeltaMax: 0.5, Interval: 1, Patience: 150, Prompt: true, Serve: serveListed, Lend: lendPart, Few: 3, Keep: never, Cap: capAll,
	Reserve: true, Adjust: true, EstimateOptions: DefaultEstimate,
}

// maxCategories bounds what a profile can ask for.
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

// New returns the reservation as a share. Where the profile's release estimate is dress too, it is the one
// that is used.
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
