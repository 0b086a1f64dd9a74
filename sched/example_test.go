package sched_test

import (
	"fmt"

	"heddle"
	"heddle/policies"
	"heddle/sched"
)

// A driver tells a core what happened, in order of time, and carries out its decisions.
func Example() {
	profile, err := policies.Load("fifo", nil)
	if err != nil {
		panic(err)
	}
	built, err := policies.Build(profile, policies.Env{Minimum: heddle.Of(1024, 1000), Maximum: heddle.Of(8192, 8000)})
	if err != nil {
		panic(err)
	}
	core := sched.New(built.Set)

	const queue, app = 1, 0 // root.default, and the driver's own number for an application
	for second, events := range [][]heddle.Event{
		{heddle.NodeUp{Node: 0, Total: heddle.Of(4096, 4000), Can: heddle.AllCaps}},
		{heddle.Submit{App: app, Queue: queue, Master: heddle.Of(1024, 1000)}, heddle.Heartbeat{Node: 0}},
		{heddle.Started{Container: 1}, heddle.Ask{App: app, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 4, heddle.Of(2048, 1000))}}},
		{heddle.Heartbeat{Node: 0}},
		{heddle.Acquire{App: app}, heddle.Started{Container: 2}, heddle.Exit{Container: 2, Status: heddle.Success}},
		{heddle.Heartbeat{Node: 0}, heddle.AppDone{App: app}},
	} {
		for _, ev := range events {
			for _, d := range core.Step(heddle.Time(heddle.Seconds(float64(second))), ev) {
				switch d := d.(type) { // valid until the next Step
				case *heddle.Admit:
					fmt.Printf("%d s: application %d is taken in\n", second, d.App)
				case *heddle.Launch:
					fmt.Printf("%d s: container %d (%v) starts on node %d\n", second, d.Container, d.Kind, d.Node)
				case *heddle.Kill:
					fmt.Printf("%d s: container %d is killed\n", second, d.Container)
				default: // these events cause no other decisions
				}
			}
		}
		if why, ok := core.Explain(app); ok && second == 3 {
			fmt.Printf("%d s: %d maps wait: %v\n", second, why.Pending[0].Count, why.Pending[0].Why)
		}
	}
	// Output:
	// 1 s: application 0 is taken in
	// 1 s: container 1 (am) starts on node 0
	// 3 s: container 2 (map) starts on node 0
	// 3 s: 3 maps wait: no-room
	// 5 s: container 3 (map) starts on node 0
	// 5 s: container 3 is killed
	// 5 s: container 1 is killed
}
