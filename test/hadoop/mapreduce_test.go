package hadoop_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// testPi compares the result with the same quasi-random points counted here. While it runs, the ResourceManager
// receives the processor time that its containers use, which the policy uncrowded uses.
func testPi(t *testing.T, _ place) {
	ctx := onTestbed(t, jobTime)
	const maps, samples = 4, 1000
	watched, stop := context.WithCancel(ctx)
	defer stop()
	busiest := make(chan float64, 1)
	go func() { busiest <- mostUsed(watched) }()
	r, err := testbed.StartMR(ctx, "pi", strconv.Itoa(maps), strconv.Itoa(samples))
	res := finish(t, r, err)
	stop()
	if vcores := <-busiest; vcores < 0.05 {
		t.Errorf("no node's containers used more than %v vcores", vcores)
	}
	if got, want := number(t, res.Out, `Estimated value of Pi is ([\d.]+)`), piOf(maps*samples); got != want {
		t.Errorf("pi = %v, want %v", got, want)
	}
	succeeded(t, ctx, res.App, 1)
}

// piOf returns pi as the example computes it with that many points.
func piOf(points int) float64 {
	inside := 0
	for i := range points {
		x, y := halton(i+1, 2)-0.5, halton(i+1, 3)-0.5
		if x*x+y*y <= 0.25 {
			inside++
		}
	}
	return 4 * float64(inside) / float64(points)
}

// mostUsed watches nodes until a context ends, and returns the most vcores that the containers of one node used
// together.
func mostUsed(ctx context.Context) (most float64) {
	for {
		nodes, err := testbed.Nodes(ctx)
		if err == nil {
			for _, n := range nodes {
				most = max(most, n.Utilization.ContainersCPU)
			}
		}
		select {
		case <-ctx.Done():
			return most
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// halton returns the i-th element of a Halton sequence: the digits of i in a base, mirrored at the radix point.
func halton(i, base int) float64 {
	x, digit := 0.0, 1.0
	for ; i > 0; i /= base {
		digit /= float64(base)
		x += digit * float64(i%base)
	}
	return x
}

// number returns the number in the first group of a pattern's match.
func number(t *testing.T, text, pattern string) float64 {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("nothing like %s in %q", pattern, text)
	}
	return must(strconv.ParseFloat(found[1], 64))(t)
}

// words returns a text in which some words are much more frequent than others.
func words(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d", int(random.ExpFloat64()*40))
		b.WriteByte(" \n"[min(1, i%10/9)])
	}
	return b.String()
}

// texts puts two files of words into a folder and returns their content as one text.
func texts(t *testing.T, p place) (dir, text string) {
	t.Helper()
	ctx := onTestbed(t, jobTime)
	for i := range 2 {
		part := words(uint64(i), 20_000)
		if err := testbed.Put(ctx, fmt.Sprintf("%s/in/%d", p.dir, i), []byte(part)); err != nil {
			t.Fatal(err)
		}
		text += part
	}
	return p.dir + "/in", text
}

// counts reads lines with a key and its count, in either order.
func counts(t *testing.T, parts [][]byte, key, count int) map[string]int {
	t.Helper()
	got := map[string]int{}
	for line := range strings.Lines(string(bytes.Join(parts, nil))) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			t.Fatalf("a line of the output is %q", line)
		}
		if _, twice := got[fields[key]]; twice {
			t.Errorf("%s is counted twice", fields[key])
		}
		got[fields[key]] = must(strconv.Atoi(fields[count]))(t)
	}
	return got
}

func testWordCount(t *testing.T, p place) {
	ctx := onTestbed(t, jobTime)
	in, text := texts(t, p)
	r, err := testbed.StartMR(ctx, "wordcount", "-Dmapreduce.job.reduces=2", in, p.dir+"/out")
	res := finish(t, r, err)
	want := map[string]int{}
	for w := range strings.FieldsSeq(text) {
		want[w]++
	}
	parts, err := testbed.Parts(ctx, p.dir+"/out")
	if err != nil || len(parts) != 2 {
		t.Fatalf("%d parts, want 2: %v", len(parts), err)
	}
	if got := counts(t, parts, 0, 1); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	succeeded(t, ctx, res.App, 1)
}

// testGrep runs two jobs: one finds and counts, one sorts by the counts.
func testGrep(t *testing.T, p place) {
	ctx := onTestbed(t, jobTime)
	in, text := texts(t, p)
	const pattern = "w[13]5"
	r, err := testbed.StartMR(ctx, "grep", in, p.dir+"/out", pattern)
	res := finish(t, r, err)
	want := map[string]int{}
	for _, w := range regexp.MustCompile(pattern).FindAllString(text, -1) {
		want[w]++
	}
	parts := must(testbed.Parts(ctx, p.dir+"/out"))(t)
	if got := counts(t, parts, 1, 0); len(want) != 2 || !maps.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	var order []int
	for line := range strings.Lines(string(bytes.Join(parts, nil))) {
		order = append(order, -must(strconv.Atoi(strings.Fields(line)[0]))(t))
	}
	if !slices.IsSorted(order) {
		t.Errorf("not the most frequent first: %v", order)
	}
	succeeded(t, ctx, res.App, 1)
}

