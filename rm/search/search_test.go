package search

import (
	"flag"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	theSeed = flag.Uint64("seed", 0, "the seed of TestSeed")
	keep    = flag.String("keep", "", "the numbers of the ops of TestSeed, with commas between them; all where it is empty")
	lasting = flag.Duration("for", 0, "how long TestFresh looks")
	from    = flag.Uint64("from", 0, "the first seed of TestFresh; any where it is 0")
	lines   = flag.Int("lines", 100, "how many lines a trace has")
)

// report fails a test with a failure, made as short as possible, and says how to reproduce it.
func report(t *testing.T, p *Plan, f *Failure) {
	t.Helper()
	short := Shrink(p, f, 400)
	_, g := Run(short, Options{Trace: *lines})
	if g == nil {
		t.Errorf("seed %d: %v\nand not again", p.Seed, f)
		return
	}
	var ops []string
	for _, o := range short.Ops {
		ops = append(ops, o.String())
	}
	t.Errorf("seed %d, profile %s: %v\nonce more: go test ./rm/search -run TestSeed -seed %d -keep %s\n%d of %d ops:\n\t%s\n%v\nthe last of it:\n\t%s",
		p.Seed, newSetup(p.Seed).profileText(), f, p.Seed, short.Numbers(), len(short.Ops), len(p.Ops), strings.Join(ops, "\n\t"), g, strings.Join(g.Trace, "\n\t"))
}

// TestSeed plays one seed, or a part of it.
func TestSeed(t *testing.T) {
	if *theSeed == 0 {
		t.Skip("-seed says which one")
	}
	p, err := part(*theSeed, *keep)
	if err != nil {
		t.Fatal(err)
	}
	if st, f := Run(p, Options{}); f != nil {
		report(t, p, f)
	} else {
		t.Logf("%+v", st)
	}
}

// part returns the plan of a seed, or the part that keep names.
func part(seed uint64, keep string) (*Plan, error) {
	p := NewPlan(seed)
	if keep == "" {
		return p, nil
	}
	numbers := map[int]bool{}
	for f := range strings.SplitSeq(keep, ",") {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, err
		}
		numbers[n] = true
	}
	return p.Keep(numbers), nil
}

// said describes how much was searched, for people.
func said(sum Stats, seeds int, took time.Duration) string {
	hours := time.Duration(sum.Time).Hours()
	return fmt.Sprintf("%d seeds, %.1f simulated hours (%.2f a second), %d faults (%.0f a second), %d messages (%.0f a second), %d jobs, %d containers, %d of them resized, %d masters in smaller ones, %d starts of the ResourceManager, in %v",
		seeds, hours, hours/took.Seconds(), sum.Faults, float64(sum.Faults)/took.Seconds(), sum.Steps, float64(sum.Steps)/took.Seconds(),
		sum.Jobs, sum.Containers, sum.Updates, sum.Cut, sum.Starts, took.Round(time.Millisecond))
}

// TestPinned plays the first seeds.
func TestPinned(t *testing.T) {
	seeds := uint64(enough)
	if testing.Short() {
		seeds = 10
	}
	began, sum := time.Now(), Stats{}
	for i := range seeds {
		p := NewPlan(i + 1)
		st, f := Run(p, Options{})
		if sum.Add(st); f != nil {
			report(t, p, f)
		}
	}
	if sum.Cut == 0 {
		t.Error("no master was started in less than it asked for")
	}
	t.Log(said(sum, int(seeds), time.Since(began)))
}

// TestMixed plays seeds whose profiles are changed.
func TestMixed(t *testing.T) {
	seeds, played := uint64(40), 0
	if testing.Short() {
		seeds = 10
	}
	for seed := uint64(enough + 1); seed <= enough+seeds; seed++ {
		if newSetup(seed).tuned == 0 {
			continue
		}
		played++
		p := NewPlan(seed)
		if _, f := Run(p, Options{}); f != nil {
			report(t, p, f)
		}
	}
	if played == 0 {
		t.Error("no seed has a changed profile")
	}
}

// TestFresh plays new seeds, one after the other.
func TestFresh(t *testing.T) {
	if *lasting == 0 {
		t.Skip("-for says how long")
	}
	first := *from
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	began, sum, n := time.Now(), Stats{}, 0
	for time.Since(began) < *lasting && !t.Failed() {
		p := NewPlan(first + uint64(n))
		st, f := Run(p, Options{})
		n++
		if sum.Add(st); f != nil {
			report(t, p, f)
		}
	}
	t.Log(said(sum, n, time.Since(began)))
}

// TestSame plays seeds twice: the results are the same.
func TestSame(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		var sums [2]uint64
		for i := range sums {
			h := fnv.New64()
			s := &sim{setup: newSetup(seed), seed: seed, o: Options{Trace: 1 << 30}}
			s.play(NewPlan(seed))
			for _, line := range s.trace {
				_, _ = h.Write([]byte(line))
			}
			sums[i] = h.Sum64()
		}
		if sums[0] != sums[1] {
			t.Errorf("seed %d goes another way the second time", seed)
		}
	}
}
