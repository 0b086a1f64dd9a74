package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle"
)

// An importer collects what is found while reading one path.
type importer struct {
	opts  Options
	wl    *Workload
	file  string // the file being read
	ended bool   // the line being read has a line end
	hosts map[string]int32
	ids   map[string]bool
	tasks int

	attempts map[string]attempt // of Spark applications, by id

	other  string // the first file in the folder being read that is history of another format, with the format
	others int    // the number of such files

	slab []Task

	fills   map[Fill]*fillSum // keys have neither Value nor Jobs
	pending map[Fill]*fillSum // for the job being read
}

// A fillSum is what a rule filled in: texts, or numbers of things.
type fillSum struct {
	jobs      int
	texts     []string // the first few different ones
	low, high int64
	unit      string // set if it fills in numbers
}

func newImporter(o Options) *importer {
	return &importer{
		opts:  o,
		wl:    &Workload{},
		ended: true,
		hosts: map[string]int32{},
		ids:   map[string]bool{},

		attempts: map[string]attempt{},

		fills: map[Fill]*fillSum{}, pending: map[Fill]*fillSum{},
	}
}

// A DefectError is the first defect found when reading with Options.Strict.
type DefectError struct{ Defect }

// Error returns where the defect is and what is wrong.
func (e *DefectError) Error() string { return e.String() }

// String returns the defect as "file:line: field: reason".
func (d Defect) String() string {
	var b strings.Builder
	b.WriteString(d.File)
	if d.Line > 0 {
		fmt.Fprintf(&b, ":%d", d.Line)
	}
	b.WriteString(": ")
	if d.Field != "" {
		b.WriteString(d.Field + ": ")
	}
	b.WriteString(d.Reason)
	return b.String()
}

// A fault is what is wrong with a record, before its place in the file is known.
type fault struct {
	field, reason string
	short         bool // the record possibly stops too early and nothing else is wrong with it
}

func faultf(field, format string, args ...any) *fault {
	return &fault{field: field, reason: fmt.Sprintf(format, args...)}
}

// shortf is like faultf, for what may be the beginning of a record.
func shortf(field, format string, args ...any) *fault {
	f := faultf(field, format, args...)
	f.short = true
	return f
}

// restMissing says what a truncated file means.
const restMissing = "an unknown part of the file is missing"

// defect counts a part that cannot be read, unless it is where the file is cut off. An error from it ends the reading.
func (im *importer) defect(line int, f *fault) error {
	if f.short && !im.ended {
		im.wl.Lines-- // not a complete one
		return im.cutOff(line, f.field, f.reason+", and the line has no end: it seems to be cut off")
	}
	return im.lose(&im.wl.Skipped, Defect{File: im.file, Line: line, Field: f.field, Reason: f.reason})
}

// cutOff records where and why a file cannot be read any further. An error from it ends the reading.
func (im *importer) cutOff(line int, field, why string) error {
	return im.lose(&im.wl.Cut, Defect{File: im.file, Line: line, Field: field, Reason: why + "; " + restMissing})
}

// lose adds a defect to a list. An error from it ends the reading.
func (im *importer) lose(list *[]Defect, d Defect) error {
	clear(im.pending)
	if im.opts.Strict {
		return &DefectError{d}
	}
	if len(im.wl.Skipped)+len(im.wl.Cut) == MaxDefects {
		return fmt.Errorf("%s: more than %d defects: is it a %s file? The last is %s", im.file, MaxDefects, im.wl.Format, d)
	}
	*list = append(*list, d)
	return nil
}

// fill records a rule used for the job being read and the value it filled in; add counts it.
func (im *importer) fill(field, rule, value string) {
	im.note(field, rule, &fillSum{texts: []string{value}})
}

// fillNumber is like fill, for a number of things that differs from job to job.
func (im *importer) fillNumber(field, rule string, n int64, unit string) {
	im.note(field, rule, &fillSum{low: n, high: n, unit: unit})
}

