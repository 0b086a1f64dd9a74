package workload

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"heddle"
)

// A Summary describes a workload in numbers.
type Summary struct {
	Name        string   `json:"name"`
	Format      string   `json:"format"`
	Lines       int      `json:"lines"`        // lines, records or objects read
	Skipped     int      `json:"skipped"`      // defects
	Cut         []Defect `json:"cut"`          // where files are cut off
	Filled      []Fill   `json:"filled"`       // rules by which missing values were filled
	Missing     []string `json:"missing"`      // what no task, or not every task, states: duration, input, container, …
	Jobs        int      `json:"jobs"`         //
	Maps        int      `json:"maps"`         //
	Reduces     int      `json:"reduces"`      //
	OtherTasks  int      `json:"other_tasks"`  // containers of plain jobs
	Stages      int      `json:"stages"`       // of Spark jobs
	StageTasks  int      `json:"stage_tasks"`  // of Spark jobs
	Hosts       int      `json:"hosts"`        // named by the trace
	SpanSeconds float64  `json:"span_seconds"` // first submission to last
	TaskSeconds float64  `json:"task_seconds"` // sum of the stated durations
	Frameworks  []Count  `json:"frameworks"`   // most jobs first
	Users       []Count  `json:"users"`        // "" = not stated
	Queues      []Count  `json:"queues"`       // "" = not stated
	Input       Bytes    `json:"input_bytes"`
	Shuffle     Bytes    `json:"shuffle_bytes"`
	Output      Bytes    `json:"output_bytes"`
	Programs    []Count  `json:"programs"` // "" = unknown
	Failed      int      `json:"failed"`   // jobs that failed or were killed
	Unended     int      `json:"unended"`  // jobs whose history records no end of them
}

// A Count is the number of jobs that have a name in common.
type Count struct {
	Name string `json:"name"`
	Jobs int    `json:"jobs"`
}

// Bytes describes the distribution of an amount over the jobs. A percentile is the smallest amount that the given
// percentage of jobs does not exceed.
type Bytes struct {
	Total int64 `json:"total"` // limited to the largest number if it would overflow
	P50   int64 `json:"p50"`
	P90   int64 `json:"p90"`
	P99   int64 `json:"p99"`
	Max   int64 `json:"max"`
}

// Inspect returns the workload in numbers.
func Inspect(wl *Workload) Summary {
	s := Summary{
		Name: wl.Name, Format: wl.Format, Lines: wl.Lines, Skipped: len(wl.Skipped), Cut: append([]Defect{}, wl.Cut...),
		Filled: append([]Fill{}, wl.Filled...), Missing: []string{}, Jobs: len(wl.Jobs), Hosts: len(wl.Hosts),
	}
	frameworks, users, queues, programs := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	var in, shuffle, out []int64
	var m missing
	for i := range wl.Jobs {
		j := &wl.Jobs[i]
		frameworks[j.Framework.String()]++
		users[j.User]++
		queues[j.Queue]++
		programs[j.Program]++
		if j.Failed {
			s.Failed++
		}
		if j.Unended {
			s.Unended++
		}
		s.Maps, s.Reduces, s.OtherTasks = s.Maps+len(j.Maps), s.Reduces+len(j.Reduces), s.OtherTasks+len(j.Other)
		for _, tasks := range [...][]Task{j.Maps, j.Reduces, j.Other} {
			m.see(tasks, false)
		}
		if j.Spark != nil {
			s.Stages += len(j.Spark.Stages)
			for k := range j.Spark.Stages {
				s.StageTasks += len(j.Spark.Stages[k].Tasks)
				m.see(j.Spark.Stages[k].Tasks, true)
			}
		}
		in, shuffle, out = append(in, j.InputBytes()), append(shuffle, j.ShuffleBytes()), append(out, j.OutputBytes())
	}
	if n := len(wl.Jobs); n > 0 {
		s.SpanSeconds = heddle.Span(wl.Jobs[n-1].Submit - wl.Jobs[0].Submit).Seconds()
	}
	s.TaskSeconds = m.seconds
	s.Missing = append(s.Missing, m.names()...)
	s.Frameworks, s.Users, s.Queues, s.Programs = counts(frameworks), counts(users), counts(queues), counts(programs)
	s.Input, s.Shuffle, s.Output = spread(in), spread(shuffle), spread(out)
	return s
}

