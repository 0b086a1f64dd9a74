package sim

import (
	"errors"
	"slices"

	"heddle"
	"heddle/rm"
	"heddle/sim/apps"
)

// masterBeat makes an allocate call.
func (s *Sim) masterBeat(a *app) {
	if a.master == nil {
		return
	}
	s.called.at, s.called.app = s.now, a.id
	out := s.actions()
	a.master.Call(s.now, out)
	if out.Finish == apps.Running {
		in, err := s.call(a, out)
		if err != nil {
			s.fail(a, refusal(err))
			return
		}
		a.master.Answer(s.now, in, out)
	}
	s.perform(a)
	if i, ok := a.master.(apps.Idler); ok && i.Idle() && !s.o.EveryBeat && len(a.lost) == 0 && !s.rm.HasNews(a.attempt) {
		a.parked = true
		a.beatGen++
	}
}

// refusal says in words why a master's call was refused.
func refusal(err error) string {
	if e := (*rm.Invalid)(nil); errors.As(err, &e) && rm.AsksTooMuch(e) {
		return tooLarge
	}
	return "the ResourceManager refuses its master's call: " + err.Error()
}

// call sends a master's requests to the ResourceManager and returns the answer.
func (s *Sim) call(a *app, out *apps.Actions) (*apps.Response, error) {
	q := &s.allocate
	*q = rm.Allocate{Who: rm.Caller{Attempt: a.attempt}, Last: a.lastID, Answer: &s.given, Ask: q.Ask[:0], Release: q.Release[:0]}
	for i := range out.Rows {
		r := &out.Rows[i]
		q.Ask = append(q.Ask, rm.Request{
			Priority: r.Priority, AllocID: r.AllocID, Place: s.place(r), Size: r.Size, Count: r.Count, Strict: r.Strict,
		})
	}
	for _, id := range out.Release {
		if c := s.container(id); c != nil {
			q.Release = append(q.Release, c.name)
		}
	}
	if out.Excluding {
		q.Avoid, q.Accept = s.hostsIn(out.Exclude, a.excluded), s.hostsIn(a.excluded, out.Exclude)
		a.excluded = slices.Clone(out.Exclude)
	}
	answer, err := s.ask(q)
	if err != nil {
		return nil, err
	}
	return s.read(a, answer.(*rm.Allocated)), nil
}

// hostsIn returns the names of the nodes in list that are not in not.
func (s *Sim) hostsIn(list, not []heddle.NodeID) (hosts []string) {
	for _, n := range list {
		if !slices.Contains(not, n) {
			hosts = append(hosts, s.nodes[n].name.Host)
		}
	}
	return hosts
}

// read converts an answer to the form masters take. Masters hear of lost nodes here, even of a node that came back
// before it was given up, which a real master would notice only when fetching from it fails.
func (s *Sim) read(a *app, p *rm.Allocated) *apps.Response {
	in := &s.answer
	*in = apps.Response{
		Granted: in.Granted[:0], Completed: in.Completed[:0], LostNodes: append(in.LostNodes[:0], a.lost...),
		Headroom: p.Headroom, Nodes: p.LiveNodes,
	}
	a.lost, a.lastID = a.lost[:0], p.ID
	for i := range p.Granted {
		c := s.containerOf(p.Granted[i].ID)
		c.fetched = true
		in.Granted = append(in.Granted, apps.Grant{
			Container: c.id, Node: c.node, Priority: p.Granted[i].Priority, AllocID: p.Granted[i].AllocID, Kind: c.kind, Size: p.Granted[i].Size,
		})
	}
	for i := range p.Completed {
		x := &p.Completed[i]
		in.Completed = append(in.Completed, apps.Completed{
			Container: a.numbers[x.ID.Attempt.N-1][x.ID.ID-1], Status: heddle.ExitStatus(x.Exit),
		})
	}
	return in
}
