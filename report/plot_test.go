package report

import (
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/sim"
	"heddle/workload"
)

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		name string
		axis axis
		want []float64
	}{
		{"half an hour", timeAxis(0, 1800, 0, 600, false, 6, ""), []float64{0, 300, 600, 900, 1200, 1500, 1800}},
		{"a day", timeAxis(0, 86400, 0, 600, false, 6, ""), []float64{0, 21600, 43200, 64800, 86400}},
		{"nothing", timeAxis(0, 0, 0, 600, false, 6, ""), []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{"decades", timeAxis(1, 36000, 0, 600, true, 7, ""), []float64{1, 10, 60, 600, 3600, 36000}},
		{"7 containers", countAxis(7, 0, 100, ""), []float64{0, 2, 4, 6, 8}},
		{"none", countAxis(0, 0, 100, ""), []float64{0, 1}},
		{"1,100 containers", countAxis(1100, 0, 100, ""), []float64{0, 500, 1000, 1500}},
		{"little used", shareAxis(0.04, 0, 100, ""), []float64{0, 0.01, 0.02, 0.03, 0.04, 0.05}},
		{"well used", shareAxis(0.7, 0, 100, ""), []float64{0, 0.25, 0.5, 0.75, 1}},
	} {
		same := slices.EqualFunc(c.axis.ticks, c.want, near)
		if !same {
			t.Errorf("%s: ticks at %v, want %v", c.name, c.axis.ticks, c.want)
		}
	}
}

