package apps

import (
	"testing"

	"heddle"
	"heddle/workload"
)

// One job from a run of the real simulator: three maps of 3.985 s, JCT 9.0 s. Its master ran at 0.5 s. It asks at 1 s.
// The containers come with the answer at 2 s and are launched at 3 s. They end at 6.985 s, and their nodes report that
// at 7.x s. The answer at 8 s tells the master, which acts on it at 9 s.
func TestLoadSimulatorTiming(t *testing.T) {
	s := start(t, NewLoadSimulator(mrJob(3, 0, 0), Config{Submitted: heddle.Time(7 * heddle.Second)}), heddle.Time(7500*heddle.Millisecond))
	s.beatAt(8000, Response{}, "20:*=3")
	s.beatAt(9000, Response{Granted: gr(20, heddle.Map, gib, 0, 1, 3)}, "")
	s.beatAt(10000, Response{}, "launch:1 launch:2 launch:3 map0.0@1 map1.0@2 map2.0@3")
	for range 4 {
		s.beat(Response{}, "")
	}
	s.done(1, true, "") // the tasks themselves tell it nothing
	s.beatAt(15000, Response{Completed: ended(heddle.Success, 1, 2, 3)}, "")
	s.beatAt(16000, Response{}, "finished")
}

// Reduces follow when all maps have ended; a job's tasks are asked for at the first one's size.
func TestLoadSimulatorReduces(t *testing.T) {
	j := mrJob(2, 2, 2048)
	j.Maps[0].Size = heddle.Of(4096, 2000)
	j.Maps[1].Size = gib
	s := start(t, NewLoadSimulator(j, Config{}), 0)
	s.beat(Response{Granted: gr(20, heddle.Map, gib, 0, 1, 1)}, "20:*=2")
	if got := s.out.Rows[0].Size; got != j.Maps[0].Size {
		t.Errorf("asked for %v, want the first map's size", got)
	}
	// Rows are not sent again when containers arrive, and a surplus container is given back.
	s.beat(Response{Granted: gr(20, heddle.Map, gib, 0, 2, 2)}, "launch:1 map0.0@1")
	s.beat(Response{Completed: ended(heddle.Success, 1)}, "release:3 launch:2 map1.0@2")
	s.beat(Response{Completed: append(ended(heddle.Success, 2), ended(heddle.Aborted, 3)...)}, "")
	s.beat(Response{Granted: gr(10, heddle.Reduce, heddle.Of(2048, 1000), 0, 4, 2)}, "10:*=2")
	s.beat(Response{}, "launch:4 launch:5 reduce0.0@4 reduce1.0@5")
	// A container that did not end well is asked for again, without a limit.
	s.beat(Response{Completed: ended(heddle.Preempted, 5)}, "")
	s.beat(Response{Granted: gr(10, heddle.Reduce, heddle.Of(2048, 1000), 0, 6, 1)}, "10:*=1")
	s.beat(Response{Completed: ended(heddle.Success, 4)}, "launch:6 reduce1.1@6")
	s.beat(Response{Completed: ended(heddle.Success, 6)}, "")
	s.beat(Response{}, "finished")
}

// Containers of no kind keep their own priorities, sizes and places.
func TestLoadSimulatorOther(t *testing.T) {
	j := &workload.Job{Other: []workload.Task{
		{Size: gib, Priority: 3}, {Size: heddle.Of(2048, 1000), Priority: 3}, {}, {Size: gib, Priority: 3},
	}}
	c := Config{Rack: []heddle.RackID{0}, Hosts: func(w Work) []heddle.NodeID {
		if w.Index == 3 {
			return []heddle.NodeID{0}
		}
		return nil
	}}
	s := start(t, NewLoadSimulator(j, c), 0)
	g := gr(3, heddle.Other, heddle.Of(2048, 1000), 0, 1, 1)
	g[0].AllocID = 1
	g = append(g, gr(3, heddle.Other, gib, 0, 2, 2)...)
	s.beat(Response{Granted: append(g, gr(20, heddle.Other, gib, 0, 4, 1)...)}, "3:*=2 3:r0=1 3:h0=1 3:*=1 20:*=1")
	if got := s.out.Rows[3]; got.AllocID != 1 || got.Size != heddle.Of(2048, 1000) {
		t.Errorf("second size at one priority: %+v, want an allocation id of its own", got)
	}
	s.beat(Response{Completed: ended(heddle.Success, 1, 2, 3, 4)},
		"launch:1 launch:2 launch:3 launch:4 other1.0@1 other0.0@2 other3.0@3 other2.0@4")
	s.beat(Response{}, "finished")
}

func TestLoadSimulatorNothingToDo(t *testing.T) {
	s := start(t, NewLoadSimulator(&workload.Job{}, Config{StartUp: 2 * heddle.Second}), heddle.Time(heddle.Second))
	s.beatAt(4000, Response{}, "")
	s.beat(Response{}, "finished")
}