// testTeraSort generates, sorts and validates in three jobs, and also checks the records itself.
func testTeraSort(t *testing.T, p place) {
	ctx := onTestbed(t, jobTime)
	const rows, size, key = 20_000, 100, 10
	in, out, report := p.dir+"/in", p.dir+"/out", p.dir+"/report"
	r, err := testbed.StartMR(ctx, "teragen", "-Dmapreduce.job.maps=2", strconv.Itoa(rows), in)
	finish(t, r, err)
	r, err = testbed.StartMR(ctx, "terasort", "-Dmapreduce.job.reduces=2", in, out)
	finish(t, r, err)
	r, err = testbed.StartMR(ctx, "teravalidate", out, report)
	res := finish(t, r, err)

	split := func(dir string) []string {
		all := bytes.Join(must(testbed.Parts(ctx, dir))(t), nil)
		if len(all) != rows*size {
			t.Fatalf("%s has %d bytes, want %d records of %d", dir, len(all), rows, size)
		}
		var records []string
		for record := range slices.Chunk(all, size) {
			records = append(records, string(record))
		}
		return records
	}
	before, after := split(in), split(out)
	if !slices.IsSortedFunc(after, func(a, b string) int { return strings.Compare(a[:key], b[:key]) }) {
		t.Error("the sorted records are not in order")
	}
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		t.Error("what was sorted is not what was generated")
	}
	said := strings.Fields(string(bytes.Join(must(testbed.Parts(ctx, report))(t), nil)))
	if len(said) != 2 || said[0] != "checksum" {
		t.Errorf("teravalidate reports %q, want a checksum and no error", said)
	}
	succeeded(t, ctx, res.App, 1)
}

// testSort sorts what randomwriter wrote.
func testSort(t *testing.T, p place) {
	ctx := onTestbed(t, jobTime)
	in, out := p.dir+"/in", p.dir+"/out"
	r, err := testbed.StartMR(ctx, "randomwriter", "-Dmapreduce.randomwriter.totalbytes=600000",
		"-Dmapreduce.randomwriter.bytespermap=200000", "-Dmapreduce.randomwriter.maxvalue=500", in)
	finish(t, r, err)
	r, err = testbed.StartMR(ctx, "sort", "-r", "2", in, out)
	res := finish(t, r, err)

	var before, after []record
	ins := must(testbed.Parts(ctx, in))(t)
	for _, part := range ins {
		before = append(before, must(sequenceFile(part))(t)...)
	}
	if len(ins) != 3 || len(before) < 500 {
		t.Errorf("randomwriter wrote %d records in %d files, want at least 500 in 3", len(before), len(ins))
	}
	outs := must(testbed.Parts(ctx, out))(t)
	for i, part := range outs {
		records := must(sequenceFile(part))(t)
		if !slices.IsSortedFunc(records, func(a, b record) int { return strings.Compare(a.key, b.key) }) {
			t.Errorf("part %d is not in order", i)
		}
		after = append(after, records...)
	}
	if len(outs) != 2 {
		t.Errorf("sort wrote %d files, want 2", len(outs))
	}
	slices.SortFunc(before, record.compare)
	slices.SortFunc(after, record.compare)
	if !slices.Equal(before, after) {
		t.Errorf("what was sorted, %d records, is not what was written, %d", len(after), len(before))
	}
	succeeded(t, ctx, res.App, 1)
}

// testSleep checks the tasks in the job's history.
func testSleep(t *testing.T, _ place) {
	ctx := onTestbed(t, jobTime)
	const mapMS = 1200
	r, err := testbed.StartSleep(ctx, "-m", "5", "-r", "2", "-mt", strconv.Itoa(mapMS), "-rt", "500")
	res := finish(t, r, err)
	tasks := must(testbed.Tasks(ctx, res.App))(t)
	count := map[string]int{}
	for _, task := range tasks {
		count[task.Type+" "+task.State]++
		if took := task.Ended - task.Started; task.Type == "MAP" && took < mapMS {
			t.Errorf("%s took %d ms and should have slept %d", task.ID, took, mapMS)
		}
	}
	if want := map[string]int{"MAP SUCCEEDED": 5, "REDUCE SUCCEEDED": 2}; !maps.Equal(count, want) {
		t.Errorf("tasks %v, want %v", count, want)
	}
	succeeded(t, ctx, res.App, 1)
}
