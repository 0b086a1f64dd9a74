// Command sim measures the simulator with the real scheduler core in the loop, on 10,000 nodes and a million tasks: a
// farm that is nine tenths full, the load with which bare simulation engines are measured, and a day of jobs.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"heddle/conf"
	"heddle/exp"
	"heddle/policies"
	"heddle/sim"
	"heddle/sim/world"

	"heddle/bench/internal/measure"
)

func main() {
	load := flag.String("load", "farm", "what is run: farm or day")
	full := flag.Bool("full", false, "simulate disks, networks and processors instead of taking durations as given")
	profile := flag.String("profile", "capacity", "scheduler")
	stock := flag.Bool("stock", false, "simulate a stock ResourceManager instead of heddle rm")
	tasks := flag.Int("tasks", 1_000_000, "tasks in all")
	flag.Parse()

	if err := run(*load, *full, *stock, *profile, *tasks); err != nil {
		log.Fatal(err)
	}
}

func run(load string, full, stock bool, profile string, tasks int) error {
	b, err := newBench(load, tasks)
	if err != nil {
		return err
	}
	p, err := policies.Load(profile, nil)
	if err != nil {
		return err
	}
	plan := exp.Plan{
		Workload: b.jobs, Profiles: []*policies.Profile{p}, Seeds: []uint64{1}, Conf: conf.Default(),
		Nodes: b.nodes, Effects: world.AllEffects(), Given: !full, Stock: stock,
	}
	start := time.Now()
	out, err := plan.Run()
	if err != nil {
		return err
	}
	wall := time.Since(start).Seconds()
	r := out[0][0]
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.State != sim.Succeeded {
			return fmt.Errorf("job %s is %s after %.0f s", j.ID, j.State, r.Makespan.Seconds())
		}
	}
	return measure.Print(measure.Figures{
		"wall_s":             wall,
		"tasks_per_s":        float64(tasks) / wall,
		"simulated_per_wall": r.Makespan.Seconds() / wall,
	})
}
