package coupling

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"

	"heddle"
	"heddle/policy"
)

// Progress is the input of Alg. 1: how many of a job's maps and reduces are in each state.
type Progress struct {
	DesiredMaps, FinishedMaps, PendingMaps                          int
	DesiredReduces, FinishedReduces, RunningReduces, PendingReduces int
}

// Delta returns δ, the fraction of a job's maps by whose end all R reduces should have been launched:
// 1 − exp(−R/threshold).
//
// Reference: Alg. 1, line 3.
func Delta(R int, threshold float64) float64 { return -math.Expm1(-float64(R) / threshold) }

// DeltaByOutput raises δ for a job with little intermediate data. The paper says only that less data imply a larger δ.
// ρ is the bytes of map output for each byte of input: at 1 and above δ is unchanged, at 0 it is 1, and between them
// 1 − δ is in proportion to ρ.
//
// Reference: Section II-A, the paragraph on Alg. 1.
func DeltaByOutput(δ, ρ float64) float64 { return 1 - (1-δ)*min(max(ρ, 0), 1) }

// Mismatch returns how far a job's reduces lag behind its maps. A job may launch a reduce while its mismatch is above
// 0; the largest goes first. Jobs whose maps have all been launched come before all others, the one with the fewest
// pending reduces first.
//
// Reference: Alg. 1.
func Mismatch(p Progress, δ float64) float64 {
	if p.PendingReduces <= 0 {
		return 0 // line 12
	}
	if p.PendingMaps <= 0 {
		return 4 + 1/float64(p.PendingReduces) // line 9
	}
	return (p.mapProgress(δ) - p.redProgress()) / float64(p.DesiredReduces) // line 7
}

// mapProgress returns how many reduces the finished maps are worth.
//
// Reference: Alg. 1, lines 4 and 5.
func (p Progress) mapProgress(δ float64) float64 {
	unit := δ * float64(p.DesiredMaps) / float64(p.DesiredReduces)
	return float64(p.FinishedMaps) / unit
}

// redProgress returns how many reduces there would be with one more.
//
// Reference: Alg. 1, line 6.
func (p Progress) redProgress() float64 { return float64(p.FinishedReduces + p.RunningReduces + 1) }

// Launchable returns how many reduces can be launched one after the other, each at a mismatch above 0, before another
// map ends.
func Launchable(p Progress, δ float64) int {
	switch {
	case p.PendingReduces <= 0:
		return 0
	case p.PendingMaps <= 0:
		return p.PendingReduces
	}
	lag := p.mapProgress(δ) - p.redProgress()
	if !(lag > 0) {
		return 0
	}
	return min(p.PendingReduces, int(math.Ceil(min(lag, float64(p.PendingReduces)))))
}

// MismatchOptions are the options of Alg. 1.
type MismatchOptions struct {
	// Threshold is the number of reduces for which δ = 1 − 1/e.
	Threshold float64 `yaml:"threshold"`
	// DeltaByOutput lets a job with little intermediate data launch its reduces later.
	DeltaByOutput bool `yaml:"delta_by_output"`
}

// DefaultMismatch holds the paper's options.
var DefaultMismatch = MismatchOptions{Threshold: 3}

// A Lag is Alg. 1, both as the gate for reduces and as the order of their lane.
type Lag struct {
	policy.Unsteady

	o    MismatchOptions
	salt uint64    // for ties
	of   []float64 // δ by the number of reduces, computed on first use; 0 = not yet
}

// NewGate returns the gate.
func NewGate(a policy.Args) (policy.Gate, error) { return newLag(a) }

// NewOrder returns the order.
func NewOrder(a policy.Args) (policy.Order, error) { return newLag(a) }

func newLag(a policy.Args) (*Lag, error) {
	o := DefaultMismatch
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if !(o.Threshold > 0) || o.Threshold > math.MaxInt32 {
		return nil, errors.New("coupling.mismatch: threshold must be above 0: it is the number of reduces that gives δ = 1 − 1/e")
	}
	return &Lag{o: o, salt: a.Rand.Uint64()}, nil
}

// Needs implements [policy.Needer].
func (l *Lag) Needs() policy.Needs {
	return policy.Needs{
		Feeds:  policy.Feeds{Output: l.o.DeltaByOutput, Sizes: true},
		Option: "delta_by_output",
	}
}

// Open implements [policy.Gate].
func (l *Lag) Open(_ policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	p := progress(a)
	if Launchable(p, l.delta(a, p)) > 0 {
		return policy.Yes
	}
	return policy.No(heddle.GateClosed)
}

