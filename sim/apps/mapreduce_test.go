package apps

import (
	"testing"

	"heddle"
)

// The captured dialogue of a master that asked for four maps and was granted a fifth container. Reference: yarn-wire.md
// 5.4.3, "MR asks "*"=4, gets 3 …".
func TestMapReduceReleasesExtra(t *testing.T) {
	s := start(t, NewMapReduce(mrJob(4, 0, 0), Config{}), 0)
	s.beatAt(1000, Response{Headroom: room(8192)}, "20:*=4")
	s.beatAt(2000, Response{Granted: gr(20, heddle.Map, gib, 0, 1, 3)},
		"launch:1 launch:2 launch:3 map0.0@1 map1.0@2 map2.0@3")
	s.beatAt(3000, Response{Granted: gr(20, heddle.Map, gib, 0, 4, 1)}, "20:*=1 launch:4 map3.0@4")
	s.beatAt(4000, Response{Granted: gr(20, heddle.Map, gib, 0, 5, 1)}, "20:*=0")
	s.beatAt(5000, Response{}, "release:5")
	s.beatAt(6000, Response{Completed: ended(heddle.Aborted, 5)}, "")
	for c := heddle.ContainerID(1); c <= 4; c++ {
		s.done(c, true, "")
	}
	s.beatAt(7000, Response{}, "finished")
}

// A whole job: maps with places, and reduces once slow start is reached and all maps have containers. Reference:
// yarn-wire.md 5.9.
func TestMapReduceJob(t *testing.T) {
	hosts := [][]heddle.NodeID{{1, 2}, {1, 2}, {3, 0}}
	c := Config{
		Rack:    []heddle.RackID{0, 0, 0, 1},
		Hosts:   func(w Work) []heddle.NodeID { return hosts[w.Index] },
		StartUp: 2500 * heddle.Millisecond,
	}
	s := start(t, NewMapReduce(mrJob(3, 2, 2048), c), 0)
	s.beatAt(3500, Response{Headroom: room(8192)},
		"20:*=3 20:r0=3 20:r1=1 20:h0=1 20:h1=2 20:h2=2 20:h3=1")
	// A container on node 0 is local to map 2 and goes to it, though map 0 came first.
	s.beatAt(4500, Response{Headroom: room(8192), Granted: gr(20, heddle.Map, gib, 0, 1, 2)},
		"launch:1 launch:2 map2.0@1 map0.0@2")
	s.beatAt(5500, Response{Headroom: room(8192), Granted: gr(20, heddle.Map, gib, 2, 3, 1)},
		"20:*=1 20:r0=1 20:r1=0 20:h0=0 20:h1=1 20:h2=1 20:h3=0 launch:3 map1.0@3")
	s.done(1, true, "")
	s.beatAt(6500, Response{Headroom: room(8192)}, "20:*=0 20:r0=0 20:h1=0 20:h2=0")
	s.beatAt(7500, Response{Headroom: room(8192), Completed: ended(heddle.Success, 1)}, "10:*=2")
	s.done(2, true, "")
	s.done(3, true, "")
	s.beat(Response{Granted: gr(10, heddle.Reduce, heddle.Of(2048, 1000), 1, 7, 2)},
		"launch:7 launch:8 reduce0.0@7 reduce1.0@8")
	s.beat(Response{Completed: ended(heddle.Success, 2, 3)}, "10:*=0")
	s.done(7, true, "")
	s.done(8, true, "")
	s.beat(Response{}, "finished")
}

// Received containers go to tasks by host, then by rack, then by age, in three passes.
func TestMapReduceLocality(t *testing.T) {
	hosts := [][]heddle.NodeID{{4}, {0}, {2}}
	c := Config{
		Rack:  []heddle.RackID{0, 0, 1, 1, 2},
		Hosts: func(w Work) []heddle.NodeID { return hosts[w.Index] },
	}
	s := start(t, NewMapReduce(mrJob(3, 0, 0), c), 0)
	s.beat(Response{}, "-")
	granted := append(gr(20, heddle.Map, gib, 1, 1, 1), gr(20, heddle.Map, gib, 1, 2, 1)...)
	granted = append(granted, gr(20, heddle.Map, gib, 2, 3, 1)...)
	s.beat(Response{Granted: granted}, "launch:3 launch:1 launch:2 map2.0@3 map1.0@1 map0.0@2")
}

