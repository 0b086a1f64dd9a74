package rm

import (
	"time"

	"heddle"
)

// tally counts what became of applications.
type tally struct {
	submitted, completed, killed, failed int
	queues                               map[string]*queueTally
}

type queueTally struct{ completed, killed, failed int }

func (t *queueTally) ended() int { return t.completed + t.killed + t.failed }

func (t *tally) queue(path string) *queueTally {
	if t.queues == nil {
		t.queues = map[string]*queueTally{}
	}
	q := t.queues[path]
	if q == nil {
		q = &queueTally{}
		t.queues[path] = q
	}
	return q
}

// keep leaves the queues that there are. What became of applications in others counts for the queue above.
func (t *tally) keep(queues map[string]heddle.QueueID) {
	for path, q := range t.queues {
		if _, ok := queues[path]; ok {
			continue
		}
		delete(t.queues, path)
		if up := lowest(queues, path); up != "" {
			sum := t.queue(up)
			sum.completed, sum.killed, sum.failed = sum.completed+q.completed, sum.killed+q.killed, sum.failed+q.failed
		}
	}
}

// end counts an application that is over; known says that its queue is one that there is, not just what its
// user wrote.
func (t *tally) end(a *app, known bool) {
	q := &queueTally{}
	if known {
		q = t.queue(a.queue)
	}
	switch AppState(a.state) {
	case AppFailed:
		t.failed++
		q.failed++
	case AppKilled:
		t.killed++
		q.killed++
	default:
		t.completed++
		q.completed++
	}
}

// busyness is how much of the last seconds the loop was working.
type busyness struct {
	from    time.Time
	idleFor time.Duration
	last    float64
}

// busyWindow is the time a figure is taken over.
const busyWindow = 5 * time.Second

// idle notes that the loop waited.
func (b *busyness) idle(from, to time.Time) {
	if b.from.IsZero() {
		b.from = from
	}
	b.idleFor += to.Sub(from)
	if span := to.Sub(b.from); span >= busyWindow {
		b.last = 100 * (1 - float64(b.idleFor)/float64(span))
		b.from, b.idleFor = to, 0
	}
}

// percent is the latest figure.
func (b *busyness) percent() float64 { return b.last }
