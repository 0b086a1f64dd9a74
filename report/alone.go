package report

import "heddle/sim"

// alone lists the jobs for which it is known how long they take with the cluster to themselves, each with the mean over
// the seeds. That is the same for all profiles.
func (c *Comparison) alone() []aloneJSON {
	out := []aloneJSON{} // an empty list, not null
	at, times := map[string]int{}, []number{}
	for _, r := range c.anyRuns() {
		for i := range r.Jobs {
			j := &r.Jobs[i]
			if j.Alone <= 0 {
				continue
			}
			k, known := at[j.ID]
			if !known {
				k = len(out)
				at[j.ID] = k
				out, times = append(out, aloneJSON{Job: j.ID}), append(times, 0)
			}
			out[k].Seconds += number(j.Alone.Seconds())
			times[k]++
		}
	}
	for k := range out {
		out[k].Seconds /= times[k]
	}
	return out
}

// anyRuns returns the runs of the first profile that has been run.
func (c *Comparison) anyRuns() []*sim.Result {
	for _, p := range c.Profiles {
		if len(p.Runs) > 0 {
			return p.Runs
		}
	}
	return nil
}

// aloneLine says how long jobs take with the cluster to themselves.
func (c *Comparison) aloneLine() string {
	var all []float64
	for _, j := range c.alone() {
		all = append(all, float64(j.Seconds))
	}
	if len(all) == 0 {
		return ""
	}
	return "with this cluster to itself, a job takes " + seconds(mean(all)) + " on average; slowdown is a job's JCT ÷ its own time alone"
}

// clairvoyant returns the summaries of the runs whose order knows what each job still needs.
func (c *Comparison) clairvoyant() []Summary {
	return (&Comparison{Profiles: c.Clairvoyant}).Summaries()
}

// orderingLine says what ordering could achieve: the mean completion time under the best of the clairvoyant orders,
// compared with the best that a profile has with its own order.
func (c *Comparison) orderingLine() string {
	knowing, ok := lowestMean(c.clairvoyant())
	own, ran := lowestMean(c.Summaries())
	if !ok || !ran {
		return ""
	}
	jct := row{metric: JCTMean, format: seconds}
	s := "an order that knows what each job still needs has a mean JCT of " + seconds(knowing.Mean[JCTMean])
	if low := jct.spread(knowing); low != "" {
		s += " (" + low + ")"
	}
	s += ", in the profile " + knowing.Profile + ": an estimate of what ordering could reach, not a bound"
	if own.Mean[JCTMean] <= knowing.Mean[JCTMean] {
		s += "; " + own.Profile + " is no worse with its own order"
	}
	return s
}

// lowestMean returns the summary with the lowest mean completion time, among those that completed as many jobs as any.
func lowestMean(sums []Summary) (best *Summary, ok bool) {
	for i, yes := range comparable(sums) {
		if yes && (best == nil || sums[i].Mean[JCTMean] < best.Mean[JCTMean]) {
			best = &sums[i]
		}
	}
	return best, best != nil
}