// The ticks of a short time late in a run have different labels, and no label has the error of its computation.
func TestTicksDiffer(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1.1, "0 s, 0.2 s, 0.4 s, 0.6 s, 0.8 s, 1 s"},
		{0, 90, "0 s, 15 s, 30 s, 45 s, 1 m, 1 m 15 s, 1 m 30 s"},
		{82, 83, "1 m 22 s, 1 m 22.2 s, 1 m 22.4 s, 1 m 22.6 s, 1 m 22.8 s, 1 m 23 s"},
		{3700, 3760, "1 h 1 m 45 s, 1 h 2 m, 1 h 2 m 15 s, 1 h 2 m 30 s"},
		{200_000, 201_000, "2 d 7 h 40 m, 2 d 7 h 50 m"},
	} {
		a := timeAxis(c.lo, c.hi, 0, 600, false, 6, "")
		var texts []string
		for _, v := range a.ticks {
			texts = append(texts, a.format(v))
		}
		if got := strings.Join(texts, ", "); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

// Where nothing but masters ran, no number of containers is named.
func TestNothingRan(t *testing.T) {
	none := make([]float32, 2)
	r := &sim.Result{Series: sim.Series{
		Step: heddle.Second, Maps: make([]int32, 2), Reduces: make([]int32, 2), Executors: make([]int32, 2),
		CPUUsed: none, CPUHeld: none, MemoryHeld: none,
	}}
	p := compare(r).overTime()[0][0]
	if p.Caption != "" || strings.Contains(string(p.Image), "At most") {
		t.Errorf("caption %q of %s", p.Caption, p.Image)
	}
}

func TestScale(t *testing.T) {
	log := scale{1, 100, 0, 200, true}
	linear := scale{0, 10, 300, 100, false}
	for _, c := range []struct{ got, want float64 }{
		{log.at(1), 0}, {log.at(10), 100}, {log.at(100), 200}, {log.at(0), 0}, // below the scale: at its beginning
		{linear.at(0), 300}, {linear.at(5), 200}, {linear.at(10), 100}, {scale{5, 5, 7, 9, false}.at(5), 7},
	} {
		if !near(c.got, c.want) {
			t.Errorf("at %v, want %v", c.got, c.want)
		}
	}
}

func TestResample(t *testing.T) {
	b := resample("maps", "k1", []int32{1, 3, 5, 7, 10}, 2)
	if !slices.Equal(b.values, []float64{2, 6, 10}) || b.peak != 10 {
		t.Errorf("values %v, peak %v; want 2 6 10 and 10", b.values, b.peak)
	}
}

func TestDuels(t *testing.T) {
	c := worked()
	d := duels(c.Profiles[0].Runs, c.Profiles[1].Runs)
	want := []duel{{"a", 11, 12.5, 0}, {"b", 22, 12.5, 0}, {"c", 33, 25, 0}} // d failed under fifo
	if !slices.Equal(d, want) {
		t.Errorf("duels %v, want %v", d, want)
	}
	p := c.scatter(1, d)
	if w := "Of 3 jobs, 2 are faster under fifo, 1 slower, 0 within 5 %."; p.Caption != w {
		t.Errorf("caption %q, want %q", p.Caption, w)
	}
	if first := p.Table.Rows[0]; !slices.Equal(first, []string{"b", "22.0 s", "12.5 s", "−9.5 s", "0.57 ×"}) {
		t.Errorf("the biggest gain is %q", first)
	}
}

// lanes makes a run of one node with tasks from–to seconds.
func lanes(spans ...[2]float64) *sim.Result {
	r := &sim.Result{Jobs: []sim.JobResult{{ID: "a"}}, Nodes: []sim.NodeInfo{{Name: "n1"}}}
	for i, s := range spans {
		r.Tasks = append(r.Tasks, sim.TaskResult{
			Kind: heddle.Map, Index: int32(i), Container: heddle.ContainerID(i + 1),
			Granted: heddle.Time(heddle.Seconds(s[0])), Ended: heddle.Time(heddle.Seconds(s[1])),
		})
	}
	return r
}

func compare(runs ...*sim.Result) *Comparison {
	c := worked()
	c.Profiles = nil
	for _, r := range runs {
		c.Profiles = append(c.Profiles, ProfileRuns{Name: "p", Runs: []*sim.Result{r}})
	}
	return c
}

func TestGanttLanes(t *testing.T) {
	v, ok := compare(lanes([2]float64{0, 10}, [2]float64{2, 6}, [2]float64{6, 9}, [2]float64{7, 12}, [2]float64{12, 20})).view()
	if !ok || !v.whole {
		t.Fatalf("view %+v", v)
	}
	var got []int
	for _, b := range v.fit()[0] {
		got = append(got, b.lane)
	}
	if want := []int{0, 1, 1, 2, 0}; !slices.Equal(got, want) || v.lanes != 3 {
		t.Errorf("lanes %v of %d, want %v of 3", got, v.lanes, want)
	}
}

// Neighbours too narrow to be distinguished are drawn as one bar that counts them; wide ones are not.
func TestGanttMerges(t *testing.T) {
	var spans [][2]float64
	for i := range 500 {
		spans = append(spans, [2]float64{float64(i), float64(i + 1)})
	}
	spans = append(spans, [2]float64{500, 1500}, [2]float64{1500, 2500})
	r := lanes(spans...)
	v := &view{runs: []*sim.Result{r}, to: heddle.Time(heddle.Seconds(2500)), nodes: []heddle.NodeID{0}}
	bars := v.fit()[0]
	if len(bars) != 3 || bars[0].many != 500 {
		t.Errorf("%d bars, the first of %d containers; want 3 and 500", len(bars), bars[0].many)
	}
}

// A long run of short tasks is shown at its busiest time, wide enough to be seen.
func TestGanttWindow(t *testing.T) {
	var spans [][2]float64
	for i := range 200 {
		spans = append(spans, [2]float64{float64(i) * 400, float64(i)*400 + 10})
	}
	for i := range 300 {
		spans = append(spans, [2]float64{40000 + float64(i), 40010 + float64(i)})
	}
	v, ok := compare(lanes(spans...)).view()
	if !ok || v.whole {
		t.Fatal("the whole run is shown")
	}
	length := v.to.Since(v.from).Seconds()
	if from := v.from.Seconds(); from < 39000 || from > 40000 || from+length < 40300 || length > 3600 {
		t.Errorf("shown from %v for %v s, want the busy minutes at 40000", from, length)
	}
	v.runs[0].Nodes = make([]sim.NodeInfo, 20)
	if words := v.words(); !strings.HasPrefix(words, "The busiest of 20 nodes, ") {
		t.Errorf("%s", words)
	}
	v.nodes = make([]heddle.NodeID, 16)
	if words := v.words(); !strings.HasPrefix(words, "The 16 busiest of 20 nodes, ") {
		t.Errorf("%s", words)
	}
}

// However many containers there are, and however they alternate, the charts stay within their budget.
func TestGanttIsBounded(t *testing.T) {
	many := func() *sim.Result {
		r := &sim.Result{Jobs: []sim.JobResult{{ID: "a"}}}
		for n := range 40 {
			r.Nodes = append(r.Nodes, sim.NodeInfo{Name: "n"})
			for i := range 4000 {
				from := heddle.Time(i) * heddle.Time(heddle.Second)
				r.Tasks = append(r.Tasks, sim.TaskResult{
					Kind: heddle.Kind(1 + i%2), Node: heddle.NodeID(n), Container: heddle.ContainerID(n*4000 + i),
					Granted: from, Ended: from + heddle.Time(heddle.Second),
				})
			}
		}
		return r
	}
	c := compare(many(), many(), many())
	v, _ := c.view()
	v.from, v.to, v.whole = 0, heddle.Time(heddle.Seconds(4000)), true
	total := 0
	for _, bars := range v.fit() {
		total += len(bars)
	}
	if total == 0 || total > ganttRects {
		t.Errorf("%d bars, want some, at most %d", total, ganttRects)
	}
}

func TestBadEnds(t *testing.T) {
	const end = heddle.Time(100)
	r := &sim.Result{Jobs: []sim.JobResult{{End: end}}}
	for _, c := range []struct {
		status         heddle.ExitStatus
		started, ended heddle.Time
		want           bool
	}{
		{heddle.Success, 10, 20, false},
		{heddle.KilledByMaster, 10, 20, false},
		{heddle.KilledAfterCompletion, 10, 20, false},
		{heddle.Aborted, workload.NoTime, 20, false}, // given back before it ran
		{heddle.Aborted, 0, 20, true},                // lost with its node
		{heddle.Aborted, 10, end, false},             // ended with its application
		{heddle.Aborted, 10, 20, true},               // lost with its node
		{heddle.Preempted, 10, 20, true},
		{heddle.KilledOverPhysical, 10, 20, true},
		{1, 10, 20, true},
		{143, 10, 20, true},
	} {
		if got := bad(r, &sim.TaskResult{Status: c.status, Started: c.started, Ended: c.ended}); got != c.want {
			t.Errorf("status %d, started %d, ended %d: bad = %v, want %v", c.status, c.started, c.ended, got, c.want)
		}
	}
	r = lanes([2]float64{0, 5}, [2]float64{5, 10})
	r.Tasks[1].Status = heddle.Preempted
	charts, _ := compare(r).gantt()
	if !strings.Contains(string(charts[0].Image), "ended with -102") {
		t.Error("the chart does not say that a container was preempted")
	}
}