func (im *importer) note(field, rule string, sum *fillSum) {
	merge(im.pending, Fill{Field: field, Rule: rule}, sum)
}

// merge combines what a rule filled in with what it filled in before.
func merge(to map[Fill]*fillSum, f Fill, from *fillSum) {
	sum := to[f]
	if sum == nil {
		if len(to) == maxFillRules {
			return
		}
		sum = &fillSum{low: from.low, high: from.high, unit: from.unit}
		to[f] = sum
	}
	sum.jobs += from.jobs
	sum.low, sum.high = min(sum.low, from.low), max(sum.high, from.high)
	for _, text := range from.texts {
		if text != "" && len(sum.texts) <= shownValues && !slices.Contains(sum.texts, text) {
			sum.texts = append(sum.texts, text)
		}
	}
}

// shownValues is how many different values of a rule are shown.
const shownValues = 3

// value returns what was filled in, as text.
func (f *fillSum) value() string {
	switch {
	case f.unit != "" && f.low == f.high:
		return fmt.Sprintf("%d %s", f.low, f.unit)
	case f.unit != "":
		return fmt.Sprintf("%d to %d %s", f.low, f.high, f.unit)
	case len(f.texts) > shownValues:
		return strings.Join(f.texts[:shownValues], ", ") + ", …"
	}
	return strings.Join(f.texts, ", ")
}

// add adds a finished job. Its Submit is still in the trace's own time.
func (im *importer) add(line int, j Job) error {
	if j.ID == "" {
		return im.defect(line, faultf("id", "the job has no id"))
	}
	if im.ids[j.ID] {
		return im.defect(line, faultf("id", "%q appears twice; ids must differ", j.ID))
	}
	if len(im.wl.Jobs) == MaxJobs {
		return im.defect(line, faultf("", "more than %d jobs", MaxJobs))
	}
	im.ids[j.ID] = true
	im.wl.Jobs = append(im.wl.Jobs, j)
	im.count()
	return nil
}

// outcome notes that a job which did not succeed, as far as its history says, is simulated as one that does.
func (im *importer) outcome(j *Job) {
	switch {
	case j.Failed:
		im.fill("outcome", "a job that failed or was killed is simulated as one that succeeds, with all of its tasks", "")
	case j.Unended:
		im.fill("outcome", "a job whose end is not recorded is simulated as one that succeeds, with all of its tasks", "")
	}
}

// count records the rules used for a job that was added, in their order: if they are more than are kept, the same ones
// are left out at each reading.
func (im *importer) count() {
	for _, f := range slices.SortedFunc(maps.Keys(im.pending), compareFills) {
		sum := im.pending[f]
		sum.jobs = 1
		merge(im.fills, f, sum)
	}
	clear(im.pending)
}

func compareFills(a, b Fill) int {
	return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Rule, b.Rule))
}

// room returns a fault if a job may not have inJob tasks, none of which is in memory yet.
func (im *importer) room(field string, inJob int64) *fault {
	if inJob > MaxTasksPerJob {
		return faultf(field, "%d tasks; a job may have %d", inJob, MaxTasksPerJob)
	}
	if limit := im.opts.taskLimit(); int64(im.tasks)+inJob > int64(limit) {
		return faultf(field, "more than %d tasks in all", limit)
	}
	return nil
}

// take returns n blank tasks from a shared array.
func (im *importer) take(n int) []Task {
	if n == 0 {
		return nil
	}
	const slab = 1024
	if n > len(im.slab) {
		im.slab = make([]Task, max(n, slab))
	}
	t := im.slab[:n:n]
	im.slab = im.slab[n:]
	im.tasks += n
	return t
}

