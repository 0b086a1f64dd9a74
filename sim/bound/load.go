package bound

import (
	"errors"
	"fmt"
	"math"

	"heddle"
)

// OfferedLoad returns the fraction of the cluster's capacity that the jobs' work would take if it kept arriving as it
// does between the first and the last arrival, for the resource with the highest load.
//
// A load needs an arrival rate, so a single job, or all jobs at the same instant, is an error, as is whatever [Of]
// refuses.
func OfferedLoad(jobs []Job, total heddle.Resource) (float64, error) {
	if len(jobs) < 2 {
		return 0, fmt.Errorf("the offered load needs a rate of arrival: want at least 2 jobs, got %d", len(jobs))
	}
	need, err := needs(jobs, total)
	if err != nil {
		return 0, err
	}
	first, last := jobs[0].Arrival, jobs[0].Arrival
	for i := range jobs {
		first, last = min(first, jobs[i].Arrival), max(last, jobs[i].Arrival)
	}
	if first == last {
		return 0, fmt.Errorf("the offered load needs a rate of arrival: all %d jobs arrive at %g s", len(jobs), first.Seconds())
	}
	var most heddle.Span
	for d := range need {
		var sum heddle.Span
		for _, s := range need[d] {
			sum += s
		}
		most = max(most, sum)
	}
	return float64(most) / float64(last.Since(first)), nil
}

// ScaleFor returns the factor by which the spans between arrivals must be multiplied for the offered load to become
// load. The errors are those of [OfferedLoad], a load that is not above 0, and jobs without work, which no factor gives
// a load.
func ScaleFor(load float64, jobs []Job, total heddle.Resource) (float64, error) {
	if !(load > 0) || math.IsInf(load, 1) {
		return 0, fmt.Errorf("load is %v; want a finite fraction of the cluster's capacity above 0", load)
	}
	offered, err := OfferedLoad(jobs, total)
	if err != nil {
		return 0, err
	}
	if offered == 0 {
		return 0, errors.New("the jobs have no work, so no spacing of theirs offers a load")
	}
	return offered / load, nil
}