// A map that is asked for again waits behind those that were asked for before it.
func TestMapReduceAge(t *testing.T) {
	c := Config{Hosts: func(w Work) []heddle.NodeID { return []heddle.NodeID{heddle.NodeID(w.Index)} }}
	s := start(t, NewMapReduce(mrJob(2, 0, 0), c), 0)
	s.beat(Response{}, "-")
	s.beat(Response{Granted: gr(20, heddle.Map, gib, 0, 1, 1)}, "launch:1 map0.0@1")
	s.beat(Response{Completed: ended(heddle.Preempted, 1)}, "-")
	s.beat(Response{Completed: ended(heddle.Preempted, 1)}, "-")
	if m := s.m.(*mapReduce); m.heldMaps != 0 || m.held.Len() != 0 {
		t.Errorf("an end told twice counted twice: %d maps have containers", m.heldMaps)
	}
	s.beat(Response{Granted: gr(20, heddle.Map, gib, 7, 2, 1)}, "launch:2 map1.0@2")
}

// Ramp-up and ramp-down by headroom, with the numbers of scheduleReduces worked by hand: 10 maps of
// 1024 MiB, 8 reduces of 2048.
func TestMapReduceRamp(t *testing.T) {
	s := start(t, NewMapReduce(mrJob(10, 8, 2048), Config{}), 0)
	s.beat(Response{Headroom: room(4096)}, "20:*=10")
	s.beat(Response{Granted: gr(20, heddle.Map, gib, 0, 1, 4)}, "-")
	s.done(1, true, "")
	s.done(2, true, "")
	// 2 of 10 done. Total 4096 + 2·1024 = 6144; reduces ⌊0.2·6144⌋ = 1228; maps 4916 hold 4 of the 8
	// that want: 1228 / 2048 = 0 reduces.
	s.beat(Response{Headroom: room(4096), Completed: ended(heddle.Success, 1, 2)}, "20:*=6")
	// Total 20480 + 2048 = 22528; reduces 4505; maps 18023 hold 17 ≥ 8 and leave 18023 − 8192 = 9831
	// to reduces: 14336 / 2048 = 7.
	s.beat(Response{Headroom: room(20480)}, "")
	// Total 2048 + 2048 = 4096; reduces 819; maps 3277 hold 3 < 8: (819 − 7·2048) / 2048 = −6.
	s.beat(Response{Headroom: room(2048)}, "10:*=7")
	s.beat(Response{Headroom: room(2048)}, "10:*=1")
}

// If vcores count, the scarcer dimension decides.
func TestMapReduceRampCPU(t *testing.T) {
	s := start(t, NewMapReduce(mrJob(10, 8, 1024), Config{CountCPU: true}), 0)
	s.beat(Response{}, "-")
	s.beat(Response{Granted: gr(20, heddle.Map, gib, 0, 1, 1)}, "-")
	s.done(1, true, "")
	// Total 33 GiB and 13 vcores (one map's container is not over yet); reduces ⌊0.1·13⌋ = 1 vcore;
	// maps 12 ≥ 10 and leave 2: 3 reduces by vcores, 24 by memory.
	s.beat(Response{Headroom: heddle.Of(32768, 12000)}, "20:*=9")
	s.beat(Response{Headroom: heddle.Of(32768, 12000)}, "10:*=3")
}

func TestMapReduceSlowStart(t *testing.T) {
	for _, c := range []struct {
		fraction float64
		maps     int
		want     int
	}{{0.05, 100, 5}, {0.05, 101, 6}, {0.05, 1, 1}, {0, 10, 0}, {1, 7, 7}, {0.8, 10, 8}, {0.05, 0, 0}} {
		if got := slowStartMaps(c.fraction, c.maps); got != c.want {
			t.Errorf("slow start %v of %d maps: %d, want %d", c.fraction, c.maps, got, c.want)
		}
	}
	j := mrJob(4, 1, 1024)
	j.SlowStart = 0.75
	s := start(t, NewMapReduce(j, Config{}), 0)
	s.beat(Response{Headroom: room(65536)}, "-")
	s.beat(Response{Headroom: room(65536), Granted: gr(20, heddle.Map, gib, 0, 1, 4)}, "-")
	s.done(1, true, "")
	s.done(2, true, "")
	s.beat(Response{Headroom: room(65536)}, "20:*=0")
	s.done(3, true, "")
	s.beat(Response{Headroom: room(65536)}, "")
	s.beat(Response{Headroom: room(65536)}, "10:*=1")
}