// host returns the index of a host, given as name, as /rack/name, or with the rack separately.
func (im *importer) host(name, rack string) int32 {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		if i > 0 {
			rack = name[:i]
		}
		name = name[i+1:]
	}
	rack = rackName(rack)
	i, ok := im.hosts[name]
	if !ok {
		i = int32(len(im.wl.Hosts))
		im.hosts[strings.Clone(name)] = i
		im.wl.Hosts = append(im.wl.Hosts, Host{Name: strings.Clone(name)})
	}
	if h := &im.wl.Hosts[i]; h.Rack == "" {
		h.Rack = rack
	}
	return i
}

// splitAt adds a host that holds a task's split. A file system that does not know where its data is says localhost, which
// is no host.
func (im *importer) splitAt(t *Task, name, rack string) {
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "localhost", "127.0.0.1", "::1":
		im.fill("hosts", "splits at localhost: their file system, such as S3A, does not know where its data is", "unknown")
	default:
		t.Hosts = append(t.Hosts, im.host(name, rack))
	}
}

// rackName returns a rack's name in YARN's form, with a leading slash; an empty name stays empty.
func rackName(s string) string {
	s = strings.Trim(s, "/")
	if s == "" {
		return ""
	}
	return "/" + s
}

// finish sorts the jobs, makes time start at the first one, and lists the rules used.
func (im *importer) finish() *Workload {
	w := im.wl
	w.Sort()
	if len(w.Jobs) > 0 {
		first := w.Jobs[0].Submit
		w.Began = first
		for i := range w.Jobs {
			w.Jobs[i].Submit -= first
			w.Jobs[i].Times.since(first)
		}
	}
	for f, sum := range im.fills {
		f.Jobs, f.Value = sum.jobs, sum.value()
		w.Filled = append(w.Filled, f)
	}
	slices.SortFunc(w.Filled, compareFills)
	return w
}

// Move makes all times later by a span.
func (t *Times) Move(by heddle.Span) {
	move := func(at *heddle.Time) {
		if *at != NoTime {
			*at = at.Plus(by)
		}
	}
	for _, list := range append([][]heddle.Time{t.Maps, t.Reduces, t.Executors}, t.Stages...) {
		for i := range list {
			move(&list[i])
		}
	}
	move(&t.Master)
	move(&t.Ready)
}

// since converts times of the trace's own clock to times since the workload's start.
func (t *Times) since(first heddle.Time) {
	if t == nil {
		return
	}
	lists := append([][]heddle.Time{t.Maps, t.Reduces, t.Executors}, t.Stages...)
	for _, list := range lists {
		for i := range list {
			list[i] = sinceStart(list[i], first)
		}
	}
	t.Master, t.Ready = sinceStart(t.Master, first), sinceStart(t.Ready, first)
}

func sinceStart(at, first heddle.Time) heddle.Time {
	if at <= 0 || at < first {
		return NoTime
	}
	return at - first
}

// Sort sorts jobs by submission, then id.
func (w *Workload) Sort() {
	slices.SortFunc(w.Jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), compareIDs(a.ID, b.ID))
	})
}

// compareIDs compares ids, treating the numbers in them as numbers: job9 comes before job10.
func compareIDs(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		m, n := digits(a[i:]), digits(b[j:])
		if m == 0 || n == 0 {
			if a[i] != b[j] {
				return cmp.Compare(a[i], b[j])
			}
			i, j = i+1, j+1
			continue
		}
		x, y := strings.TrimLeft(a[i:i+m], "0"), strings.TrimLeft(b[j:j+n], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
		i, j = i+m, j+n
	}
	return cmp.Or(cmp.Compare(len(a)-i, len(b)-j), strings.Compare(a, b))
}

// digits returns the number of digits at the start of s.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// recorded returns how long something took, given its begin and end in ms; 0 if they do not say.
func recorded(begin, end int64) heddle.Span {
	if begin <= 0 || end <= begin || end-begin > int64(MaxSpan/heddle.Millisecond) {
		return 0
	}
	return heddle.Span(end-begin) * heddle.Millisecond
}

// millis returns a time of ms milliseconds.
func millis(ms int64) heddle.Time { return heddle.Time(ms * int64(heddle.Millisecond)) }
