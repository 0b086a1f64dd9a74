package conf

import (
	"errors"
	"fmt"
	"math"

	"heddle"
)

// A Job is what the configuration of one MapReduce job says of its tasks, with Hadoop's defaults filled in.
type Job struct {
	Maps        int32 // as its client counted its splits; 0 where it did not
	Reduces     int32
	Map, Reduce heddle.Resource // a container of each
	Uber        bool            // its master may run its tasks itself
	Timeout     heddle.Span     // after which a task that reports nothing is killed; 0 for never
}

// Largest container that a job may ask for: 1 PiB, a million vcores. More is a mistake, or an attempt to make sums overflow.
const (
	maxTaskMemory = 1 << 30
	maxTaskCPU    = 1_000_000_000
)

const (
	defaultTaskTimeout = 600_000
	maxTaskTimeout     = math.MaxInt32 // ms: three weeks, beyond which nobody waits
)

// ReadJob reads the configuration that a MapReduce client leaves beside its job, job.xml. The text is its client's: it
// includes no files, and knows no environment. The error says what is wrong with it.
func ReadJob(data []byte) (*Job, error) {
	const name = "job.xml"
	l := newLoader(
		func(string) ([]byte, error) { return nil, errors.New("a job's configuration includes no files") },
		nowhere,
	)
	r := &propReader{open: l.open, log: l.log}
	props, err := r.read(name, data)
	if err != nil {
		return nil, err
	}
	ps := newProperties(l.log, l.outside).over(props)
	var site Site
	readMapReduce(ps, &site)
	j := &Job{
		Maps:    int32(ps.integer("mapreduce.job.maps", 0, 0)),
		Reduces: int32(ps.integer("mapreduce.job.reduces", 1, 0)),
		Map:     site.Map, Reduce: site.Reduce,
		Uber:    ps.flag("mapreduce.job.ubertask.enable", false),
		Timeout: heddle.Span(ps.timeout()) * heddle.Millisecond,
	}
	if err := l.log.err(); err != nil {
		return nil, err
	}
	for _, size := range []heddle.Resource{j.Map, j.Reduce} {
		if size[heddle.Memory] > maxTaskMemory || size[heddle.CPU] > maxTaskCPU || size.AnyNegative() {
			return nil, fmt.Errorf("%s: no container can have %d MiB and %d thousandths of a vcore", name, size[heddle.Memory], size[heddle.CPU])
		}
	}
	return j, nil
}

// timeout returns mapreduce.task.timeout in milliseconds, 0 for never. What is no number is the default.
func (ps *properties) timeout() int64 {
	v, p := ps.value("mapreduce.task.timeout")
	if p == nil {
		return defaultTaskTimeout
	}
	n, err := parseInt(v)
	if err != nil {
		return defaultTaskTimeout
	}
	return min(max(n, 0), maxTaskTimeout)
}
