package sim

import (
	"slices"

	"heddle"
	"heddle/policy"
	"heddle/rm"
)

// answerAfter is how old what a master says of its tasks is when it is heard, on average: they report to it every 6 s
// (mapreduce.task.progress-report.interval; without it a hundredth of mapreduce.task.timeout), and the answer takes a
// little. What was asked is answered as it was when it was asked.
const answerAfter = 3200 * heddle.Millisecond

// askMaster has a master answer what it is asked. Of Spark nothing is told: no executor says how far it is.
func (s *Sim) askMaster(q *rm.AskMaster) {
	a := s.appOf(q.Attempt.App)
	p := &rm.MasterTold{Attempt: q.Attempt, Requests: 1}
	if a.master == nil {
		p.Failed = "the master does not answer"
	} else {
		if q.Tasks {
			s.tellRunning(a, q, p)
			for i := range a.succeeded {
				if q.Kinds.Has(a.succeeded[i].Kind) {
					p.Tasks = append(p.Tasks, a.succeeded[i])
				}
			}
		}
		s.tellOneByOne(a, q, p)
	}
	a.said = append(a.said, p)
	s.heap.push(entry{at: s.now.Plus(answerAfter), what: told, id: int64(a.id)})
}

// masterTold is a master's answer being heard.
func (s *Sim) masterTold(a *app) {
	p := a.said[0]
	a.said = a.said[1:]
	s.say(p)
	if s.tracer == nil {
		return
	}
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Listed && t.State == rm.TaskRuns {
			if c := s.containerOf(t.Container); c != nil {
				s.tracer.reported(s, c)
			}
		}
	}
}

// tellRunning adds how far the tasks are that run.
func (s *Sim) tellRunning(a *app, q *rm.AskMaster, p *rm.MasterTold) {
	v := s.core().View().App(a.aid)
	if v == nil {
		return
	}
	var ids []heddle.ContainerID
	v.Each(func(x *policy.Container) bool {
		ids = append(ids, x.ID())
		return true
	})
	for _, id := range slices.Backward(ids) {
		c := s.container(id)
		if c == nil || !c.up || c.over || c.name.Attempt != q.Attempt || !q.Kinds.Has(c.kind) || c.index < 0 || c.kind == heddle.Executor {
			continue
		}
		phase, progress := s.phys.progress(s.now, c)
		p.Tasks = append(p.Tasks, rm.TaskNews{
			Task: rm.Task{Kind: c.kind, Index: c.index}, Listed: true, State: rm.TaskRuns, Phase: phase, Progress: progress, Container: c.name,
		})
	}
}

// tellOneByOne adds what the tasks used that have ended.
func (s *Sim) tellOneByOne(a *app, q *rm.AskMaster, p *rm.MasterTold) {
	for _, of := range q.Counters {
		if i := slices.IndexFunc(a.succeeded, func(t rm.TaskNews) bool { return t.Task == of }); i >= 0 {
			t := a.succeeded[i]
			t.Listed, t.Counted = false, true
			p.Tasks = append(p.Tasks, t)
			p.Requests++
		}
	}
}

// counts keeps what a task used that has ended well, for who asks its master.
func (s *Sim) counts(a *app, c *container, e *ended) {
	if !s.asks || e.work.Kind != heddle.Map && e.work.Kind != heddle.Reduce {
		return
	}
	_, memory := s.phys.consumed(s.now, c)
	a.succeeded = append(a.succeeded, rm.TaskNews{
		Task: rm.Task{Kind: e.work.Kind, Index: e.work.Index}, Listed: true, State: rm.TaskSucceeded, Progress: 1, Container: c.name,
		NodeHTTP: s.nodes[c.node].name.Host + ":0", Output: e.output, Memory: memory,
	})
}