// Limit implements [policy.Limiter]: it says how many reduces may have started by now. They must be fewer than the
// finished maps are worth.
func (l *Lag) Limit(_ policy.View, k *policy.Ask, _ heddle.Why) (policy.Limit, bool) {
	p := progress(k.App())
	worth := min(p.mapProgress(l.delta(k.App(), p)), float64(p.DesiredReduces))
	done, note := " maps done", ""
	if unknown(k.App()) {
		done = " maps known to be done"
		note = "What the job did before its containers were found running, and the reduces among them, do not count."
	}
	return policy.Limit{
		What: "reduces started", Of: policy.OfApp, Queue: heddle.NoQueue, Counted: true,
		MostN: max(int(math.Ceil(worth))-1, 0), UsedN: p.FinishedReduces + p.RunningReduces,
		By: []string{
			"threshold = " + strconv.FormatFloat(l.o.Threshold, 'g', -1, 64),
			strconv.Itoa(p.FinishedMaps) + " of " + strconv.Itoa(p.DesiredMaps) + done,
		},
		Note: note,
	}, true
}

// Queue implements [policy.Order]: queues keep the order in which they are listed.
func (l *Lag) Queue(policy.View, *policy.Queue) policy.Key { return policy.Key{} }

// App implements [policy.Order]: the largest mismatch comes first. Ties are broken at random, again for every reduce
// that a job launches.
func (l *Lag) App(_ policy.View, a *policy.App) policy.Key {
	const steps = 1 << 32 // a mismatch is at most 5 and at least −1/R
	p := progress(a)
	m := Mismatch(p, l.delta(a, p))
	return policy.Key{-int64(m * steps), tie(l.salt, uint64(a.ID()), uint64(p.PendingReduces))}
}

func (l *Lag) delta(a *policy.App, p Progress) float64 {
	δ := l.known(p.DesiredReduces)
	if !l.o.DeltaByOutput {
		return δ
	}
	read := float64(a.Facts().InputBytes) * float64(p.FinishedMaps) / float64(max(p.DesiredMaps, 1))
	if !(read > 0) {
		return δ
	}
	written := int64(0)
	for _, o := range a.Outputs() {
		written += o.Bytes
	}
	return DeltaByOutput(δ, float64(written)/read)
}

// knows limits the number of reduces for which δ is cached.
const knows = 4096

// known is [Delta] with a cache, since every offer asks for it for each waiting job.
func (l *Lag) known(R int) float64 {
	if R < 0 || R >= knows {
		return Delta(R, l.o.Threshold)
	}
	for R >= len(l.of) {
		l.of = append(l.of, 0)
	}
	if l.of[R] == 0 {
		l.of[R] = Delta(R, l.o.Threshold)
	}
	return l.of[R]
}

// unknown reports whether it is unknown what a job had done when its containers were found running. It stays unknown
// when the master among them fails and another one is started: then only what ended well says that they were found.
func unknown(a *policy.App) bool {
	return a.Facts().Maps == 0 && a.Found(heddle.AM)+a.Found(heddle.Map)+a.Found(heddle.Reduce) > 0
}

// progress counts a job's tasks. What its facts do not say is derived from what it has asked for so far. If it is unknown
// what the job had done when its containers were found, what is left of it counts as a job: reduces that ran by then are
// not counted, as the maps for which they were started are not.
func progress(a *policy.App) Progress {
	p := Progress{
		FinishedMaps: a.Done(heddle.Map), FinishedReduces: a.Done(heddle.Reduce),
		RunningReduces: a.Running(heddle.Reduce), PendingReduces: a.Waiting(heddle.Reduce),
	}
	if unknown(a) {
		found := a.Found(heddle.Reduce)
		running := min(found, p.RunningReduces)
		p.RunningReduces -= running
		p.FinishedReduces -= found - running
	}
	begun := p.FinishedMaps + a.Running(heddle.Map)
	p.DesiredMaps = max(int(a.Facts().Maps), begun+a.Waiting(heddle.Map))
	if a.Facts().Maps > 0 {
		p.DesiredMaps = int(a.Facts().Maps)
	}
	if !a.Begun() || !a.MapsOver() { // otherwise, the maps that have not ended well never will: a job may do without them
		p.PendingMaps = max(a.Waiting(heddle.Map), p.DesiredMaps-begun)
	}
	p.DesiredReduces = int(a.Facts().Reduces)
	if p.DesiredReduces <= 0 {
		p.DesiredReduces = p.FinishedReduces + p.RunningReduces + p.PendingReduces
	}
	return p
}

// tie returns a number that looks random and is the same for the same arguments.
func tie(salt, a, b uint64) int64 {
	return int64(rand.NewPCG(salt^a, b).Uint64() >> 1)
}
