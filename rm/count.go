package rm

import "heddle"

// tally counts what became of applications, and of what nodes were to make of running containers.
type tally struct {
	submitted, completed, killed, failed int
	queues                               map[string]*queueTally
	updates                              UpdateCounts
	deeds                                DeedCounts
	agents                               AgentCounts
	undone                               [heddle.NumCaps]uint64 // of cores before the one there is
}

type queueTally struct {
	completed, killed, failed int
	away                      int // applications that were submitted to it and moved away, less those that came from elsewhere
}

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
	for path, q := range t.queues { // order: sums
		if _, ok := queues[path]; ok {
			continue
		}
		delete(t.queues, path)
		if up := lowest(queues, path); up != "" {
			sum := t.queue(up)
			sum.completed, sum.killed, sum.failed = sum.completed+q.completed, sum.killed+q.killed, sum.failed+q.failed
			sum.away += q.away
		}
	}
}

// move counts an application that goes from one queue to another. It was submitted to the first all the same.
func (t *tally) move(from, to string) {
	t.queue(from).away++
	t.queue(to).away--
}

// end counts an application that is over; known says that its queue is one that there is, not just what its
// user wrote.
func (t *tally) end(a *app, known bool) {
	q := &queueTally{}
	if known {
		q = t.queue(a.queue)
	}
	switch a.state {
	case appFailed:
		t.failed++
		q.failed++
	case appKilled:
		t.killed++
		q.killed++
	default:
		t.completed++
		q.completed++
	}
}