func TestMapReduceAllReducesAtOnce(t *testing.T) {
	s := start(t, NewMapReduce(mrJob(2, 3, 1024), Config{AllReducesAtOnce: true}), 0)
	s.beat(Response{}, "10:*=3 20:*=2")
	s.beat(Response{Granted: gr(10, heddle.Reduce, gib, 0, 1, 3)}, "-")
	s.beat(Response{}, "10:*=0") // maps starve, and no reduce is killed for them
}

// withReduces returns a job whose 4 maps are done and whose 3 reduces run in containers 11 to 13.
func withReduces(t *testing.T, c Config) *script {
	s := start(t, NewMapReduce(mrJob(4, 3, 2048), c), 0)
	s.beat(Response{Nodes: 10}, "20:*=4")
	var g []Grant
	for i := range 4 {
		g = append(g, gr(20, heddle.Map, gib, heddle.NodeID(i), i+1, 1)...)
	}
	s.beat(Response{Nodes: 10, Granted: g}, "-")
	for id := heddle.ContainerID(1); id <= 4; id++ {
		s.done(id, true, "")
	}
	s.beat(Response{Nodes: 10, Completed: ended(heddle.Success, 1, 2, 3, 4)}, "20:*=0")
	s.beat(Response{Nodes: 10}, "10:*=3")
	s.beat(Response{Nodes: 10, Granted: gr(10, heddle.Reduce, heddle.Of(2048, 1000), 5, 11, 3)},
		"launch:11 launch:12 launch:13 reduce0.0@11 reduce1.0@12 reduce2.0@13")
	s.beat(Response{Nodes: 10}, "10:*=0")
	return s
}

// The output of a finished map is lost with its node. The map runs again first and anywhere, and a reduce is killed for
// it if there is no room. The reduce is asked for again when the map has a container.
func TestMapReduceNodeLost(t *testing.T) {
	progress := map[int32]float64{0: 0.3, 1: 0.1, 2: 0.2}
	s := withReduces(t, Config{Progress: func(w Work) float64 { return progress[w.Index] }})
	s.beat(Response{Nodes: 9, LostNodes: []heddle.NodeID{2}}, "stop:12")
	s.beat(Response{Nodes: 9, Completed: ended(heddle.KilledByMaster, 12), Headroom: room(2048)}, "5:*=1")
	s.beat(Response{Nodes: 9, Granted: gr(5, heddle.Map, gib, 7, 20, 1)}, "launch:20 map2.1@20")
	s.beat(Response{Nodes: 9}, "5:*=0 10:*=1")
	s.done(20, true, "")
	s.done(11, true, "")
	s.done(13, true, "")
	s.beat(Response{Nodes: 9, Granted: gr(10, heddle.Reduce, heddle.Of(2048, 1000), 7, 21, 1)},
		"launch:21 reduce1.1@21")
	s.done(21, true, "")
	s.beat(Response{}, "finished")
}

// Killing is limited to half of what the job has, and a second heartbeat does not kill more while the first reduces are
// dying. Three maps are lost; 3 reduces of 2048 MiB run; there is no room: half of 6144 is 2 reduces, and three maps
// need 2.
func TestMapReducePreemption(t *testing.T) {
	s := withReduces(t, Config{})
	s.beat(Response{Nodes: 7, LostNodes: []heddle.NodeID{0, 1, 2}}, "stop:13 stop:12")
	s.beat(Response{Nodes: 7}, "5:*=3")
	// Room for one map is enough reason to wait.
	s = withReduces(t, Config{})
	s.beat(Response{Nodes: 9, LostNodes: []heddle.NodeID{2}, Headroom: room(1024)}, "")
	s.beat(Response{Nodes: 9, Headroom: room(1024)}, "5:*=1")
	// Without it, PreemptDelay decides.
	s = withReduces(t, Config{PreemptDelay: 1500 * heddle.Millisecond})
	s.beat(Response{Nodes: 9, LostNodes: []heddle.NodeID{2}}, "")
	s.beat(Response{Nodes: 9}, "5:*=1")
	s.beat(Response{Nodes: 9}, "stop:13")
}

