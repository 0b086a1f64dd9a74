package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/internal/slab"
	"heddle/rm"
	"heddle/sim/world"
	"heddle/workload"
)

// The heartbeats that are left out would have changed nothing: containers go to the same nodes at the same times as if
// every node and every master called every time. Every profile is run with seeds of its own, and with some for which a
// heartbeat that mattered was once left out.
func TestIdleHeartbeatsChangeNothing(t *testing.T) {
	const seeds = 16
	profiles := slices.Clone(allProfiles)
	for _, base := range []string{"adaptcont", "coupling", "dress", "heddle", "ikayak", "mrorchestrator"} {
		profiles = append(profiles, profile{name: "with " + base, base: base})
	}
	for i, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			left := int64(0)
			for k := range uint64(seeds) {
				left += leftOut(t, p, uint64(i)*seeds+k)
			}
			for _, seed := range []uint64{190, 298, 390, 415, 843, 1395} {
				left += leftOut(t, p, seed)
			}
			if left == 0 {
				t.Error("no heartbeat was left out: the comparison shows nothing")
			}
		})
	}
}

// leftOut compares a run without the heartbeats that can change nothing with the same run with all of them, and returns
// how many offers were left out.
func leftOut(t *testing.T, p profile, seed uint64) int64 {
	o := beating(seed)
	few := p.run(t, o)
	o = beating(seed)
	o.EveryBeat = true
	all := p.run(t, o)
	d := gocmp.Diff(all.Tasks, few.Tasks)
	if d == "" {
		d = gocmp.Diff(all.Jobs, few.Jobs)
	}
	if d != "" {
		t.Fatalf("seed %d, given %v, stock %v: with every heartbeat (-) and without (+):\n%s", seed, o.Given, o.Stock, d)
	}
	if all.SkippedOffers > 0 {
		return 0
	}
	return few.SkippedOffers
}

// beating draws a run. In half of the runs, nodes are lost or silent and masters fail; some have hours in which nothing
// runs, and some have heartbeats that are closer together or further apart than usual.
func beating(seed uint64) Options {
	o := fullWorld(nodes(5, 2, heddle.Of(6144, 6000)))
	o.Given, o.Effects, o.Seed = seed%2 == 0, world.AllEffects(), seed
	o.Workload = mixed(seeded(seed), 6)
	if seed%4 > 1 {
		o = anything(seeded(seed), true)
	}
	o.Stock = seed%8 < 4
	switch d := seeded(seed + 1); seed % 7 {
	case 0:
		gap := heddle.Span(0)
		for i := range o.Workload.Jobs {
			gap += heddle.Span(d(0, 3)*d(0, 2000)) * second
			o.Workload.Jobs[i].Submit = o.Workload.Jobs[i].Submit.Plus(gap)
		}
		for i := range o.Faults {
			o.Faults[i].At *= heddle.Time(d(1, 50))
		}
	case 6:
		o.NodeBeat = []heddle.Span{50, 330, 3000}[d(0, 2)] * heddle.Millisecond
		o.MasterBeat = []heddle.Span{50, 330, 3000}[d(0, 2)] * heddle.Millisecond
	}
	return o
}

// Idle nodes cost nothing: a thousand times as many nodes cause no additional steps, except for their arrival.
func TestStepsDoNotGrowWithIdleNodes(t *testing.T) {
	for _, name := range []string{"fifo", "capacity", "fair", "spread"} {
		for _, isGiven := range []bool{true, false} {
			steps := func(n int) int64 {
				spark := workload.Job{ID: "s", Submit: at(30), Framework: heddle.Spark, Spark: &workload.SparkJob{
					Executors: 2, Executor: heddle.Of(2048, 2000), Stages: []workload.Stage{{Tasks: lasting(6, 50)}},
				}}
				o := fullWorld(nodes(n, 1, heddle.Of(8192, 8000)),
					mapReduce("m", 0, lasting(6, 300), lasting(2, 60)), spark,
					workload.Job{ID: "p", Submit: at(2000), Other: lasting(3, 1000)})
				o.Given = isGiven
				r := named(t, name).plain(t, o)
				states(t, r, Succeeded)
				return r.Events - 2*int64(n) // each joins, and says what it offers
			}
			few, many := steps(10), steps(10_000)
			t.Logf("%s, given %v: %d steps with 10 nodes, %d with 10,000", name, isGiven, few, many)
			if float64(many) > 1.1*float64(few)+10 {
				t.Errorf("%s, given %v: %d steps with 10 nodes, %d with 10,000", name, isGiven, few, many)
			}
		}
	}
}

