package rm

import "heddle"

// tally counts the outcomes of applications, and of changes to running containers on nodes.
type tally struct {
	submitted, completed, killed, failed int
	queues                               map[string]*queueTally
	updates                              UpdateCounts
	deeds                                DeedCounts
	agents                               AgentCounts
	undone                               [heddle.NumCaps]uint64 // by previous cores
}

type queueTally struct {
	completed, killed, failed int
	away                      int // applications submitted to it that moved away, less those that moved in
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

// keep drops the queues that no longer exist. Their counts are added to the queue above.
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

// move counts a move between queues. The application still counts as submitted to the first one.
func (t *tally) move(from, to string) {
	t.queue(from).away++
	t.queue(to).away--
}

// end counts a completed application; known says that its queue exists and is not just what the user wrote.
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
