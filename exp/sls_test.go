package exp

import (
	"encoding/csv"
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

// The real Java schedulers ran this workload inside Hadoop's own load simulator. Under the given world
// ours must come out alike: the mean job completion time within 5 %, and nine jobs in ten within the
// larger of 15 % and 4 s, by the median of five seeds.
func TestAgreesWithHadoop(t *testing.T) {
	const dir = "testdata/sls/mixed"
	wl, err := workload.Read(filepath.Join(dir, "jobs.json"), workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := workload.ReadNodes("testdata/sls/nodes.json")
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
	for _, name := range []string{"capacity", "fair"} {
		t.Run(name, func(t *testing.T) {
			p, err := policies.Load(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			plan := Plan{Workload: wl, Profiles: []*policies.Profile{p}, Seeds: []uint64{1, 2, 3, 4, 5}, Conf: h, Nodes: nodes, Given: true, Check: true}
			runs, err := plan.Run()
			if err != nil {
				t.Fatal(err)
			}
			ours := make([]float64, len(wl.Jobs))
			for i := range ours {
				var by []float64
				for _, r := range runs[0] {
					by = append(by, r.Jobs[i].JCT.Seconds())
				}
				slices.Sort(by)
				ours[i] = by[len(by)/2]
			}
			first, second := readJCT(t, filepath.Join(dir, name+".csv")), readJCT(t, filepath.Join(dir, name+"-again.csv"))
			agree(t, ours, first, second)
		})
	}
}

func agree(t *testing.T, ours, first, second []float64) {
	off := 0
	var mine, theirs float64
	for i := range ours {
		want := (first[i] + second[i]) / 2
		mine += ours[i]
		theirs += want
		if d := math.Abs(ours[i] - want); d > max(0.15*want, 4) {
			off++
			t.Logf("job %d: %.1f s, theirs %.1f and %.1f", i+1, ours[i], first[i], second[i])
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
		job, _ := strconv.Atoi(r[0])
		if out[job-1], err = strconv.ParseFloat(r[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
