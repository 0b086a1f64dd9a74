package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"heddle"
	"heddle/workload"
)

// A builder builds the listed jobs for one seed.
type builder struct {
	s      *Scenario
	w      *workload.Workload
	seed   uint64
	placed bool // some block has hosts
	tasks  int
}

// group builds the jobs of one entry of the list.
func (b *builder) group(n int) error {
	r := &b.s.jobs[n]
	for i, at := range r.arrivals(stream(b.seed, streamArrivals, n)) {
		j, err := b.job(n, i)
		if err != nil {
			return err
		}
		j.Submit = heddle.Time(at)
		b.w.Jobs = append(b.w.Jobs, j)
	}
	return nil
}

// jobs returns how many jobs an entry stands for.
func (r *rawJob) jobs() int {
	if n := len(r.Arrival.At); n > 0 {
		return n
	}
	return r.Count.or(1)
}

// arrivals returns the times at which they arrive. The first arrival of a Poisson process comes after a gap too.
func (r *rawJob) arrivals(rng *rand.Rand) []heddle.Span {
	out := make([]heddle.Span, r.jobs())
	at := r.Submit.value
	for i := range out {
		switch a := &r.Arrival; {
		case len(a.At) > 0:
			out[i] = r.Submit.value + a.At[i].value
			continue
		case a.Poisson.set:
			at += exponential(a.Poisson.value, rng)
		case a.Every.set && i > 0:
			at += a.Every.value
		}
		at = min(at, workload.MaxSpan)
		out[i] = at
	}
	return out
}

// exponential draws from an exponential distribution, limited to MaxSpan.
func exponential(mean heddle.Span, rng *rand.Rand) heddle.Span {
	return heddle.Span(min(rng.ExpFloat64()*float64(mean), float64(workload.MaxSpan)))
}

// id returns the name of the i-th job of an entry: the entry's id, or job and its number in the list, followed by a
// number if there are several.
func (r *rawJob) id(entry, i int) string {
	id := r.ID.value
	if id == "" {
		id = fmt.Sprintf("job%d", entry+1)
	}
	if r.jobs() > 1 {
		id = fmt.Sprintf("%s-%d", id, i+1)
	}
	return id
}

// job builds the i-th job of an entry, without its submission time.
func (b *builder) job(n, i int) (workload.Job, error) {
	r := &b.s.jobs[n]
	j := workload.Job{
		ID: r.id(n, i), Name: r.ID.value, Program: r.Program.value, Queue: r.Queue.value, User: r.User.value,
		Priority: int32(r.Priority.value), Framework: heddle.MapReduce, Master: r.Master.resource(), SlowStart: -1,
		Replicas: r.Replicas.value, StartUp: r.StartUp.value,
	}
	if r.SlowStart.set {
		j.SlowStart = r.SlowStart.value
	}
	blocks := b.blocks(n, i)
	if r.isSpark() {
		j.Framework = heddle.Spark
		if err := b.room(r, r.sparkTasks()); err != nil {
			return j, err
		}
		j.Spark = b.spark(r, blocks)
		return j, nil
	}
	splits := r.splits()
	if err := b.room(r, len(splits)+r.Reduces.value); err != nil {
		return j, err
	}
	input := sum(splits)
	shuffle, output := r.Shuffle.of(input), r.Output.of(input)
	mapOut, reduces, mapsSaid := shuffle, r.Reduces.value, r.Shuffle.set
	if reduces == 0 {
		mapOut, mapsSaid = output, r.Output.set
	}
	j.Maps = make([]workload.Task, len(splits))
	for k, bytes := range splits {
		j.Maps[k] = workload.Task{
			Input: bytes, Output: part(mapOut, len(splits), k), Hosts: blocks(bytes), Size: r.MapSize.resource(), Duration: r.MapTime.value,
		}
		j.Maps[k].NoOutput = mapsSaid && j.Maps[k].Output == 0
	}
	j.Reduces = make([]workload.Task, reduces)
	for k := range j.Reduces {
		j.Reduces[k] = workload.Task{
			Input: part(shuffle, reduces, k), Output: part(output, reduces, k), Size: r.ReduceSize.resource(), Duration: r.ReduceTime.value,
		}
		j.Reduces[k].NoOutput = r.Output.set && j.Reduces[k].Output == 0
	}
	return j, nil
}

func (b *builder) room(r *rawJob, tasks int) error {
	if b.tasks += tasks; b.tasks > workload.MaxTasks {
		return b.s.at(r.errorf("more than %d tasks in all", workload.MaxTasks))
	}
	return nil
}

func (r *rawJob) isSpark() bool { return r.Framework.value == "spark" }

// splits returns the bytes each map reads: input and split size determine how many there are, input and maps how large
// they are, maps and split size how much input there is.
func (r *rawJob) splits() []int64 {
	block := int64(workload.DefaultBlockSize)
	if r.Split.set {
		block = r.Split.bytes
	}
	if r.Maps.set {
		out := make([]int64, r.Maps.value)
		for i := range out {
			switch {
			case r.Input.set:
				out[i] = part(r.Input.bytes, len(out), i)
			case r.Split.set:
				out[i] = block
			}
		}
		return out
	}
	var out []int64
	for left := r.Input.bytes; left > 0; left -= block {
		out = append(out, min(left, block))
	}
	return out
}

// resource returns the size, or zero if none is given.
func (r *rawSize) resource() heddle.Resource {
	return heddle.Of(r.Memory.mib, int64(r.Vcores.value)*1000)
}

// part returns the i-th of n parts of total, which differ by at most 1 and add up to it.
func part(total int64, n, i int) int64 {
	p := total / int64(n)
	if int64(i) < total%int64(n) {
		p++
	}
	return p
}

func sum(of []int64) int64 {
	var s int64
	for _, n := range of {
		s += n
	}
	return s
}

// at adds the file's path to an error.
func (s *Scenario) at(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Path = s.Path
	}
	return err
}
