package hadoop_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/internal/testkit/hadoop"
)

// A sparkJob is one of Spark's Python examples.
type sparkJob struct {
	name string
	run  func(t *testing.T, p place, spark, mode string)
}

// filtersRace matches the error of a driver outside the cluster that ends during its start: it attaches its pages while
// its master makes it add a filter to them, and Spark 4.1.4 does not synchronise the two.
var filtersRace = regexp.MustCompile(`ConcurrentModificationException(?s:.*)SparkUI\.\$anonfun\$attachAllHandlers`)

// submit runs a Python file and returns what its driver printed, wherever that ran.
func submit(t *testing.T, spark, mode, file string, args ...string) (app, out string) {
	t.Helper()
	ctx := onTestbed(t, jobTime)
	// Without a bound the Python examples split what they join into more and more pieces.
	flags := []string{"--deploy-mode", mode, "--conf", "spark.default.parallelism=2", file}
	flags = append(flags, args...)
	r, err := testbed.StartSpark(ctx, spark, flags...)
	if res, failed := hadoop.Finish(r, err); failed != nil && filtersRace.MatchString(res.All) {
		t.Logf("once more, since Spark's driver ended of itself: %v", failed)
		r, err = testbed.StartSpark(ctx, spark, flags...)
	}
	res := finish(t, r, err)
	succeeded(t, ctx, res.App, 1)
	if mode == "client" {
		return res.App, res.Out
	}
	outs := must(testbed.ContainerOutput(res.App, "stdout"))(t)
	for container, text := range outs {
		if strings.HasSuffix(container, "_01_000001") {
			return res.App, text
		}
	}
	t.Fatalf("%s: no output of its driver among %d containers", res.App, len(outs))
	return "", ""
}

func example(t *testing.T, spark, name string) string {
	t.Helper()
	return must(testbed.SparkExample(spark, name))(t)
}

func sparkPi(t *testing.T, _ place, spark, mode string) {
	app, out := submit(t, spark, mode, example(t, spark, "pi.py"), "4")
	// Each of the four tasks draws 100,000 points. Python's workers are forked and may draw the same points: then the
	// standard deviation is 0.0052. The bound is six times that.
	if got := number(t, out, `Pi is roughly ([\d.]+)`); math.Abs(got-math.Pi) > 0.031 {
		t.Errorf("pi = %v", got)
	}
	if e := must(testbed.SparkEvents(app))(t); len(e.Runs) != 4 || e.Added != 2 {
		t.Errorf("%d tasks on %d executors, want 4 on 2", len(e.Runs), e.Added)
	}
}

// sparkKMeans finds the centres of two clusters that are far apart.
func sparkKMeans(t *testing.T, p place, spark, mode string) {
	ctx := onTestbed(t, jobTime)
	random := rand.New(rand.NewPCG(3, 0))
	const points = 200
	var file strings.Builder
	var want [2][3]float64
	for i := range points {
		for axis := range 3 {
			x := math.Round(1000*(float64(i%2)*9+random.Float64())) / 1000
			want[i%2][axis] += x / (points / 2)
			fmt.Fprintf(&file, "%.3f%c", x, "  \n"[axis])
		}
	}
	if err := testbed.Put(ctx, p.dir+"/points", []byte(file.String())); err != nil {
		t.Fatal(err)
	}
	_, out := submit(t, spark, mode, example(t, spark, "kmeans.py"), p.dir+"/points", "2", "0.001")
	_, centres, found := strings.Cut(out, "Final centers:")
	var got []float64
	for _, x := range regexp.MustCompile(`\d+\.\d*`).FindAllString(centres, -1) {
		got = append(got, must(strconv.ParseFloat(x, 64))(t))
	}
	if !found || len(got) != 6 {
		t.Fatalf("no two centres in %q", out)
	}
	if got[0] > got[3] {
		got = append(got[3:6:6], got[:3]...)
	}
	for i, x := range slices.Concat(want[0][:], want[1][:]) {
		if math.Abs(got[i]-x) > 1e-6 {
			t.Errorf("centres %v, want %v", got, want)
			break
		}
	}
}

// sparkPageRank compares the result with the same iteration done here.
func sparkPageRank(t *testing.T, p place, spark, mode string) {
	ctx := onTestbed(t, jobTime)
	const pages, rounds = 12, 3
	random := rand.New(rand.NewPCG(4, 0))
	links := map[int][]int{}
	var file strings.Builder
	for from := range pages {
		for _, to := range random.Perm(pages)[:1+from%4] {
			links[from] = append(links[from], to)
			fmt.Fprintf(&file, "p%d p%d\n", from, to)
		}
	}
	if err := testbed.Put(ctx, p.dir+"/links", []byte(file.String())); err != nil {
		t.Fatal(err)
	}
	ranks := map[int]float64{}
	for page := range pages {
		ranks[page] = 1
	}
	for range rounds {
		next := map[int]float64{}
		for from, tos := range links {
			for _, to := range tos {
				if rank, linked := ranks[from]; linked {
					next[to] += rank / float64(len(tos))
				}
			}
		}
		for page := range next {
			next[page] = 0.15 + 0.85*next[page]
		}
		ranks = next
	}
	_, out := submit(t, spark, mode, example(t, spark, "pagerank.py"), p.dir+"/links", strconv.Itoa(rounds))
	found := regexp.MustCompile(`p(\d+) has rank: ([\d.e-]+)\.`).FindAllStringSubmatch(out, -1)
	if len(found) != len(ranks) {
		t.Fatalf("%d ranks, want %d, in %q", len(found), len(ranks), out)
	}
	for _, f := range found {
		page, got := must(strconv.Atoi(f[1]))(t), must(strconv.ParseFloat(f[2], 64))(t)
		if math.Abs(got-ranks[page]) > 1e-9 {
			t.Errorf("p%d has rank %v, want %v", page, got, ranks[page])
		}
	}
}

// testDynamic lets Spark ask for executors when it has work and release them when they are idle.
func testDynamic(t *testing.T, _ place, spark string) {
	ctx := onTestbed(t, jobTime)
	args := []string{}
	for name, value := range map[string]string{
		"enabled": "true", "shuffleTracking.enabled": "true", "shuffleTracking.timeout": "2s", "executorIdleTimeout": "2s",
		"minExecutors": "0", "maxExecutors": "4", "schedulerBacklogTimeout": "1s",
	} {
		args = append(args, "--conf", "spark.dynamicAllocation."+name+"="+value)
	}
	args = append(args, "--conf", "spark.executor.instances=1", testdata(t, "bursts.py"), "12")
	r, err := testbed.StartSpark(ctx, spark, args...)
	res := finish(t, r, err)
	if want := "totals 66 15"; !strings.Contains(res.Out, want) {
		t.Errorf("it printed %q, want %q", res.Out, want)
	}
	succeeded(t, ctx, res.App, 1)
	e := must(testbed.SparkEvents(res.App))(t)
	given := e.Removed["Executor killed by driver."]
	if e.Peak < 2 || given < 1 || e.Added <= e.Peak || len(e.Removed) > 1 {
		t.Errorf("executors: %d came, at most %d at once, went %v; want at least 2 at once, idle ones given back, others in their place", e.Added, e.Peak, e.Removed)
	}
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	return must(filepath.Abs(filepath.Join("testdata", name)))(t)
}
