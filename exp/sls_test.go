package exp

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/workload"
)

// The real Java schedulers ran these workloads inside Hadoop's own load simulator. In the given world ours must agree:
// the mean job completion time within 5 %, and nine jobs in ten within the larger of 15 % and 4 s, comparing the mean
// over seeds with the mean over their runs.
func TestAgreesWithHadoop(t *testing.T) {
	for _, c := range []struct {
		dir, profile string
		seeds        uint64
	}{
		{"mixed", "capacity", 5}, // two queues, two sizes of container
		{"mixed", "fair", 5},
		{"nested", "capacity", 5}, // user limits, maxima, few masters; processors count
		{"large", "capacity", 5},  // reservations, and a leaf that orders by use
		{"drf", "fair", 5},        // two resources, minima, maxima, limits on masters and applications
		{"starved", "fair", 5},    // reservations, and a FIFO leaf
		{"branches", "fair", 5},   // two levels of queues: weights, minima, maxima
		{"policies", "fair", 5},   // one policy per branch, percentages, limits by queue and by user
		{"scarce", "fair", 15},    // processors run out: in two of their runs, 6 to 13 jobs of 30 differ
	} {
		t.Run(c.dir+"/"+c.profile, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", "sls", c.dir)
			files, err := filepath.Glob(filepath.Join(dir, c.profile+"*.csv"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no runs of theirs: %v", err)
			}
			var runs [][]float64
			for _, f := range files {
				runs = append(runs, readJCT(t, f))
			}
			agree(t, means(t, dir, c.profile, c.seeds), runs)
		})
	}
}

// means runs a workload with the given number of seeds and returns the mean completion time of every job, in seconds.
func means(t *testing.T, dir, profile string, seeds uint64) []float64 {
	t.Helper()
	wl, err := workload.Read(filepath.Join(dir, "jobs.json"), workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := workload.ReadNodes(filepath.Join("testdata", "sls", "nodes.json"))
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := FromList(list, heddle.Of(8192, 8000))
	if err != nil {
		t.Fatal(err)
	}
	h, err := conf.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policies.Load(profile, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Stock: true, Workload: wl, Profiles: []*policies.Profile{p}, Conf: h, Nodes: nodes, Given: true, Check: true}
	for s := range seeds {
		plan.Seeds = append(plan.Seeds, s+1)
	}
	runs, err := plan.Run()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(wl.Jobs))
	for _, r := range runs[0] {
		for i := range out {
			out[i] += r.Jobs[i].JCT.Seconds() / float64(seeds)
		}
	}
	return out
}

// agree compares ours with the mean of theirs.
func agree(t *testing.T, ours []float64, runs [][]float64) {
	t.Helper()
	off := 0
	var mine, theirs float64
	for i := range ours {
		want := 0.0
		for _, r := range runs {
			want += r[i] / float64(len(runs))
		}
		mine += ours[i]
		theirs += want
		if d := math.Abs(ours[i] - want); d > max(0.15*want, 4) {
			off++
			t.Logf("job %d: %.1f s, theirs %.1f", i+1, ours[i], want)
		}
	}
	n := float64(len(ours))
	t.Logf("mean JCT %.2f s, theirs %.2f (%+.1f %%); %d of %d jobs off", mine/n, theirs/n, 100*(mine/theirs-1), off, len(ours))
	if math.Abs(mine/theirs-1) > 0.05 {
		t.Errorf("mean JCT %.2f s, theirs %.2f: more than 5 %% apart", mine/n, theirs/n)
	}
	if float64(off) > 0.1*n {
		t.Errorf("%d of %d jobs are off by more than 15 %% and 4 s", off, len(ours))
	}
}

func readJCT(t *testing.T, file string) []float64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(rows)-1)
	for _, r := range rows[1:] {
		job, err := strconv.Atoi(r[0])
		if err != nil || job < 1 || job > len(out) {
			t.Fatalf("%s: job %q, want 1 to %d", file, r[0], len(out))
		}
		if out[job-1], err = strconv.ParseFloat(r[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
