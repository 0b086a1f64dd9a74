package search

import (
	"fmt"
	"reflect"

	"heddle/rm"
)

// callOf returns the number of a message that needs an answer; waits says that the answer may wait for the disk.
func callOf(msg rm.Message) (c rm.Call, waits bool) {
	switch q := msg.(type) {
	case *rm.SubmitApp:
		return q.Call, true
	case *rm.KillApp:
		return q.Call, true
	case *rm.MoveApp:
		return q.Call, true
	case *rm.SetPriority:
		return q.Call, true
	case *rm.SetLifetime:
		return q.Call, true
	case *rm.FinishMaster:
		return q.Call, true
	case *rm.AgentSync: // until there is something new
		return q.Call, true
	case rm.Stored, rm.StoreShort, rm.Tick, *rm.Started, *rm.KeyMade, *rm.JobRead, *rm.MasterTold:
		return 0, false
	default:
	}
	return rm.Call(reflect.ValueOf(msg).Elem().FieldByName("Call").Uint()), false
}

// dull reports whether a trace omits a message and its effects: a heartbeat or a call without news.
func dull(msg rm.Message, effects []rm.Effect) bool {
	if len(effects) > 1 {
		return false
	}
	switch q := msg.(type) {
	case *rm.BeatNode:
		p := answer[*rm.NodeBeat](effects)
		return p != nil && p.Action == rm.GoOn && len(p.Cleanup)+len(p.Forget)+len(p.CleanApp) == 0 && p.Total == nil
	case *rm.Allocate:
		p := answer[*rm.Allocated](effects)
		return p != nil && len(p.Granted)+len(p.Completed)+len(q.Ask)+len(q.Release)+len(q.Avoid)+len(q.Accept) == 0
	case *rm.AgentSync:
		return true
	case rm.Tick:
		return len(effects) == 0
	default:
	}
	return false
}

// describe formats a message for people.
func describe(msg rm.Message) string {
	switch q := msg.(type) {
	case *rm.BeatNode:
		return fmt.Sprintf("BeatNode %s last %d sick %v runs %v%s", q.Node, q.Last, q.Health.Sick, q.Running, ends(q.Ended))
	case *rm.RegisterNode:
		return fmt.Sprintf("RegisterNode %s %s total %v sick %v %s", q.Node, q.Rack, q.Total, q.Health.Sick, containers(q.Containers))
	case *rm.SubmitApp:
		return fmt.Sprintf("SubmitApp %s %s to %s%s", q.App.ID, q.App.Type, q.Queue, q.Misplaced)
	case *rm.Allocate:
		s := fmt.Sprintf("Allocate %s last %d", q.Who.Attempt, q.Last)
		for _, k := range q.Ask {
			s += fmt.Sprintf(" %d×%s@%d", k.Count, k.Place, k.Priority)
		}
		return s + fmt.Sprintf(" release %v avoid %v accept %v", q.Release, q.Avoid, q.Accept)
	case *rm.Refresh:
		return "Refresh"
	default:
	}
	return fmt.Sprintf("%T %+v", msg, reflect.Indirect(reflect.ValueOf(msg)).Interface())
}

func ends(list []rm.ContainerEnd) string {
	s := ""
	for i := range list {
		s += fmt.Sprintf(" %s(over: %d)", list[i].ID, list[i].Exit)
	}
	return s
}

func containers(list []rm.ContainerNews) string {
	s := ""
	for i := range list {
		s += " " + list[i].ID.String()
		if list[i].Over {
			s += fmt.Sprintf("(over: %d)", list[i].Exit)
		}
	}
	return s
}

// answered formats an answer for people.
func answered(a *rm.Answer) string {
	switch {
	case a.Err != nil:
		return "error: " + a.Err.Error()
	case a.Value == nil:
		return "done"
	}
	if p, ok := a.Value.(*rm.NodeBeat); ok {
		s := p.Text
		for _, l := range []struct {
			what string
			list any
			n    int
		}{{"cleanup", p.Cleanup, len(p.Cleanup)}, {"forget", p.Forget, len(p.Forget)}, {"clean", p.CleanApp, len(p.CleanApp)}} {
			if l.n > 0 {
				s += fmt.Sprintf(" %s %v", l.what, l.list)
			}
		}
		return s
	}
	if p, ok := a.Value.(*rm.Allocated); ok {
		if len(p.Granted)+len(p.Completed) == 0 {
			return ""
		}
		s := fmt.Sprintf("%d granted", p.ID)
		for i := range p.Granted {
			s += fmt.Sprintf(" %s@%s", p.Granted[i].ID, p.Granted[i].Node)
		}
		return s + " completed" + ends(p.Completed)
	}
	return fmt.Sprintf("%+v", reflect.Indirect(reflect.ValueOf(a.Value)).Interface())
}
