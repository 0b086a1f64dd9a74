// Command core measures Heddle's scheduler core in one process, with all its bookkeeping, with the shapes with which
// its peers are measured. The clock of the first figure runs from the first ask until the application has fetched the
// last grant. The second figure is a container's whole life, over and over, in the cluster that is then full.
package main

import (
	"flag"
	"fmt"
	"log"
	"slices"
	"time"

	"heddle/bench/internal/measure"
)

func main() {
	shape := flag.String("shape", "A", "cluster and asks: A, B, C or D")
	profile := flag.String("profile", "capacity", "scheduler")
	kind := flag.String("kind", "map", "what is asked for: map, executor, or both, every other application one of them")
	place := flag.String("place", "beat", "where containers go: beat (on the node that reports in, as YARN does), spread (on the emptiest) or pack (on the fullest)")
	apps := flag.Int("apps", 0, "applications that share the asks, instead of the shape's")
	nodes := flag.Int("nodes", 0, "nodes, instead of the shape's")
	flag.Parse()

	s, err := measure.ShapeNamed(*shape)
	if err != nil {
		log.Fatal(err)
	}
	if *apps > 0 {
		s.Apps, s.Queues = *apps, min(s.Queues, *apps)
	}
	if *nodes > 0 {
		s.Nodes = *nodes
	}
	if err := run(load{shape: s, profile: *profile, place: *place, kind: *kind}); err != nil {
		log.Fatal(err)
	}
}

// run fills new clusters until it has measured for a second, and releases and grants in the last one for another
// second.
func run(l load) error {
	var rates []float64
	var b *harness
	for spent := time.Duration(0); spent < time.Second || len(rates) < 3; {
		var err error
		if b, err = newHarness(l); err != nil {
			return err
		}
		took, err := b.fill()
		if err != nil {
			return err
		}
		rates = append(rates, float64(b.Asks)/took.Seconds())
		spent += took
	}
	slices.Sort(rates)
	churn, err := b.churn()
	if err != nil {
		return fmt.Errorf("churn: %w", err)
	}
	return measure.Print(measure.Figures{
		"allocations_per_s":         rates[len(rates)/2],
		"allocation_and_release_ns": churn.perLife,
		"event_ns":                  churn.perEvent,
	})
}