// A map that has waited 300 s gets room whatever the headroom says.
func TestMapReduceUnconditionalPreemption(t *testing.T) {
	for _, c := range []struct {
		c    Config
		want int
	}{{Config{}, 301}, {Config{UnconditionalPreempt: -1}, 0}, {Config{UnconditionalPreempt: 10 * heddle.Second}, 11}} {
		s := withReduces(t, c.c)
		s.beat(Response{Nodes: 9, LostNodes: []heddle.NodeID{2}, Headroom: room(8192)}, "")
		at := 0
		for n := 1; n <= 400 && at == 0; n++ {
			s.beat(Response{Nodes: 9, Headroom: room(8192)}, "-")
			if len(s.out.Stop) > 0 {
				at = n
			}
		}
		if at != c.want {
			t.Errorf("killed at beat %d after the loss, want %d", at, c.want)
		}
	}
}

// Killed attempts run again where they were to run and do not count; failed ones run again first and anywhere; the
// fourth failure ends the job.
func TestMapReduceFailures(t *testing.T) {
	c := Config{Hosts: func(Work) []heddle.NodeID { return []heddle.NodeID{1} }}
	s := start(t, NewMapReduce(mrJob(1, 0, 0), c), 0)
	s.beat(Response{Nodes: 100}, "20:*=1 20:h1=1")
	s.beat(Response{Nodes: 100, Granted: gr(20, heddle.Map, gib, 1, 1, 1)}, "-")
	s.beat(Response{Nodes: 100, Completed: ended(heddle.Preempted, 1)}, "20:*=0 20:h1=0")
	s.beat(Response{Nodes: 100}, "20:*=1 20:h1=1")
	s.beat(Response{Nodes: 100, Granted: gr(20, heddle.Map, gib, 1, 2, 1)}, "launch:2 map0.1@2")
	s.beat(Response{Nodes: 100, Completed: ended(heddle.KilledOverPhysical, 2)}, "20:*=0 20:h1=0")
	for id := heddle.ContainerID(3); id <= 4; id++ {
		s.beat(Response{Nodes: 100}, "5:*=1")
		s.beat(Response{Nodes: 100, Granted: gr(5, heddle.Map, gib, heddle.NodeID(id), int(id), 1)}, "-")
		s.done(id, false, "")
	}
	s.beat(Response{Nodes: 100, Granted: gr(5, heddle.Map, gib, 9, 9, 1)}, "5:*=1 launch:9 map0.4@9")
	s.done(9, false, "")
	s.beat(Response{}, "failed")
}

// A container that exits successfully without a word from the task counts as failed; after the task's report, the exit
// is its end.
func TestMapReduceSilentExit(t *testing.T) {
	s := start(t, NewMapReduce(mrJob(1, 0, 0), Config{MaxAttempts: 1}), 0)
	s.beat(Response{}, "-")
	s.beat(Response{Granted: gr(20, heddle.Map, gib, 1, 1, 1)}, "-")
	s.beat(Response{Completed: ended(heddle.Success, 1)}, "-")
	s.beat(Response{}, "failed")
}

// Failed reduces go to the front of the waiting ones, killed ones to the end.
func TestMapReduceReduceOrder(t *testing.T) {
	m := NewMapReduce(mrJob(1, 4, 1024), Config{}).(*mapReduce)
	m.Start(0, &Actions{})
	m.pending.pop()
	m.pending.pop()
	m.reduces[1].failures = 1
	m.attemptKilled(0, heddle.Reduce, 0, false)
	m.attemptKilled(0, heddle.Reduce, 1, false)
	var got []int32
	for m.pending.len() > 0 {
		got = append(got, m.pending.pop())
	}
	if len(got) != 4 || got[0] != 1 || got[1] != 2 || got[2] != 3 || got[3] != 0 {
		t.Errorf("order %v, want [1 2 3 0]", got)
	}
}

