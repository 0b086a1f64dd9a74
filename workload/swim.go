package workload

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"heddle"
)

// A SWIM line has six or more columns per job: id, submission in seconds, gap since the previous job, and the bytes of
// input, shuffle and output. It does not state the number of tasks, durations, users or sizes.

// swimReduceBytes is the shuffle bytes per reduce in the rule that gives a SWIM job its reduces: close to what Hive and
// Pig of the time gave a reducer.
const swimReduceBytes = 1 << 30

const (
	swimColumns    = 6
	swimMaxColumns = 9 // with input and output paths
)

// aNumber matches the content of a SWIM column, however large.
var aNumber = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

func looksLikeSWIM(head []byte) bool {
	const tries = 20 // lines: the first may be broken
	for range tries {
		line, rest, more := bytes.Cut(head, []byte("\n"))
		columns := bytes.Split(bytes.TrimRight(line, "\r"), []byte("\t"))
		if len(columns) >= swimColumns && len(columns) <= swimMaxColumns && !slices.ContainsFunc(columns[1:swimColumns], func(c []byte) bool { return !aNumber.Match(c) }) {
			return true
		}
		if head = rest; !more {
			return false
		}
	}
	return false
}

type swimJob struct {
	id                     string
	submit                 heddle.Time
	input, shuffle, output int64
}

func parseSWIM(line []byte) (j swimJob, bad *fault) {
	var columns [swimMaxColumns + 1][]byte
	n := 0
	for more := true; more && n < len(columns); n++ {
		columns[n], line, more = bytes.Cut(line, []byte("\t"))
	}
	if n < swimColumns || n > swimMaxColumns {
		return j, shortf("", "does not have %d to %d tab-separated columns: id, submit s, gap s, input, shuffle, output bytes", swimColumns, swimMaxColumns)
	}
	if len(columns[0]) == 0 {
		return j, faultf("id", "is empty")
	}
	submit, bad := decimal("submit", columns[1], MaxSpan.Seconds())
	if bad != nil {
		return j, bad
	}
	if _, bad = decimal("gap", columns[2], MaxSpan.Seconds()); bad != nil {
		return j, bad
	}
	j = swimJob{id: string(columns[0]), submit: heddle.Time(heddle.Seconds(submit))}
	for _, c := range [...]struct {
		field string
		text  []byte
		to    *int64
	}{{"input", columns[3], &j.input}, {"shuffle", columns[4], &j.shuffle}, {"output", columns[5], &j.output}} {
		if *c.to, bad = wholeNumber(c.field, c.text, MaxBytes); bad != nil {
			return j, bad
		}
	}
	return j, nil
}

// SWIM reads a SWIM sample from memory, as [Read] reads one from a file: strictly, with blocks of [DefaultBlockSize].
// The name is used as the workload's name and in errors.
func SWIM(name string, text []byte) (*Workload, error) {
	im := newImporter(Options{Strict: true, BlockSize: DefaultBlockSize})
	im.file, im.wl.Name, im.wl.Format = name, name, "swim"
	err := im.swim(func(read func(line int, text []byte) error) error {
		return im.lines(newLineReader(bytes.NewReader(text)), read)
	})
	switch {
	case err != nil:
		return nil, err
	case len(im.wl.Jobs) == 0:
		return nil, im.empty(name)
	}
	return im.finish(), nil
}

func readSWIM(im *importer, path string) error {
	return im.swim(func(read func(line int, text []byte) error) error { return im.eachLine(path, read) })
}

// swim adds the jobs of all lines.
func (im *importer) swim(each func(read func(line int, text []byte) error) error) error {
	var jobs []swimJob
	var lines []int
	err := each(func(line int, text []byte) error {
		j, bad := parseSWIM(text)
		if bad == nil {
			bad = im.reserveSWIM(j)
		}
		if bad != nil {
			return im.defect(line, bad)
		}
		jobs, lines = append(jobs, j), append(lines, line)
		return nil
	})
	if err != nil {
		return err
	}
	tasks := 0
	for _, j := range jobs {
		maps, reduces := im.swimTasks(j)
		tasks += int(maps + reduces)
	}
	im.slab, im.tasks = make([]Task, tasks), 0
	im.wl.Jobs = slices.Grow(im.wl.Jobs, len(jobs))
	for i, j := range jobs {
		if err := im.addSWIM(lines[i], j); err != nil {
			return err
		}
	}
	return nil
}

// reserveSWIM counts a job's tasks against the limits before any of them is in memory.
func (im *importer) reserveSWIM(j swimJob) *fault {
	maps, reduces := im.swimTasks(j)
	if bad := im.room("input", maps+reduces); bad != nil {
		return bad
	}
	im.tasks += int(maps + reduces)
	return nil
}

func (im *importer) swimTasks(j swimJob) (maps, reduces int64) {
	maps = max(1, ceilDiv(j.input, im.opts.BlockSize))
	return maps, ceilDiv(j.shuffle, swimReduceBytes)
}

func (im *importer) addSWIM(line int, s swimJob) error {
	m, r := im.swimTasks(s)
	j := Job{ID: s.id, Framework: heddle.MapReduce, Submit: s.submit, SlowStart: -1, Maps: im.take(int(m)), Reduces: im.take(int(r))}
	out := s.shuffle
	if r == 0 {
		out = s.output
	}
	left := s.input
	for i := range j.Maps {
		j.Maps[i] = Task{Input: min(left, im.opts.BlockSize), Output: part(out, m, i)}
		left -= j.Maps[i].Input
	}
	for i := range j.Reduces {
		j.Reduces[i] = Task{Input: part(s.shuffle, r, i), Output: part(s.output, r, i)}
		j.Reduces[i].NoOutput = j.Reduces[i].Output == 0
	}
	im.fillNumber("maps", fmt.Sprintf("max(1, ⌈input / %s⌉); each reads a block, the last the rest", sizeName(im.opts.BlockSize)), m, "a job")
	im.fillNumber("reduces", fmt.Sprintf("⌈shuffle / %s⌉; without shuffle none, and the maps write the output", sizeName(swimReduceBytes)), r, "a job")
	im.fill("output", "shuffle and output bytes are spread evenly over the tasks", "")
	for _, lacking := range []string{"duration", "user", "queue", "container", "hosts"} {
		im.lacks(lacking)
	}
	return im.add(line, j)
}

// notStated is the rule for what the trace does not say.
const notStated = "not stated by the trace"

// What a simulation assumes for what is not stated.
const (
	ownContainer = "1024 MiB and 1 vcore, of a master 1536 MiB and 1 vcore"
	ownDuration  = "what the work takes on its node in the full world"
)

// lacks records what the trace does not say and what is assumed for it.
func (im *importer) lacks(field string) {
	im.fill(field, notStated, map[string]string{
		"duration": ownDuration, "user": "one user without a name", "queue": "default", "container": ownContainer,
		"hosts": "drawn as HDFS places blocks",
	}[field])
}

// part returns the i-th of n parts of total, which differ by at most 1 and add up to it.
func part(total, n int64, i int) int64 {
	p := total / n
	if int64(i) < total%n {
		p++
	}
	return p
}

func ceilDiv(a, b int64) int64 { return a/b + min(1, a%b) }

// sizeName writes bytes in the largest binary unit that divides them.
func sizeName(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	u := 0
	for ; u < len(units)-1 && n >= 1024 && n%1024 == 0; u++ {
		n /= 1024
	}
	return fmt.Sprintf("%d %s", n, units[u])
}
