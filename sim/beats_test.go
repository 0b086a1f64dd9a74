package sim

import (
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/sim/world"
	"heddle/workload"
)

// The heartbeats that are left out would have changed nothing: containers go where and when they go if
// every node and every master calls every time.
func TestIdleHeartbeatsChangeNothing(t *testing.T) {
	for _, p := range allProfiles {
		t.Run(p.name, func(t *testing.T) {
			left := int64(0)
			for seed := range uint64(32) {
				o := fullWorld(nodes(5, 2, heddle.Of(6144, 6000)))
				o.Given, o.Effects, o.Seed = seed%2 == 0, world.AllEffects(), seed
				o.Workload = mixed(seeded(seed), 6)
				if seed%4 > 1 {
					o = anything(seeded(seed), true) // with nodes lost and silent, and masters that fail
				}
				o.Stock = seed%8 < 4
				few := p.run(t, o)
				o.EveryBeat = true
				all := p.run(t, o)
				if d := gocmp.Diff(all.Tasks, few.Tasks); d != "" {
					t.Fatalf("seed %d, given %v, stock %v: with every heartbeat (-) and without (+):\n%s", seed, o.Given, o.Stock, d)
				}
				if d := gocmp.Diff(all.Jobs, few.Jobs); d != "" {
					t.Fatalf("seed %d, given %v, stock %v: with every heartbeat (-) and without (+):\n%s", seed, o.Given, o.Stock, d)
				}
				if few.SkippedOffers > 0 && all.SkippedOffers == 0 {
					left += few.SkippedOffers
				}
			}
			if left == 0 {
				t.Error("no heartbeat was left out: the comparison shows nothing")
			}
		})
	}
}

// Idle nodes cost nothing: a thousand times as many bring no more steps, but for each one's arrival.
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

// The wheel's next beat against looking at all of them.
func TestWheel(t *testing.T) {
	for seed := range uint64(40) {
		d := seeded(seed)
		n := d(1, 150)
		w := newWheel(n, 100, newRand(seed))
		a, b := newBitset(n), newBitset(n)
		for i := range n {
			a.set(int32(i), d(0, 9) == 0)
			b.set(int32(i), d(0, 19) == 0)
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
					if t < from || t < last || t == last && r <= lastRank || !a.has(r) && !b.has(r) {
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
				a.set(i, !a.has(i))
			}
		}
	}
}

// TestPassWords compares what is passed over with beats counted one by one, where nodes fill whole words and where they
// do not.
func TestPassWords(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 128, 200, 256} {
		w := newWheel(n, fastBeat, rand.New(rand.NewPCG(1, 2)))
		p := newPace(w, heddle.Second)
		next := make([]int64, n) // turns
		for i := range n {
			rank := int32(i)
			next[rank] = int64(i) % p.calm
			p.fast.set(rank, i%3 == 0)
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
					if p.fast.has(rank) {
						next[rank] += p.soon - p.calm
					}
				}
				if !p.of(next[rank]).has(rank) || p.of(turn).has(rank) {
					t.Fatalf("of %d nodes, after turn %d, %d does not beat in turn %d", n, turn, rank, next[rank])
				}
			}
		}
	}
}
