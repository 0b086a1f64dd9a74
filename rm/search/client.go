package search

import (
	"cmp"
	"errors"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// notRegistered is an exception that masters act on, without its package.
const notRegistered = "ApplicationMasterNotRegisteredException"

// A job is an application and the client that wants it.
type job struct {
	n         int
	kind      string
	queue     string
	id        ids.App
	given     bool // it has an id, and is submitted until that is acknowledged or refused
	acked     bool
	over      bool
	regret    bool // its client kills it soon after its submission
	sub       rm.Submission
	maps      int
	reduces   int
	executors int
	size      int64       // of its tasks, in MiB
	vcores    int64       // of its tasks, in thousandths
	took      heddle.Span // run time of a Spark job, from its first executor on
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.name, b.name))
}

// newJob creates a job.
func (s *sim) newJob(d *dice) *job {
	j := &job{n: len(s.jobs), kind: pick(d, "MAPREDUCE", "MAPREDUCE", "SPARK"), queue: pick(d, "default", "default", "a", "b", "new"), size: pick[int64](d, 512, gib, 2*gib)}
	j.vcores = pick[int64](mix(s.seed, 24, uint64(j.n)), 1000, 1000, 2000)
	if j.kind == "SPARK" {
		j.executors, j.took = 1+d.n(6), d.span(20*heddle.Second, 120*heddle.Second)
	} else {
		j.maps, j.reduces = 1+d.n(16), d.n(4)
	}
	j.sub = rm.Submission{
		Name: names[j.n/2%len(names)], Type: j.kind, Master: heddle.Of(pick[int64](d, 512, gib), 1000), MaxAttempts: int32(pick(d, 0, 0, 1, 3)),
	}
	if d.in(2) { // otherwise only its name is known, as with stock clients
		j.sub.Facts = heddle.Facts{Maps: int32(j.maps), Reduces: int32(j.reduces), MasterHeap: 400}
	}
	if d.in(4) {
		j.sub.Priority = new(int32(d.n(12)))
	}
	if d.in(4) {
		j.sub.FailureWindow = heddle.Minute
	}
	if d.in(8) {
		j.sub.Lifetimes = []int64{int64(30 + d.n(300))}
	}
	j.regret = d.in(8)
	s.jobs = append(s.jobs, j)
	s.stats.Jobs++
	return j
}

// submit submits a job until it is known to have arrived.
func (s *sim) submit(j *job) {
	again := func() { s.after(2*heddle.Second, func() { s.submit(j) }) }
	if !j.given {
		s.call(&s.client, func(c rm.Call) rm.Message { return &rm.NewApp{Call: c, User: user(j)} }, func(v any, _ error) {
			j.id, j.given = v.(rm.NewAppID).ID, true
			j.sub.ID = j.id
			j.sub.Context, j.sub.Rest = []byte("all of "+j.id.String()), []byte("the rest of "+j.id.String())
			s.disk.contexts[j.id] = j.sub
			s.submit(j)
		}, again)
		return
	}
	s.call(&s.client, func(c rm.Call) rm.Message {
		q := &rm.SubmitApp{Call: c, Who: rm.Person{User: user(j)}, Queue: j.queue, App: j.sub}
		queue, err := s.shell.m.Scheduler().Place(rm.Placement{User: user(j), Queue: j.queue, Name: j.sub.Name})
		if err != nil {
			q.Misplaced = err.Error()
		} else {
			q.Queue = queue
		}
		return q
	}, func(_ any, err error) {
		if bad := (*rm.Invalid)(nil); errors.As(err, &bad) {
			s.note("   %s is refused: %v", j.id, err)
			j.over = true
		}
	}, again)
	if j.regret {
		d := mix(s.seed, 12, uint64(j.n))
		s.after(pick(d, 0, 3*heddle.Second, 15*heddle.Second), func() {
			s.order(func(c rm.Call) rm.Message { return &rm.KillApp{Call: c, Who: rm.Person{User: user(j)}, App: j.id} })
		})
	}
}

func user(j *job) string { return users[j.n%len(users)] }

// users submit jobs with these names; the last ones are from clients that were given no name.
var (
	users = []string{"ann", "bob"}
	names = []string{"sort", "sort", "scan", "", "N/A"}
)

// order sends a message that changes a job, and does not care whether it arrives.
func (s *sim) order(what func(rm.Call) rm.Message) {
	s.call(&s.client, what, func(any, error) {}, func() {})
}
