package main

import (
	"fmt"
	"time"

	"heddle"
)

// rates are what a life, and an event of it, cost in nanoseconds.
type rates struct{ perLife, perEvent float64 }

// saturate makes the applications want more than there will ever be, fills the cluster, and then replaces a quarter of
// its containers.
func (b *harness) saturate() error {
	for i := range b.Apps {
		b.ask(i, 1<<28)
	}
	for before := -1; before < len(b.held); {
		before = len(b.held)
		b.round()
	}
	for _, x := range b.held {
		b.started(x)
	}
	for range len(b.held) / 4 {
		if err := b.live(); err != nil {
			return err
		}
	}
	return nil
}

// churn ends one container after another in the saturated cluster. The end of one and the report of its node, and the
// grant, fetch and start of the next, are one life.
func (b *harness) churn() (rates, error) {
	if err := b.saturate(); err != nil {
		return rates{}, err
	}
	lives, events := 0, b.events
	start := time.Now()
	for time.Since(start) < time.Second {
		for range 256 {
			if err := b.live(); err != nil {
				return rates{}, err
			}
		}
		lives += 256
	}
	took := float64(time.Since(start).Nanoseconds())
	return rates{took / float64(lives), took / float64(b.events-events)}, nil
}

// live ends a container somewhere in the list and waits until its successor, which takes its place in the list, has
// started. If the profile leaves the freed room on its node empty, other nodes report until one gets a container. If
// the profile holds back more than before, further containers end first.
func (b *harness) live() error {
	for len(b.held) > b.Asks/2 {
		i := int(uint64(b.turn*2654435761) * uint64(len(b.held)) >> 32)
		b.turn++
		x, last := b.held[i], len(b.held)-1
		b.held[i] = b.held[last]
		b.held = b.held[:last]
		b.do(heddle.Exit{Container: x.id})
		if b.beats {
			b.do(heddle.Heartbeat{Node: x.node})
		}
		for n := 0; b.beats && n < b.Nodes && len(b.held) == last; n++ {
			b.next = (b.next + 1) % b.Nodes
			b.do(heddle.Heartbeat{Node: heddle.NodeID(b.next)})
		}
		granted := b.held[last:]
		b.acquire()
		for _, g := range granted {
			b.started(g)
		}
		if len(granted) > 0 {
			return nil
		}
	}
	return fmt.Errorf("%d of %d containers are left: nobody is granted what others give back, and everybody wants more", len(b.held), b.Asks)
}
