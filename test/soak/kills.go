package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"heddle/test/hollow"
)

// kills are the settings of a run with kills.
type kills struct {
	binary string
	dir    string
	count  int
	power  bool // each kill is a power cut
	nodes  int
	seed   uint64
	calm   time.Duration // how long the remaining applications may take to end; 0 means calmTime
	out    io.Writer     // for progress
}

const (
	clients  = 16
	mostLate = 15 * time.Second // until all nodes are back
	calmTime = 2 * time.Minute
	// The most time from a start to a kill: every third kill comes during recovery.
	longLife  = 2500 * time.Millisecond
	shortLife = 200 * time.Millisecond
)

// killings is the result of a run.
type killings struct {
	kills, early     int             // early ones came during recovery
	apps, ops, lost  int             // lost calls were not answered
	backs            []time.Duration // from a start until all nodes were back, if that was waited for
	firsts           []time.Duration // until the first answer
	stats            stats
	wrong, complains []string
}

// run kills heddle rm again and again under a load, and checks what all callers saw.
func (k *kills) run(ctx context.Context) (res *killings, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r := rand.New(rand.NewPCG(k.seed, 0))
	ch, err := newChild(k.binary, k.dir, freeHost(), 100_000)
	if err != nil {
		return nil, err
	}
	if k.power {
		ch.dice = rand.New(rand.NewPCG(k.seed, 1_000_000))
	}
	if err := ch.start(); err != nil {
		return nil, err
	}
	defer func() {
		if ended := ch.stop(); err == nil {
			err = ended
		}
		if err == nil {
			res.complains = ch.complaints()
		}
	}()
	if _, err := ch.answers(ctx); err != nil {
		return nil, err
	}
	c, err := newCluster(ctx, fail, ch, k.nodes, 4, 8, 700*time.Millisecond)
	if err != nil {
		return nil, err
	}
	defer c.close()
	res = &killings{}
	calm, jobs := c.load(k.seed)
	c.Goes(func() error { return c.watch(time.Second) })
	peer := hollow.NewPeer(ch.client(), hollow.AsClient("watcher"))
	defer peer.Close()
	if err := c.Until("all nodes are there", mostLate, func() bool { return c.active(peer) == k.nodes }); err != nil {
		return nil, err
	}
	for res.kills = 0; res.kills < k.count; res.kills++ {
		if err := k.cycle(c, r, peer, res); err != nil {
			return nil, err
		}
		if res.kills%5 == 4 {
			apps, ops, lost := c.counts()
			fmt.Fprintf(k.out, "%6.0f s  %d of %d kills, %d applications, %d calls, %d of them without an answer\n", c.now().Seconds(), res.kills+1, k.count, apps, ops, lost)
		}
	}
	if _, err := ch.answers(c.Ctx); err != nil {
		return nil, err
	}
	close(calm)
	if err := c.settle(jobs, cmp.Or(k.calm, calmTime)); err != nil {
		return nil, err
	}
	time.Sleep(2 * time.Second) // everything is seen once more
	c.Fail(nil)
	c.close()
	res.apps, res.ops, res.lost = c.counts()
	res.stats, res.wrong = c.stats, c.check()
	return res, nil
}

// freeHost returns a loopback address that nobody else is likely to use and that no node has.
func freeHost() string {
	return fmt.Sprintf("127.%d.%d.%d", 210+rand.IntN(40), rand.IntN(250), 1+rand.IntN(250))
}

// load lets clients submit jobs until calm is closed; jobs is closed when the last job is over.
func (c *cluster) load(seed uint64) (calm chan struct{}, jobs chan struct{}) {
	calm, jobs = make(chan struct{}), make(chan struct{})
	over := make(chan struct{}, clients)
	for i := range clients {
		cl := c.newClient(seed, uint64(i)+1)
		c.Goes(func() error {
			defer func() { over <- struct{}{} }()
			defer cl.peer.Close()
			for c.Ctx.Err() == nil {
				cl.job()
				select {
				case <-calm:
					return nil
				default:
				}
			}
			return nil
		})
	}
	go func() {
		for range clients {
			<-over
		}
		close(jobs)
	}()
	return calm, jobs
}

// cycle lets the ResourceManager live for a while, kills it and restarts it.
func (k *kills) cycle(c *cluster, r *rand.Rand, peer *hollow.Peer, res *killings) error {
	began := time.Now()
	if r.IntN(3) == 0 {
		res.early++
		if !c.Sleep(time.Duration(r.Int64N(int64(shortLife)))) {
			return context.Cause(c.Ctx)
		}
	} else {
		first, err := c.child.answers(c.Ctx)
		if err != nil {
			return err
		}
		res.firsts = append(res.firsts, first)
		if res.kills%2 == 0 {
			if err := c.Until("", mostLate, func() bool { return c.active(peer) == k.nodes }); c.Ctx.Err() != nil {
				return err
			} else if err != nil {
				c.violated("%v after a start %d of %d nodes are back", mostLate, c.active(peer), k.nodes)
			}
			res.backs = append(res.backs, time.Since(began))
		}
		if !c.Sleep(time.Duration(r.Int64N(int64(longLife)))) {
			return context.Cause(c.Ctx)
		}
	}
	if err := c.child.kill(); err != nil {
		return err
	}
	return c.child.start()
}

// table writes the result of a run.
func (res *killings) table(w io.Writer) {
	fmt.Fprintf(w, "%d kills, %d of them within %v of a start; %d applications, %d masters, %d tasks; %d calls noted, %d of them without an answer\n",
		res.kills, res.early, shortLife, res.apps, res.stats.Masters, res.stats.Tasks, res.ops, res.lost)
	fmt.Fprintf(w, "first answer after a start: %s; all nodes back: %s\n", spreadOf(res.firsts), spreadOf(res.backs))
	fmt.Fprintf(w, "ends of containers that a later ResourceManager told once more: %d of %d\n", res.stats.Again, res.stats.Tasks)
	for _, list := range [][]string{res.wrong, res.complains} {
		for _, what := range list {
			fmt.Fprintln(w, "WRONG:", what)
		}
	}
}

// spreadOf formats the median and the maximum of times.
func spreadOf(list []time.Duration) string {
	if len(list) == 0 {
		return "never waited for"
	}
	list = slices.Sorted(slices.Values(list))
	return fmt.Sprintf("%v in the middle, %v at most, of %d", list[len(list)/2].Round(time.Millisecond), list[len(list)-1].Round(time.Millisecond), len(list))
}
