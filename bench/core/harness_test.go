package main

import (
	"strings"
	"testing"

	"heddle/policies"

	"heddle/bench/internal/measure"
)

// What is measured is a working scheduler: all asks are granted within capacity, and every ended container is replaced.
func TestHarness(t *testing.T) {
	for _, place := range []string{"beat", "spread", "pack"} {
		for _, s := range []measure.Shape{{Nodes: 20, Asks: 200, Queues: 4, Apps: 8}, {Nodes: 20, Asks: 200, Queues: 2, Apps: 2}} {
			b, err := newHarness(load{shape: s, profile: "capacity", place: place, kind: "map"})
			if err != nil {
				t.Fatalf("%s %+v: %v", place, s, err)
			}
			if _, err := b.fill(); err != nil {
				t.Fatalf("%s %+v: %v", place, s, err)
			}
			if err := b.saturate(); err != nil {
				t.Fatalf("%s %+v: %v", place, s, err)
			}
			for range 500 {
				if err := b.live(); err != nil {
					t.Fatalf("%s %+v: %v", place, s, err)
				}
			}
			if broken := b.core.Check(); len(broken) > 0 {
				t.Errorf("%s %+v: %v", place, s, broken)
			}
		}
	}
}

// Every profile works too, with every kind of ask.
func TestHarnessOfEveryProfile(t *testing.T) {
	for _, profile := range policies.Names() {
		for _, kind := range []string{"map", "executor", "both"} {
			b, err := newHarness(load{shape: measure.Shape{Nodes: 20, Asks: 200, Queues: 4, Apps: 20}, profile: profile, place: "beat", kind: kind})
			if err != nil {
				t.Fatalf("%s, %s: %v", profile, kind, err)
			}
			if _, err := b.fill(); err != nil {
				t.Fatalf("%s, %s: %v", profile, kind, err)
			}
			if err := b.saturate(); err != nil {
				t.Fatalf("%s, %s: %v", profile, kind, err)
			}
			if broken := b.core.Check(); len(broken) > 0 {
				t.Errorf("%s, %s: %v", profile, kind, broken)
			}
		}
	}
	if _, err := newHarness(load{shape: measure.Shapes[0], profile: "capacity", place: "beat", kind: "pod"}); err == nil || !strings.Contains(err.Error(), "want map, executor or both") {
		t.Errorf("got %v", err)
	}
}

func TestPlacing(t *testing.T) {
	s := measure.Shape{Nodes: 20, Asks: 40, Queues: 2, Apps: 2}
	on := func(place string) (used int) {
		b, err := newHarness(load{shape: s, profile: "capacity", place: place, kind: "map"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.fill(); err != nil {
			t.Fatal(err)
		}
		nodes := map[int32]bool{}
		for _, x := range b.held {
			nodes[int32(x.node)] = true
		}
		return len(nodes)
	}
	if spread, pack := on("spread"), on("pack"); spread != 20 || pack >= 18 {
		t.Errorf("40 containers are on %d nodes when spread, on %d when packed", spread, pack)
	}
	if _, err := newHarness(load{shape: s, profile: "capacity", place: "elsewhere", kind: "map"}); err == nil || !strings.Contains(err.Error(), "want beat, spread or pack") {
		t.Errorf("got %v", err)
	}
}

func TestVerifyFindsTooMany(t *testing.T) {
	b, err := newHarness(load{shape: measure.Shape{Nodes: 2, Asks: 4, Queues: 1, Apps: 1}, profile: "capacity", place: "beat", kind: "map"})
	if err != nil {
		t.Fatal(err)
	}
	b.held = []life{{node: 1}, {node: 1}, {node: 1}, {node: 1}}
	if err := b.verify(); err == nil || !strings.Contains(err.Error(), "node 1 has room for 3") {
		t.Errorf("got %v", err)
	}
	b.held = b.held[:3]
	if err := b.verify(); err == nil || !strings.Contains(err.Error(), "3 containers were granted") {
		t.Errorf("got %v", err)
	}
}

// BenchmarkLife is for CPU profiles: go test ./core -bench Life -cpuprofile cpu.prof.
func BenchmarkLife(b *testing.B) {
	for _, place := range []string{"beat", "spread"} {
		b.Run(place, func(b *testing.B) {
			x, err := newHarness(load{shape: measure.Shapes[0], profile: "capacity", place: place, kind: "map"})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := x.fill(); err != nil {
				b.Fatal(err)
			}
			if err := x.saturate(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := x.live(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
