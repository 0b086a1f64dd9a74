package search

import (
	"heddle"
	"heddle/cluster"
	"heddle/policy"
	"heddle/rm"
	"heddle/yarn/ids"
)

// A meddler is a control policy that does everything at some time: it resizes, suspends and resumes containers.
type meddler struct{}

func (meddler) Every() heddle.Span { return 3 * heddle.Second }

func (meddler) Run(v policy.View, p *policy.Plan) {
	for i := range v.AppIDs() {
		a := v.App(heddle.AppID(i))
		if a == nil {
			continue
		}
		a.Each(func(x *policy.Container) bool {
			if x.State() != cluster.Running {
				return true
			}
			switch d := mix(uint64(x.ID()), uint64(v.Now()/heddle.Time(3*heddle.Second))); {
			case d.in(8):
				size := x.Told()
				size[heddle.Memory] = size[heddle.Memory] * int64(2+d.n(5)) / 4
				p.Resize(x.ID(), size)
			case d.in(8) && x.Suspended():
				p.Resume(x.ID())
			case d.in(12):
				p.Freeze(x.ID(), heddle.Span(d.n(2)*(d.n(20)+1))*heddle.Second)
			case d.in(9):
				p.Bound(x.ID(), int64(d.n(4)+1)*500, int64(d.n(3))*400)
			}
			return true
		})
	}
}

// meddles makes a scheduler want everything that can be done to running containers, and use all that masters tell.
func meddles(set *policy.Set) {
	set.Control = append(set.Control, meddler{})
	set.Feeds = set.Feeds.And(policy.Feeds{Progress: 3 * heddle.Second, Output: true, Peaks: true, Profile: 3 * heddle.Second, Heaps: true, Splits: true, Disks: true})
}

// readJob reads what a client left beside its submission: sooner or later, or never.
func (s *sim) readJob(e *rm.ReadJob) {
	d := mix(s.seed, 21, uint64(e.App.Seq))
	p := &rm.JobRead{App: e.App}
	switch d.n(4) {
	case 0:
		return
	case 1:
		p.Failed = "no such file"
	default:
		p.Maps, p.Reduces = int32(d.n(20)), int32(d.n(4))
		p.Demand = heddle.Demand{Containers: p.Maps, Each: heddle.Of(gib, 1000)}
		for range p.Maps {
			p.Splits = append(p.Splits, rm.SplitNews{Bytes: int64(d.n(1 << 30)), Hosts: []string{pick(d, "n0", "n1", "elsewhere")}})
		}
	}
	s.note("  read what is beside %s", e.App)
	s.after1(d.span(heddle.Millisecond, 5*heddle.Second), func() { s.step(p) })
}

// askMaster makes a master answer a question, in one way or another: it may be late, wrong, or gone.
func (s *sim) askMaster(e *rm.AskMaster) {
	d := mix(s.seed, 22, uint64(e.Attempt.App.Seq), uint64(s.now))
	s.note("  ask %s", e.Attempt)
	p := &rm.MasterTold{Attempt: e.Attempt, Requests: 1, Bytes: 100}
	if d.in(5) {
		p.Failed = "no answer"
	}
	for i := range int32(d.n(12)) {
		t := rm.TaskNews{
			Task: rm.Task{Kind: pick(d, heddle.Map, heddle.Map, heddle.Reduce, heddle.AM), Index: i - 1}, Listed: !d.in(4),
			State: pick(d, rm.TaskWaits, rm.TaskRuns, rm.TaskRuns, rm.TaskSucceeded, rm.TaskFailed), Phase: pick(d, heddle.NoPhase, heddle.MapRead, heddle.ReduceCopy, heddle.ReduceWrite),
			Progress: float64(d.n(30)-5) / 20, Counted: d.in(3), Output: int64(d.n(1 << 20)), Memory: int64(d.n(1000)) - 100, NodeHTTP: pick(d, "", "n0:2", "n1:2"),
		}
		if !d.in(3) {
			t.Container = ids.Container{Attempt: e.Attempt, ID: 1 + int64(d.n(20))}
		}
		if d.in(6) {
			t.Container.Attempt.App.Seq++
		}
		p.Tasks = append(p.Tasks, t)
	}
	p.Executors = []rm.ExecutorNews{{Container: ids.Container{Attempt: e.Attempt, ID: 2}}}
	p.Stages = []rm.StageNews{{Tasks: int32(d.n(9)), Done: int32(d.n(9)) - 2}}
	p.Heap = rm.HeapNews{Live: int64(d.n(500)) - 50, Outside: int64(d.n(200))}
	if d.in(20) {
		return
	}
	s.after1(d.span(heddle.Millisecond, 20*heddle.Second), func() { s.step(p) })
}

// updated makes a node change the sizes of containers, most of the time.
func (s *sim) updated(n *node, list []rm.Update) {
	for i := range list {
		u := &list[i]
		w := n.works[u.ID]
		if w == nil || w.Over || u.Version <= w.version || mix(s.seed, 23, uint64(u.ID.ID), uint64(u.Version)).in(6) {
			continue
		}
		w.version, w.Size, w.Parked = u.Version, u.Limit.Whole(), u.Parked
		s.stats.Updates++
	}
}