// Containers that are too small or at a priority nobody asked for are released; like the real master, this one does not
// ask again.
func TestMapReduceUnfitting(t *testing.T) {
	s := start(t, NewMapReduce(mrJob(2, 0, 0), Config{}), 0)
	s.beat(Response{}, "20:*=2")
	s.beat(Response{Granted: append(gr(20, heddle.Map, heddle.Of(1023, 1000), 0, 1, 1), gr(7, heddle.Map, gib, 0, 2, 1)...)}, "")
	s.beat(Response{}, "release:1 release:2")
	// vcores are only checked if they count.
	s.beat(Response{Granted: gr(20, heddle.Map, heddle.Of(1024, 500), 0, 3, 1)}, "launch:3 map0.0@3")
}

func TestMapReduceExclusion(t *testing.T) {
	s := start(t, NewMapReduce(mrJob(3, 0, 0), Config{}), 0)
	s.beat(Response{Nodes: 10}, "-")
	s.beat(Response{Nodes: 10, Granted: gr(20, heddle.Map, gib, 6, 1, 3)}, "-")
	for id := heddle.ContainerID(1); id <= 3; id++ {
		s.done(id, false, "")
	}
	s.beat(Response{Nodes: 10}, "5:*=3 20:*=0 exclude:[6]")
	// A container on that node goes back, and its request is sent again.
	s.beat(Response{Nodes: 10, Granted: gr(5, heddle.Map, gib, 6, 7, 1)}, "")
	s.beat(Response{Nodes: 3}, "5:*=3 release:7")
	// One node of three is too many to exclude.
	s.beat(Response{Nodes: 3, Granted: gr(5, heddle.Map, gib, 6, 8, 1)}, "launch:8 map0.1@8 exclude:[]")
	s.beat(Response{Nodes: 4}, "5:*=2")
	s.beat(Response{Nodes: 4}, "exclude:[6]")
}

// A second master does not repeat what the first one finished.
func TestMapReduceRecovery(t *testing.T) {
	s := withReduces(t, Config{})
	s.done(12, true, "")
	done := s.m.(Recoverer).Done()
	if len(done.Maps) != 4 || done.Maps[3] != (DoneTask{3, 3}) || len(done.Reduces) != 1 {
		t.Fatalf("finished so far: %+v", done)
	}
	s = start(t, NewMapReduce(mrJob(4, 3, 2048), Config{Done: done, MasterAttempt: 1}), 0)
	s.beat(Response{}, "")
	s.beat(Response{Granted: gr(10, heddle.Reduce, heddle.Of(2048, 1000), 5, 11, 2)},
		"10:*=2 launch:11 launch:12 reduce0.1000@11 reduce2.1000@12")
	s.done(11, true, "")
	// The place of the maps' output is known too.
	s.beat(Response{LostNodes: []heddle.NodeID{1}, Headroom: room(4096)}, "10:*=0")
	s.beat(Response{Headroom: room(4096)}, "5:*=1")
	s.done(12, true, "")
	s.beat(Response{}, "finished")
}

func TestMapReduceNothingToDo(t *testing.T) {
	s := start(t, NewMapReduce(mrJob(0, 0, 0), Config{}), 0)
	s.beat(Response{}, "finished")
	s = start(t, NewMapReduce(mrJob(0, 1, 1024), Config{}), 0)
	s.beat(Response{}, "")
	s.beat(Response{}, "10:*=1")
	// Anything that is not a task of the job does not concern its master.
	s.call("", func() {
		s.m.WorkDone(s.now, Work{Kind: heddle.Map, Index: 3}, true, &s.out)
		s.m.WorkDone(s.now, Work{Kind: heddle.Executor}, true, &s.out)
		s.m.WorkDone(s.now, Work{Kind: heddle.Reduce, Container: 5}, true, &s.out)
	})
	s.beat(Response{Completed: ended(0, 99)}, "")
}
