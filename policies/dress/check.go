package dress

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle"
	"heddle/policy"
)

// Gauges implements [policy.Gauged]: it emits δ, the part reserved for the smallest category. With more than two
// categories, it also emits the parts of the others except the last.
func (s *Scheduler) Gauges(_ policy.View, emit func(name string, value float64)) {
	emit("dress.delta", s.delta[0])
	for k := 1; k < len(s.delta)-1; k++ {
		emit("dress.delta."+strconv.Itoa(k+1), s.delta[k])
	}
}

// GaugeWords implements [policy.Gauged].
func (s *Scheduler) GaugeWords(name string) string {
	switch {
	case name == "dress.delta":
		return "δ: the share of the cluster that DRESS reserves for jobs that ask for little."
	case strings.HasPrefix(name, "dress.delta."):
		return "δ of a further category: the share of the cluster that DRESS reserves for jobs that ask for more than the one before."
	}
	return ""
}

// Check implements [policy.Checker].
func (s *Scheduler) Check(v policy.View) (broken []string) {
	taken, want := make([]heddle.Resource, len(s.cats)), make([]heddle.Resource, len(s.cats))
	tasks, ends := make([]int, len(s.cats)), make([]int, len(s.cats))
	n := 0
	for id := range v.AppIDs() {
		a := v.App(heddle.AppID(id))
		if a == nil || !s.apps[id].known {
			continue
		}
		st := &s.apps[id]
		if st.queued != (s.o.Serve == serveListed && s.waits(st)) || st.queued && !slices.Contains(s.lines[st.queue], a.ID()) {
			broken = append(broken, "dress-line: an application that waits to begin is in no line, or another is in one")
		}
		k := st.category
		taken[k] = taken[k].Plus(a.Used()).Plus(a.Booked())
		want[k] = want[k].Plus(st.want)
		tasks[k] += tasksOf(a)
		ends[k] += endsOf(a)
		a.Each(func(x *policy.Container) bool {
			if n++; !s.est.knows(x) {
				broken = append(broken, "dress-owner: a container is not known as its application's")
			}
			return true
		})
	}
	sum := 0.0
	for k := range s.cats {
		if s.cats[k].taken != taken[k] || s.cats[k].tasks != tasks[k] || s.cats[k].ends != ends[k] {
			broken = append(broken, "dress-taken: a category counts other than its applications hold")
		}
		if s.cats[k].want != want[k] {
			broken = append(broken, "dress-want: a category counts other than its applications want")
		}
		sum += s.delta[k]
	}
	for _, j := range s.est.jobs {
		if j != nil {
			n -= len(j.tasks)
		}
	}
	if n != 0 {
		broken = append(broken, "dress-containers: ended containers are remembered")
	}
	if math.Abs(sum-1) > slack*1000 {
		broken = append(broken, "dress-ratio: the ratios do not sum to 1")
	}
	return broken
}
