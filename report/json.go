package report

import (
	"encoding/json"
	"io"
	"math"

	"heddle/workload"
)

// A number is a figure in JSON: null if it does not apply, and without meaningless digits.
type number float64

// MarshalJSON writes null for NaN.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(math.Round(float64(n)*1e6) / 1e6)
}

// A pair is the lowest and the highest value of a figure.
type pair [2]number

// MarshalJSON writes null if the figure does not apply.
func (p pair) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(p[0])) {
		return []byte("null"), nil
	}
	return json.Marshal([2]number(p))
}

type quantilesJSON[T any] struct {
	Mean T `json:"mean"`
	P50  T `json:"p50"`
	P95  T `json:"p95"`
	P99  T `json:"p99"`
}

// One type for means and for spreads, so that their keys cannot diverge.
type figuresJSON[T any] struct {
	Jobs         T                `json:"jobs"`
	Completed    T                `json:"completed"`
	Failed       T                `json:"failed"`
	Unfinished   T                `json:"unfinished"`
	JCT          quantilesJSON[T] `json:"jct_seconds"`
	Wait         quantilesJSON[T] `json:"wait_seconds"`
	Starvation   quantilesJSON[T] `json:"starvation_seconds"`
	Makespan     T                `json:"makespan_seconds"`
	LocalMaps    T                `json:"local_maps"`
	CPU          T                `json:"cpu_utilisation"`
	Memory       T                `json:"memory_utilisation"`
	JCTOverBound T                `json:"jct_over_bound"`
	Slowdown     quantilesJSON[T] `json:"slowdown"`
	Wall         T                `json:"wall_seconds"`
	Recorded     recordedJSON[T]  `json:"recorded_error"`
}

// recordedJSON says how far completion times are from those recorded in the trace, as fractions of the latter.
type recordedJSON[T any] struct {
	P50 T `json:"p50"`
	P95 T `json:"p95"`
}

// historyJSON is a job whose completion time the trace records, with the simulated time as the mean over the seeds.
type historyJSON struct {
	Job       string `json:"job"`
	Recorded  number `json:"recorded_seconds"`
	Predicted number `json:"predicted_seconds"`
}

// aloneJSON is a job's completion time with the cluster to itself, the mean over the seeds.
type aloneJSON struct {
	Job     string `json:"job"`
	Seconds number `json:"seconds"`
}

// clairvoyantJSON is the result of a profile with an order that knows what each job still needs.
type clairvoyantJSON struct {
	Profile   string                `json:"profile"`
	Completed number                `json:"completed"`
	JCT       quantilesJSON[number] `json:"jct_seconds"`
}

// failureJSON is a job that did not succeed.
type failureJSON struct {
	Seed  uint64 `json:"seed"`
	Job   string `json:"job"`
	State string `json:"state"`
	Why   string `json:"why"`
}

type inputJSON struct {
	Lines   int               `json:"lines"`
	Skipped int               `json:"skipped"`
	Cut     []workload.Defect `json:"cut"`
	Filled  []workload.Fill   `json:"filled"`
}

type profileJSON struct {
	Profile string `json:"profile"`
	As      string `json:"as"` // heddle or stock
	Agent   bool   `json:"agent"`
	Ideal   bool   `json:"ideal_agent"`
	figuresJSON[number]
	Spread   figuresJSON[pair] `json:"spread"`
	History  []historyJSON     `json:"history"`
	Failures []failureJSON     `json:"failures"`
}

type comparisonJSON struct {
	Workload    string            `json:"workload"`
	World       string            `json:"world"`
	WorldWhy    string            `json:"world_because"`
	Seeds       int               `json:"seeds"`
	Input       inputJSON         `json:"input"`
	Profiles    []profileJSON     `json:"profiles"`
	Alone       []aloneJSON       `json:"alone"`
	Clairvoyant []clairvoyantJSON `json:"clairvoyant"`
}

// JSON writes the comparison as one object. Every figure is the mean over seeds; "spread" has the same keys with
// [lowest, highest]. Times are in seconds, fractions from 0 to 1. Null means that a figure does not apply:
// starvation_seconds if no job has reduces, local_maps if no map had a split to be near to, recorded_error if the trace
// records no completion times, slowdown if no job was simulated alone; the lists of what was simulated besides the
// profiles are then empty. It returns w's error.
func JSON(w io.Writer, c *Comparison) error {
	out := comparisonJSON{
		Workload: c.Workload.Name,
		World:    c.World,
		WorldWhy: c.WorldWhy,
		Seeds:    len(c.Seeds()),
		Input: inputJSON{
			Lines: c.Workload.Lines, Skipped: len(c.Workload.Skipped), // empty lists, not null
			Cut: append([]workload.Defect{}, c.Workload.Cut...), Filled: append([]workload.Fill{}, c.Workload.Filled...),
		},
		Profiles: []profileJSON{}, Alone: c.alone(), Clairvoyant: []clairvoyantJSON{},
	}
	for _, s := range c.clairvoyant() {
		of := func(m Metric) number { return number(s.Mean[m]) }
		out.Clairvoyant = append(out.Clairvoyant, clairvoyantJSON{s.Profile, of(Completed), figures(of).JCT})
	}
	for i, s := range c.Summaries() {
		out.Profiles = append(out.Profiles, profileJSON{
			Profile:     s.Profile,
			As:          pick(c.Profiles[i].Stock, "stock", "heddle"),
			Agent:       c.Profiles[i].Agent,
			Ideal:       c.Profiles[i].Ideal,
			figuresJSON: figures(func(m Metric) number { return number(s.Mean[m]) }),
			Spread:      figures(func(m Metric) pair { return pair{number(s.Low[m]), number(s.High[m])} }),
			History:     c.Profiles[i].history(), Failures: c.Profiles[i].failures(),
		})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func figures[T any](at func(Metric) T) figuresJSON[T] {
	four := func(first Metric) quantilesJSON[T] {
		return quantilesJSON[T]{at(first), at(first + 1), at(first + 2), at(first + 3)}
	}
	return figuresJSON[T]{
		Jobs: at(Jobs), Completed: at(Completed), Failed: at(Failed), Unfinished: at(Unfinished),
		JCT: four(JCTMean), Wait: four(WaitMean), Starvation: four(StarvationMean),
		Makespan: at(Makespan), LocalMaps: at(LocalMaps),
		CPU: at(CPUUtilisation), Memory: at(MemoryUtilisation),
		JCTOverBound: at(JCTOverBound), Slowdown: four(SlowdownMean), Wall: at(Wall), Recorded: recordedJSON[T]{at(RecordedP50), at(RecordedP95)},
	}
}
