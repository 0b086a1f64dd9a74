package hadoop_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/internal/testkit/hadoop"
	"heddle/policies"
	"heddle/policy"
)

// TestSmallerMaps gives maps six tenths of what they ask for once it is known what ended maps used. More run at a time
// than would fit at full size, and the output is right.
func TestSmallerMaps(t *testing.T) {
	ctx := onTestbed(t, 10*time.Minute)
	if *manager != hadoop.Heddle {
		t.Skip("only Heddle gives containers less than they ask for")
	}
	profile := filepath.Join(t.TempDir(), "smaller.yaml")
	if err := os.WriteFile(profile, []byte("profile: capacity\ntrim: {map: {ikayak.fixed: {part: 0.6}}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	use(t, ctx, profile, false, nil)
	const maps, samples, asked = 36, 1000, 1024
	r, err := testbed.StartMR(ctx, "pi", "-Dmapreduce.map.memory.mb="+strconv.Itoa(asked), strconv.Itoa(maps), strconv.Itoa(samples))
	if err != nil {
		t.Fatal(err)
	}
	res, seen := finishSeen(t, ctx, r, asked)
	if got, want := number(t, res.Out, `Estimated value of Pi is ([\d.]+)`), piOf(maps*samples); got != want {
		t.Errorf("pi = %v, want %v", got, want)
	}
	succeeded(t, ctx, res.App, 1)
	whole := testbed.Options().Nodes * (testbed.Options().NodeMB / asked)
	t.Logf("%+v; of whole ones there is room for %d", seen, whole)
	if seen.most <= whole {
		t.Errorf("at most %d maps ran at a time: no more than whole ones have room", seen.most)
	}
	if seen.least > asked*7/10 || !seen.wholeFirst {
		t.Errorf("the smallest map had %d MiB at its NodeManager, want about 614; the first ones had all that they asked for: %v", seen.least, seen.wholeFirst)
	}
}

// A mapsSeen is what NodeManagers had of an application's maps.
type mapsSeen struct {
	most, least int  // at a time; MiB of the smallest
	wholeFirst  bool // the first maps seen had all that they asked for
}

// finishSeen waits for the end of a job. It returns its result and what it saw of its maps, which ask for asked MiB
// each.
func finishSeen(t *testing.T, ctx context.Context, r *hadoop.Run, asked int) (hadoop.Result, mapsSeen) {
	t.Helper()
	app := must(r.App(ctx))(t)
	watched, stop := context.WithCancel(ctx)
	defer stop()
	found := make(chan mapsSeen, 1)
	go func() { found <- seeMaps(watched, app, asked) }()
	res := finish(t, r, nil)
	stop()
	return res, <-found
}

// seeMaps watches all NodeManagers until a context ends. A container other than the master that is no larger than a map
// asks for counts as a map.
func seeMaps(ctx context.Context, app string, asked int) (seen mapsSeen) {
	seen.least = asked
	for first := true; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		var sizes []int
		for n := 1; n <= testbed.Options().Nodes; n++ {
			list, err := testbed.NodeContainers(ctx, n)
			if err != nil {
				continue
			}
			for _, c := range list {
				master := strings.HasSuffix(c.ID, "_000001")
				if c.State == "RUNNING" && !master && c.MemoryMB <= asked && strings.Contains(c.ID, strings.TrimPrefix(app, "application_")) {
					sizes = append(sizes, c.MemoryMB)
				}
			}
		}
		if len(sizes) == 0 {
			continue
		}
		if first {
			seen.wholeFirst, first = slices.Min(sizes) == asked, false
		}
		seen.most, seen.least = max(seen.most, len(sizes)), min(seen.least, slices.Min(sizes))
	}
	return seen
}

// elsewhere runs the maps of the first application on nodes that have none of their data. There must be such a node.
type elsewhere struct{ first heddle.AppID }

func (e *elsewhere) Judge(_ policy.View, k *policy.Ask, _ *policy.Node, at heddle.Locality) policy.Verdict {
	if e.first == heddle.NoApp {
		e.first = k.App().ID()
	}
	if k.App().ID() == e.first && at == heddle.NodeLocal {
		return policy.No(heddle.StrictElsewhere)
	}
	return policy.Yes
}

// TestMapsShrinkBesideTheirData runs a job whose maps do not find their data, so that iKayak's β falls, and then one
// with more maps whose data is on a node than that node has room for. These divide what is free there: more run at a
// time than would fit at full size, and the output is right.
func TestMapsShrinkBesideTheirData(t *testing.T) {
	ctx := onTestbed(t, 6*time.Minute)
	if *manager != hadoop.Heddle {
		t.Skip("only Heddle gives containers less than they ask for")
	}
	policies.Table.Place["elsewhere"] = func(policy.Args) (policy.Place, error) { return &elsewhere{heddle.NoApp}, nil }
	t.Cleanup(func() { delete(policies.Table.Place, "elsewhere") })
	within(t, ctx, "", "capacity", "place.map=[any, elsewhere]", "trim.map={ikayak.shrink: {sample: 4}}")
	const asked = 1536
	count := func(name string, files, length, split int) mapsSeen {
		dir, want := "/"+t.Name()+"/"+name, map[string]int{}
		for i := range files {
			text := words(uint64(i), length)
			if err := testbed.Put(ctx, fmt.Sprintf("%s/in/%d", dir, i), []byte(text)); err != nil {
				t.Fatal(err)
			}
			for w := range strings.FieldsSeq(text) {
				want[w]++
			}
		}
		r := must(testbed.StartMR(ctx, "wordcount", "-Dmapreduce.map.memory.mb="+strconv.Itoa(asked), "-Dmapreduce.reduce.memory.mb="+strconv.Itoa(asked+1),
			"-Dmapreduce.job.reduce.slowstart.completedmaps=1", "-Dmapreduce.input.fileinputformat.split.maxsize="+strconv.Itoa(split), dir+"/in", dir+"/out"))(t)
		res, seen := finishSeen(t, ctx, r, asked)
		if got := counts(t, must(testbed.Parts(ctx, dir+"/out"))(t), 0, 1); !maps.Equal(got, want) {
			t.Errorf("counted %v, want %v", got, want)
		}
		succeeded(t, ctx, res.App, 1)
		ranOnce(t, ctx, res.App, tasksOf(t, ctx, res.App))
		return seen
	}
	whole := testbed.Options().Nodes * (testbed.Options().NodeMB / asked)
	if seen := count("elsewhere", 2, 2000, 1000); seen.least != asked {
		t.Errorf("a map that does not find its data has %d MiB, want the %d that it asked for", seen.least, asked)
	}
	// Its maps run for some seconds each, so that maps that got something one after another are seen together.
	seen := count("beside", 6*testbed.Options().Nodes, 500_000, 8<<20)
	t.Logf("%+v; of whole ones there is room for %d", seen, whole)
	if seen.most <= whole || seen.least >= asked {
		t.Errorf("at most %d maps ran at a time, of whole ones there is room for %d; the smallest had %d MiB of %d", seen.most, whole, seen.least, asked)
	}
}

// TestGateOfReduces has two reduces that wait for as many of 24 maps as Coupling wants: more than 5.8 for the first and
// 11.7 for the second. Without a gate they start when two maps are done. Few maps run at a time, so that no wave of
// them passes one of these numbers.
func TestGateOfReduces(t *testing.T) {
	ctx := onTestbed(t, 10*time.Minute)
	if *manager != hadoop.Heddle {
		t.Skip("only Heddle holds reduces back")
	}
	use(t, ctx, "coupling", false, nil)
	const maps = 24
	r, err := testbed.StartSleep(ctx, "-Dmapreduce.map.memory.mb=1536", "-Dmapreduce.job.reduce.slowstart.completedmaps=0.05",
		"-m", strconv.Itoa(maps), "-r", "2", "-mt", "2000", "-rt", "500")
	app := finish(t, r, err).App
	succeeded(t, ctx, app, 1)
	done := mapsBefore(must(testbed.Tasks(ctx, app))(t))
	t.Logf("reduces started after %v maps", done)
	if len(done) != 2 || done[0] < 6 || done[1] < 12 || done[1] >= maps {
		t.Errorf("reduces started when %v of %d maps were done, want at least 6 and 12, and not all", done, maps)
	}
}

// mapsBefore returns how many maps had ended when each reduce started, in order of the reduces' starts.
func mapsBefore(tasks []hadoop.Task) (done []int) {
	for _, reduce := range tasks {
		if reduce.Type != "REDUCE" {
			continue
		}
		n := 0
		for _, task := range tasks {
			if task.Type == "MAP" && task.Ended <= reduce.Started {
				n++
			}
		}
		done = append(done, n)
	}
	slices.Sort(done)
	return done
}

// TestExecutorGoesWhereRoomIsSoonest has two nodes full of sleeping reduces, and a third full of short maps. Under
// iKayak an executor that fits nowhere has the third node reserved. On the other nodes it would wait for the reduces.
func TestExecutorGoesWhereRoomIsSoonest(t *testing.T) {
	ctx := onTestbed(t, 4*time.Minute)
	if *manager != hadoop.Heddle {
		t.Skip("only Heddle places executors by what ends soon")
	}
	within(t, ctx, "", "ikayak")
	whole := testbed.Options().NodeMB
	reduce, executor := whole*3/4, whole*3/8 // beside all masters, but not beside a reduce
	long := must(testbed.StartSleep(ctx, "-Dmapreduce.reduce.memory.mb="+strconv.Itoa(reduce), "-m", "1", "-r", "2", "-mt", "1000", "-rt", "90000"))(t)
	nodesOf := func(least, most int) (nodes []int) {
		for n := 1; n <= testbed.Options().Nodes; n++ {
			for _, c := range must(testbed.NodeContainers(ctx, n))(t) {
				if c.State == "RUNNING" && c.MemoryMB >= least && c.MemoryMB <= most {
					nodes = append(nodes, n)
				}
			}
		}
		return nodes
	}
	eventually(t, ctx, time.Minute, "two reduces", func() bool { return len(nodesOf(reduce, reduce)) == 2 })
	reduces := nodesOf(reduce, reduce)
	const mapMB = 1280 // the queue has room for an executor's reservation beside them
	short := must(testbed.StartSleep(ctx, "-Dmapreduce.map.memory.mb="+strconv.Itoa(mapMB), "-m", "12", "-r", "0", "-mt", "5000", "-rt", "1"))(t)
	eventually(t, ctx, time.Minute, "maps", func() bool { return len(nodesOf(mapMB, mapMB)) > 0 })
	spark := must(testbed.StartSpark(ctx, hadoop.Spark3, "--conf", "spark.executor.instances=1",
		"--conf", "spark.executor.memory="+strconv.Itoa(executor-256)+"m", testdata(t, "holds.py"), "1", "3"))(t)
	var seen []int
	eventually(t, ctx, 2*time.Minute, "an executor", func() bool { seen = nodesOf(executor, reduce-1); return len(seen) > 0 })
	left := nodesOf(reduce, reduce)
	t.Logf("reduces on nodes %v, the executor on %v; the reduces that run then on %v", reduces, seen, left)
	if len(seen) != 1 || slices.Contains(reduces, seen[0]) || len(left) != 2 {
		t.Errorf("the executor runs on nodes %v, with reduces on %v, of which those on %v run still; want it on the third, beside both", seen, reduces, left)
	}
	succeeded(t, ctx, finish(t, spark, nil).App, 1)
	for _, r := range []*hadoop.Run{short, long} {
		res := finish(t, r, nil)
		succeeded(t, ctx, res.App, 1)
		ranOnce(t, ctx, res.App, tasksOf(t, ctx, res.App))
	}
}

// With agents, a master has a larger weight on busy processors until its application holds a task, and no longer.
func TestMasterStartsWithMoreWeight(t *testing.T) {
	ctx := onTestbed(t, 6*time.Minute)
	withAgents(t, ctx, 1, 1, "heddle")
	r := must(testbed.StartSleep(ctx, "-m", "1", "-r", "0", "-mt", "3000"))(t)
	app := must(r.App(ctx))(t)
	seen := map[string][]string{}
	res, err := watched(r, 50*time.Millisecond, func() { sharesSeen(seen) })
	if err != nil {
		t.Fatal(err)
	}
	succeeded(t, ctx, res.App, 1)
	master := strings.Replace(app, "application", "container", 1) + "_01_000001"
	had := seen[master]
	if t.Logf("shares of processors: %v", seen); !slices.Contains(had, "10240") || had[len(had)-1] != "1024" || len(seen) != 2 {
		t.Errorf("the master had shares %v, of %d containers; want 10240 and at the end 1024, and its map beside it", had, len(seen))
	}
	noGroupLeft(t, ctx)
}