// Compares the wheel's next heartbeat with the result of looking at all of them.
func TestWheel(t *testing.T) {
	for seed := range uint64(40) {
		d := seeded(seed)
		n := d(1, 150)
		w := newWheel(n, 100, newRand(seed))
		a, b := slab.NewBits(n), slab.NewBits(n)
		for i := range n {
			a.Set(int32(i), d(0, 9) == 0)
			b.Set(int32(i), d(0, 19) == 0)
		}
		from := heddle.Time(0)
		last := heddle.Time(-1)
		lastRank := int32(-1)
		for range 200 {
			var want heddle.Time
			rank, found := int32(-1), false
			for cycle := int64(from) / 100; cycle <= int64(from)/100+2 && !found; cycle++ {
				for r := range int32(n) {
					t := heddle.Time(cycle*100) + heddle.Time(w.offset[r])
					if t < from || t < last || t == last && r <= lastRank || !a.Has(r) && !b.Has(r) {
						continue
					}
					want, rank, found = t, r, true
					break
				}
			}
			got, gotRank, ok := w.next(from, a, b)
			if ok != found || ok && (got != want || gotRank != rank) {
				t.Fatalf("seed %d: next from %d after %d (%d): %d %d %v, want %d %d %v", seed, from, last, lastRank, got, gotRank, ok, want, rank, found)
			}
			if !ok {
				break
			}
			from = got
			if d(0, 3) > 0 {
				w.made(got, gotRank)
				last, lastRank = got, gotRank
			} else {
				from = got.Plus(heddle.Span(d(0, 120)))
			}
			if i := int32(d(0, n-1)); d(0, 4) == 0 {
				a.Set(i, !a.Has(i))
			}
		}
	}
}

// TestPassWords compares the heartbeats passed over with those counted one by one, with nodes that fill whole words and
// with nodes that do not.
func TestPassWords(t *testing.T) {
	cfg := rm.Config{Beat: heddle.Second}
	cfg.DefaultBeats()
	for _, n := range []int{1, 63, 64, 65, 128, 200, 256} {
		w := newWheel(n, cfg.FastBeat, rand.New(rand.NewPCG(1, 2)))
		p := newPace(w, &cfg)
		next := make([]int64, n) // turns
		for i := range n {
			rank := int32(i)
			next[rank] = int64(i) % p.calm
			p.fast.Set(rank, i%3 == 0)
			p.join(rank, next[rank])
		}
		p.idle = false
		for turn := range int64(40) {
			for _, to := range []int32{int32(n) / 3, int32(n) / 2, int32(n)} {
				p.pass(to)
				p.pass(to)
			}
			p.turn, p.at = turn+1, 0
			for rank := range int32(n) {
				if next[rank] == turn {
					next[rank] += p.calm
					if p.fast.Has(rank) {
						next[rank] += p.soon - p.calm
					}
				}
				if !p.of(next[rank]).Has(rank) || p.of(turn).Has(rank) {
					t.Fatalf("of %d nodes, after turn %d, %d does not beat in turn %d", n, turn, rank, next[rank])
				}
			}
		}
	}
}

// A long time in which nothing happens passes over the same heartbeats as many short times, and does not take longer.
func TestLongTimesPassOverTheSameBeats(t *testing.T) {
	for seed := range uint64(50) {
		d := seeded(seed)
		cfg := rm.Config{Beat: heddle.Span(d(1, 12)) * 100 * heddle.Millisecond}
		cfg.DefaultBeats()
		cfg.IdleBeat = cfg.Beat * heddle.Span(d(1, 4))
		n := d(1, 150)
		paces := [2]*pace{}
		for i := range paces {
			paces[i] = newPace(newWheel(n, cfg.FastBeat, newRand(seed)), &cfg)
		}
		for rank := range int32(n) {
			turns, fast := int64(d(0, 9)), d(0, 3) == 0
			for _, p := range paces {
				p.join(rank, min(turns, int64(len(p.due))-1))
				p.fast.Set(rank, fast)
			}
		}
		short, long := paces[0], paces[1]
		now := heddle.Time(0)
		for range 4 {
			idle, until := d(0, 1) == 0, now.Plus(heddle.Span(d(1, 400_000))*heddle.Millisecond)
			short.idle, long.idle = idle, idle
			for ; now < until; now = min(until, now.Plus(700*heddle.Millisecond)) {
				short.advance(now)
			}
			short.advance(until)
			long.advance(until)
			for i := range int64(len(short.due)) {
				if !slices.Equal(short.of(short.turn+i), long.of(long.turn+i)) {
					t.Fatalf("seed %d, at %.1f s: others beat %d turns later", seed, now.Seconds(), i)
				}
			}
			if short.turn != long.turn || short.at != long.at || !slices.Equal(short.hurried, long.hurried) || !slices.Equal(short.rested, long.rested) {
				t.Fatalf("seed %d, at %.1f s: another turn, or others beat soon or seldom", seed, now.Seconds())
			}
		}
		long.advance(at(50 * 365 * 86400))
	}
}
