package exp

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/workload"
)

// The real Java schedulers ran these workloads inside Hadoop's own load simulator. Under the given world
// ours must come out alike: the mean job completion time within 5 %, and nine jobs in ten within the
// larger of 15 % and 4 s, by the median of five seeds.
func TestAgreesWithHadoop(t *testing.T) {
	for _, c := range []struct{ dir, profile string }{
		{"mixed", "capacity"}, // two queues, two sizes of container
		{"mixed", "fair"},
		{"nested", "capacity"}, // user limits, maxima, few masters; processors count
		{"large", "capacity"},  // reservations, and a leaf that orders by use
		{"drf", "fair"},        // two resources, minima, maxima, limits on masters and applications
		{"starved", "fair"},    // reservations, and a leaf that is first in, first out
	} {
		t.Run(c.dir+"/"+c.profile, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", "sls", c.dir)
			runs := [][]float64{readJCT(t, filepath.Join(dir, c.profile+".csv"))}
			again := filepath.Join(dir, c.profile+"-again.csv")
			if _, err := os.Stat(again); !errors.Is(err, fs.ErrNotExist) {
				runs = append(runs, readJCT(t, again))
			}
			agree(t, medians(t, dir, c.profile), runs)
		})
	}
}

// medians runs a workload with five seeds and returns the median completion time of every job, in
// seconds.
func medians(t *testing.T, dir, profile string) []float64 {
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
	plan := Plan{Workload: wl, Profiles: []*policies.Profile{p}, Seeds: []uint64{1, 2, 3, 4, 5}, Conf: h, Nodes: nodes, Given: true, Check: true}
	runs, err := plan.Run()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(wl.Jobs))
	for i := range out {
		var by []float64
		for _, r := range runs[0] {
			by = append(by, r.Jobs[i].JCT.Seconds())
		}
		slices.Sort(by)
		out[i] = by[len(by)/2]
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