// ShuffleBytes returns what the job moves between its tasks: what its reduces fetch, or what its Spark stages write for
// other stages. If it is not stated where a stage writes, its output counts if it has children.
func (j *Job) ShuffleBytes() int64 {
	sum := sumOf(j.Reduces, input)
	if j.Spark != nil {
		parents := map[int]bool{}
		for i := range j.Spark.Stages {
			for _, p := range j.Spark.Stages[i].Parents {
				parents[p] = true
			}
		}
		for i := range j.Spark.Stages {
			if st := &j.Spark.Stages[i]; st.Writes == Shuffle || st.Writes == Unsaid && parents[st.ID] {
				sum = add(sum, sumOf(st.Tasks, output))
			}
		}
	}
	return sum
}

// OutputBytes returns what the job leaves behind: what its reduces write, or its maps if it has no reduces, or its
// Spark stages for no other stage.
func (j *Job) OutputBytes() int64 {
	if len(j.Reduces) > 0 {
		return sumOf(j.Reduces, output)
	}
	sum := sumOf(j.Maps, output)
	if j.Spark != nil {
		for i := range j.Spark.Stages {
			sum = add(sum, sumOf(j.Spark.Stages[i].Tasks, output))
		}
		sum -= j.ShuffleBytes()
	}
	return max(0, sum)
}

func input(t *Task) int64  { return t.Input }
func output(t *Task) int64 { return t.Output }

func sumOf(tasks []Task, of func(*Task) int64) int64 {
	var sum int64
	for i := range tasks {
		sum = add(sum, of(&tasks[i]))
	}
	return sum
}

// add returns a + b, both of which are at least 0, or the largest number if the sum would overflow.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// missing counts what tasks do not state.
type missing struct {
	tasks, inYarn                                     int
	duration, cpu, input, output, memory, hosts, size int
	seconds                                           float64
}

func (m *missing) see(tasks []Task, inExecutor bool) {
	m.tasks += len(tasks)
	for i := range tasks {
		t := &tasks[i]
		m.seconds += t.Duration.Seconds()
		for _, c := range [...]struct {
			lacks bool
			n     *int
		}{
			{t.Duration == 0, &m.duration},
			{t.CPU == 0, &m.cpu},
			{t.Input == 0, &m.input},
			{t.Output == 0 && !t.NoOutput, &m.output},
			{t.Memory == 0, &m.memory},
			{len(t.Hosts) == 0, &m.hosts},
			{t.Size.IsZero() && !inExecutor, &m.size},
		} {
			if c.lacks {
				*c.n++
			}
		}
	}
	if !inExecutor {
		m.inYarn += len(tasks)
	}
}

// names lists what some tasks lack, with "(some tasks)" if others state it. An amount of 0 cannot be distinguished from
// an unknown one, so input and output are listed only if every task lacks them.
func (m *missing) names() []string {
	var out []string
	for _, c := range [...]struct {
		name   string
		n, of  int
		always bool
	}{
		{"duration", m.duration, m.tasks, false},
		{"cpu", m.cpu, m.tasks, false},
		{"input", m.input, m.tasks, true},
		{"output", m.output, m.tasks, true},
		{"memory", m.memory, m.tasks, false},
		{"hosts", m.hosts, m.tasks, true},
		{"container", m.size, m.inYarn, false},
	} {
		switch {
		case c.of == 0 || c.n == 0:
		case c.n == c.of:
			out = append(out, c.name)
		case !c.always:
			out = append(out, c.name+" (some tasks)")
		}
	}
	return out
}

func counts(of map[string]int) []Count {
	out := []Count{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, Count{name, of[name]})
	}
	slices.SortStableFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), strings.Compare(a.Name, b.Name))
	})
	return out
}

func spread(of []int64) Bytes {
	if len(of) == 0 {
		return Bytes{}
	}
	slices.Sort(of)
	at := func(percent int) int64 { return of[max(0, (len(of)*percent+99)/100-1)] }
	b := Bytes{P50: at(50), P90: at(90), P99: at(99), Max: of[len(of)-1]}
	for _, n := range of {
		b.Total = add(b.Total, n)
	}
	return b
}
