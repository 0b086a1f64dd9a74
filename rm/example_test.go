package rm_test

import (
	"fmt"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/rm"
	"heddle/yarn/ids"
)

// The life of one application, as a shell sees it: what it says to the machine, and what the machine wants done. This
// shell has no store, NodeManager or clock: it reports everything as durable at once, and every message comes a tenth
// of a second after the previous one.
func Example() {
	m, _ := rm.New(rm.Options{
		Config: rm.Config{
			NodeExpiry: 10 * heddle.Minute, MasterExpiry: 15 * heddle.Minute, ContainerExpiry: 10 * heddle.Minute,
			MaxAttempts: 2, GlobalAttempts: 2, MaxCompleted: 1000, Beat: heddle.Second, FastBeat: heddle.Second, IdleBeat: heddle.Second,
		},
		Scheduler: oneQueue(),
		Began:     1_700_000_000_000, // date of time 0
	})
	now := heddle.Time(0)
	say := func(msg rm.Message) (answer any) {
		now = now.Plus(100 * heddle.Millisecond)
		fmt.Printf("%T\n", msg)
		for _, e := range m.Step(now, msg) {
			show(e)
			if a, ok := e.(*rm.Answer); ok {
				answer = a.Value
			}
		}
		return answer
	}

	node := ids.Node{Host: "n1", Port: 8041}
	say(&rm.RegisterNode{Call: 1, Node: node, Names: []string{"n1"}, HTTPPort: 8042, Total: heddle.Of(8192, 8000)})

	id := say(&rm.NewApp{Call: 2, User: "ann"}).(rm.NewAppID).ID
	say(&rm.SubmitApp{Call: 3, Who: rm.Person{User: "ann"}, Queue: "root.default", App: rm.Submission{
		ID: id, Name: "word count", Type: "MAPREDUCE", Master: heddle.Of(1024, 1000),
	}})
	say(rm.Stored{Seq: 2}) // the core grants its master a container at once
	say(rm.Stored{Seq: 3})
	attempt := ids.Attempt{App: id, N: 1}
	master := ids.Container{Attempt: attempt, ID: 1}
	say(&rm.Started{Container: master})
	say(rm.Stored{Seq: 4})

	who := rm.Caller{Attempt: attempt} // from the token that the master shows
	say(&rm.RegisterMaster{Call: 4, Who: who, Host: "n1", Port: 7000})
	got := say(&rm.Allocate{Call: 5, Who: who, Ask: []rm.Request{
		{Priority: 20, Place: "*", Size: heddle.Of(1024, 1000), Count: 1},
	}}).(*rm.Allocated)
	task := got.Granted[0].ID

	beat := say(&rm.BeatNode{Call: 6, Node: node, Running: []rm.ContainerRun{{ID: master}, {ID: task}}}).(*rm.NodeBeat)
	say(&rm.BeatNode{Call: 7, Node: node, Last: beat.ID, Running: []rm.ContainerRun{{ID: master}}, Ended: []rm.ContainerEnd{{ID: task}}})
	say(&rm.Allocate{Call: 8, Who: who, Last: got.ID}) // the master learns of the end

	say(&rm.FinishMaster{Call: 9, Who: who, Final: rm.Succeeded})
	say(rm.Stored{Seq: 5})
	say(&rm.BeatNode{Call: 10, Node: node, Last: beat.ID + 1, Ended: []rm.ContainerEnd{{ID: master}}})
	say(rm.Stored{Seq: 6})

	app, _ := m.Reports().App(id)
	fmt.Printf("%s is %s, %s\n", app.ID, app.State, app.Final)

	// Output:
	// *rm.RegisterNode
	//   store 1: 1 records
	//   log "NodeManager registered"
	//   answer 1
	// *rm.NewApp
	//   answer 2
	// *rm.SubmitApp
	//   store 2: 1 records
	// rm.Stored
	//   store 3: 1 records
	//   answer 3
	//   log "application submitted"
	// rm.Stored
	//   admit the master of appattempt_1700000000000_0001_000001
	//   start container_1700000000000_0001_01_000001 on n1:8041 for ann
	// *rm.Started
	//   store 4: 1 records
	// rm.Stored
	// *rm.RegisterMaster
	//   answer 4
	// *rm.Allocate
	//   answer 5: 1 granted, 0 completed
	// *rm.BeatNode
	//   answer 6: forget [], clean up after []
	// *rm.BeatNode
	//   answer 7: forget [], clean up after []
	// *rm.Allocate
	//   answer 8: 0 granted, 1 completed
	// *rm.FinishMaster
	//   store 5: 2 records
	// rm.Stored
	//   answer 9
	// *rm.BeatNode
	//   application_1700000000000_0001 has ended: FINISHED
	//   drop the master of appattempt_1700000000000_0001_000001
	//   store 6: 2 records
	//   answer 10: forget [container_1700000000000_0001_01_000001 container_1700000000000_0001_01_000002], clean up after [application_1700000000000_0001]
	// rm.Stored
	// application_1700000000000_0001 is FINISHED, SUCCEEDED
}

// show prints an effect.
func show(e rm.Effect) {
	switch e := e.(type) {
	case *rm.Answer:
		switch v := e.Value.(type) {
		case *rm.Allocated:
			fmt.Printf("  answer %d: %d granted, %d completed\n", e.Call, len(v.Granted), len(v.Completed))
		case *rm.NodeBeat:
			fmt.Printf("  answer %d: forget %v, clean up after %v\n", e.Call, v.Forget, v.CleanApp)
		default:
			fmt.Printf("  answer %d\n", e.Call)
		}
	case *rm.Store:
		fmt.Printf("  store %d: %d records\n", e.Seq, len(e.Changes))
	case *rm.StartMaster:
		fmt.Printf("  start %s on %s for %s\n", e.ID, e.Node, e.User)
	case *rm.StopMaster:
		fmt.Printf("  stop %s on %s\n", e.Container, e.Node)
	case rm.AdmitMaster:
		fmt.Printf("  admit the master of %s\n", e.Attempt)
	case rm.DropMaster:
		fmt.Printf("  drop the master of %s\n", e.Attempt)
	case rm.MakeKey:
		fmt.Printf("  make the key %d of %s\n", e.ID, e.Ring)
	case rm.UseKey:
		fmt.Printf("  use the key %d of %s\n", e.ID, e.Ring)
	case *rm.Log:
		fmt.Printf("  log %q\n", e.Text)
	case *rm.ReadJob, *rm.AskMaster, *rm.Altered:
	case *rm.Ended:
		fmt.Printf("  %s has ended: %s\n", e.App, e.State)
	}
}

// oneQueue returns a scheduler that serves one queue first come, first served.
func oneQueue() *rm.Scheduler {
	p, err := policies.Load("fifo", nil)
	if err != nil {
		panic(err)
	}
	p, off := p.WithoutAgent()
	c := conf.Default()
	b, err := policies.Build(p, policies.Env{Capacity: c.Capacity, Fair: c.Fair, Minimum: c.Site.Minimum, Maximum: c.Site.Maximum})
	if err != nil {
		panic(err)
	}
	return &rm.Scheduler{
		Set: b.Set, Type: "capacity", Profile: "fifo", Off: off, Minimum: b.Minimum, Maximum: b.Maximum,
		Queues: []rm.QueueInfo{
			{Path: "root", Parent: heddle.NoQueue, State: rm.QueueRunning},
			{Path: "root.default", Parent: 0, Leaf: true, State: rm.QueueRunning},
		},
		Rebuild: func([]string) (*rm.Scheduler, error) { return oneQueue(), nil },
	}
}
