// Command floor measures what a scheduler core cannot beat on this machine: the least data structures that allocate and
// release at all, with no policy, events or states. It also measures how long a plain scan over the capacities of
// 10,000 nodes takes, to tell apart runs at different hours.
package main

import (
	"flag"
	"log"
	"time"

	"heddle/bench/internal/measure"
)

func main() {
	scanned := flag.Bool("scan", false, "measure the scan over 10,000 nodes")
	shape := flag.String("shape", "A", "measure the floor at this shape: A, B, C or D")
	flag.Parse()

	if err := run(*scanned, *shape); err != nil {
		log.Fatal(err)
	}
}

func run(scanned bool, shape string) error {
	if scanned {
		return measure.Print(measure.Figures{"scan_ns": perRound(newScan(10_000).first)})
	}
	s, err := measure.ShapeNamed(shape)
	if err != nil {
		return err
	}
	return measure.Print(measure.Figures{"allocation_and_release_ns": perRound(newCore(s).churn)})
}

// perRound returns the nanoseconds per call, over as many calls as fit into about a second.
func perRound(f func()) float64 {
	const batch = 256
	for range 16 * batch {
		f()
	}
	n := 0
	start := time.Now()
	for time.Since(start) < time.Second {
		for range batch {
			f()
		}
		n += batch
	}
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

// A scan is a first-fit search that has to look at every node.
type scan struct {
	nodes []room
	found int
}

func newScan(nodes int) *scan {
	s := &scan{nodes: make([]room, nodes)}
	for i := range s.nodes {
		s.nodes[i].mem = 1 << 20
	}
	s.nodes[nodes-1].cpu = 1
	return s
}

func (s *scan) first() {
	for i := range s.nodes {
		if s.nodes[i].cpu >= 1 && s.nodes[i].mem >= 1024 {
			s.found = i
			return
		}
	}
}
