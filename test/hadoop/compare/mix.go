package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A mix is a set of jobs that arrive at given times, designed for one of the systems.
type mix struct {
	name      string
	profiles  string // Heddle's profiles: those with the system's mechanisms, and heddle
	about     string
	cores     float64           // shared by all NodeManagers and containers; 0: all of the machine's
	conf      []string          // properties of its MapReduce jobs
	scheduler map[string]string // properties of capacity-scheduler.xml, the same for every scheduler
	jobs      []mixJob
}

// A mixJob is a job of a mix. Its line is sleep with its arguments; or wordcount with the size of its input, such as
// 2x100 for two files of 100 MiB; or spark with its version, options of spark-submit, one of the Python files here and
// its arguments. MapReduce and Spark are those of Hadoop and Spark, unchanged.
type mixJob struct {
	at   time.Duration
	name string // class-…: small, large, mapreduce or spark, or what its tasks do
	line string
}

// spark reports whether the job is a Spark application.
func (j mixJob) spark() bool { return strings.HasPrefix(j.line, "spark ") }

// class returns the group in which a job is counted.
func (j mixJob) class() string {
	class, _, _ := strings.Cut(j.name, "-")
	return class
}

// classes returns the classes of the mix's jobs, in order.
func (m mix) classes() (all []string) {
	for _, j := range m.jobs {
		if !slices.Contains(all, j.class()) {
			all = append(all, j.class())
		}
	}
	return all
}

// thrifty are the flags for JVMs that live for seconds.
const thrifty = " -XX:+UseSerialGC -XX:TieredStopAtLevel=1"

// sized returns job properties for the sizes of tasks and master, in MiB, and for the master's heap.
func sized(task, master, heap int) []string {
	return []string{
		fmt.Sprint("mapreduce.map.memory.mb=", task), fmt.Sprint("mapreduce.reduce.memory.mb=", task),
		fmt.Sprint("yarn.app.mapreduce.am.resource.mb=", master), fmt.Sprint("yarn.app.mapreduce.am.command-opts=-Xmx", heap, "m", thrifty),
	}
}

// few returns sizes with which a node has room for two tasks and one master beside them. Starting more tasks at a time
// would take the machine's processors longer than the tasks last.
func few() []string { return sized(1536, 1024, 512) }

// mixes returns the mixes. They are small: on two cores, a mix takes most of its time to start the JVMs of tasks.
func mixes() []mix {
	return []mix{manySmall(), smallBehindLarge(), earlyReduces(), executors(), waitingReduces(), unequalTasks(), tables()}
}

// manySmall is for AdaptCont. Masters ask for Hadoop's default size; a quarter of the cluster has room for two of them,
// by memory alone, which is what Hadoop's CapacityScheduler counts unless told otherwise.
func manySmall() mix {
	m := mix{
		name: "adaptcont", profiles: "adaptcont,heddle",
		about: "Eight MapReduce jobs of 2 maps of 6 s that come a second apart. Their masters ask for 1536 MiB with a heap of 1024, as Hadoop has it, " +
			"and may hold a quarter of the cluster together: two of them. What is counted is memory alone, which is Hadoop's default too.",
		conf: sized(1024, 1536, 1024),
		scheduler: map[string]string{
			"yarn.scheduler.capacity.maximum-am-resource-percent": "0.25",
			"yarn.scheduler.capacity.resource-calculator":         "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator",
		},
	}
	for i := range 8 {
		m.jobs = append(m.jobs, mixJob{time.Duration(i) * time.Second, fmt.Sprintf("small-%d", i+1), "sleep -m 2 -r 0 -mt 6000 -rt 1"})
	}
	return m
}

// smallBehindLarge is for DRESS.
func smallBehindLarge() mix {
	const large, small = "sleep -m 9 -r 0 -mt 10000 -rt 1", "sleep -m 2 -r 0 -mt 2000 -rt 1"
	return mix{
		name: "dress", profiles: "dress,heddle",
		about: "Two large MapReduce jobs of 9 maps of 10 s, each of which fills the 6 containers that there are for tasks, and four small ones of 2 maps of 2 s " +
			"that come 8, 12, 18 and 26 s after the first.",
		conf: few(),
		jobs: []mixJob{
			{0, "large-1", large},
			{2 * time.Second, "large-2", large},
			{8 * time.Second, "small-1", small},
			{12 * time.Second, "small-2", small},
			{18 * time.Second, "small-3", small},
			{26 * time.Second, "small-4", small},
		},
	}
}

// earlyReduces is for the Coupling Scheduler.
func earlyReduces() mix {
	const large, small = "sleep -m 8 -r 3 -mt 8000 -rt 1000", "sleep -m 2 -r 1 -mt 2000 -rt 500"
	return mix{
		name: "coupling", profiles: "coupling,heddle",
		about: "Two large MapReduce jobs of 8 maps of 8 s and 3 reduces, and two small ones of 2 maps of 2 s that come 12 and 24 s after the first; " +
			"6 containers for tasks. Reduces come when 5 % of the maps are done, which is Hadoop's default, and hold their containers while maps wait for one.",
		conf: few(),
		jobs: []mixJob{
			{0, "large-1", large},
			{2 * time.Second, "large-2", large},
			{12 * time.Second, "small-1", small},
			{24 * time.Second, "small-2", small},
		},
	}
}

// executors is for iKayak's placement.
func executors() mix {
	const mapReduce = "sleep -m 10 -r 0 -mt 8000 -rt 1"
	const spark = "spark " + hadoop.Spark3 + " --conf spark.executor.instances=2 --conf spark.executor.memory=2816m sleep.py 6 2"
	return mix{
		name: "ikayak", profiles: "ikayak,heddle",
		about: "Two MapReduce jobs of 10 maps of 8 s, of 1536 MiB each, hold the three nodes of 4096 MiB. Two Spark applications come 8 and 16 s after the first, " +
			"with two executors of 3072 MiB and 6 tasks of 2 s: an executor finds room only where that of two maps is kept for it.",
		conf: few(),
		jobs: []mixJob{
			{0, "mapreduce-1", mapReduce},
			{2 * time.Second, "mapreduce-2", mapReduce},
			{8 * time.Second, "spark-1", spark},
			{16 * time.Second, "spark-2", spark},
		},
	}
}

// waitingReduces is for iKayak's suspension of reduces. Nodes run out of vcores here, since those are what a suspended
// reduce lends.
func waitingReduces() mix {
	const mapReduce = "sleep -m 30 -r 3 -mt 4000 -rt 1000"
	const spark = "spark " + hadoop.Spark3 + " --conf spark.executor.instances=2 --conf spark.executor.cores=2 sleep.py 120 3"
	return mix{
		name: "ikayak-reduces", profiles: "ikayak,ikayak-suspend,ikayak-suspend+agent,heddle",
		about: "Two Spark applications with two executors of 2 cores and 120 tasks of 3 s, and two MapReduce jobs of 30 maps of 4 s and 3 reduces that come 8 and 9 s after the first. " +
			"Tasks of MapReduce ask for 3 of the 8 vcores of a node. All reduces come when 5 % of the maps are done and hold their containers while maps wait for one.",
		conf: append(sized(512, 1024, 512), "mapreduce.map.cpu.vcores=3", "mapreduce.reduce.cpu.vcores=3", "mapreduce.job.reduce.slowstart.completedmaps=0.05",
			"yarn.app.mapreduce.am.job.reduce.rampup.limit=1.0"),
		jobs: []mixJob{
			{0, "spark-1", spark},
			{time.Second, "spark-2", spark},
			{8 * time.Second, "mapreduce-1", mapReduce},
			{9 * time.Second, "mapreduce-2", mapReduce},
		},
	}
}

// unequalTasks is for MROrchestrator.
func unequalTasks() mix {
	return mix{
		name: "mrorchestrator", profiles: "mrorchestrator-busy+agent,heddle,heddle+agent",
		about: "Three MapReduce jobs that come a second apart: one of 6 maps that count the words of 20 MiB each, one of 2 maps that count those of 100 MiB, one of 4 maps that sleep for 15 s. Each of the three nodes offers 8 vcores, " +
			"and their NodeManagers and all containers share 1.6 processors, with agents and without.",
		cores: 1.6,
		conf:  append(sized(1024, 1024, 512), "mapreduce.job.reduce.slowstart.completedmaps=1", "mapreduce.input.fileinputformat.split.minsize=1000000000"),
		jobs: []mixJob{
			{0, "short-1", "wordcount 6x20"},
			{time.Second, "long-1", "wordcount 2x100"},
			{2 * time.Second, "sleep-1", "sleep -m 4 -r 0 -mt 15000 -rt 1"},
		},
	}
}

// tables is a mix of Spark SQL and MapReduce.
func tables() mix {
	const mapReduce = "sleep -m 8 -r 1 -mt 6000 -rt 1000"
	sql := func(version string) string {
		line := "spark " + version
		for _, property := range []string{
			"enabled=true", "shuffleTracking.enabled=true", "shuffleTracking.timeout=2s", "executorIdleTimeout=2s",
			"minExecutors=0", "maxExecutors=3", "schedulerBacklogTimeout=1s",
		} {
			line += " --conf spark.dynamicAllocation." + property
		}
		return line + " --conf spark.executor.instances=1 sql.py 2000000 6"
	}
	return mix{
		name: "spark-sql", profiles: "ikayak,heddle",
		about: "Two MapReduce jobs of 8 maps of 6 s and a reduce, and two applications of Spark SQL, of Spark " + hadoop.Spark3 + " and " + hadoop.Spark4 + ", that come 6 and 8 s after the first. " +
			"Each joins a table of two million rows with one of a hundred, groups what comes of it, checks it, pauses for 6 s, and does it again. " +
			"It asks for executors as it has tasks, 3 at most, and gives them back after 2 s without.",
		conf: few(),
		jobs: []mixJob{
			{0, "mapreduce-1", mapReduce},
			{2 * time.Second, "mapreduce-2", mapReduce},
			{6 * time.Second, "spark-1", sql(hadoop.Spark3)},
			{8 * time.Second, "spark-2", sql(hadoop.Spark4)},
		},
	}
}

func mixNames() []string {
	var names []string
	for _, m := range mixes() {
		names = append(names, m.name)
	}
	return names
}

// programs are the Python programs that Spark runs.
//
//go:embed *.py
var programs embed.FS

// start starts a job of the mix.
func (m mix) start(ctx context.Context, b *hadoop.Testbed, j mixJob) (*hadoop.Run, error) {
	words := strings.Fields(j.line)
	if j.spark() {
		for i, word := range words {
			if text, err := programs.ReadFile(word); err == nil {
				words[i] = filepath.Join(b.Dir, word)
				if err := os.WriteFile(words[i], text, 0o644); err != nil {
					return nil, err
				}
			}
		}
		return b.StartSpark(ctx, words[1], words[2:]...)
	}
	var args []string
	for _, property := range m.conf {
		args = append(args, "-D"+property)
	}
	if words[0] == "sleep" {
		return b.StartSleep(ctx, append(args, words[1:]...)...)
	}
	return b.StartMR(ctx, words[0], append(args, texts+words[1], fmt.Sprintf("%s%s-%d", texts, j.name, time.Now().UnixNano()))...)
}

// texts is the HDFS folder of the inputs and outputs of jobs.
const texts = "/compare/"

// prepare writes the input of the mix's jobs if it is not there.
func (m mix) prepare(ctx context.Context, b *hadoop.Testbed) error {
	for _, j := range m.jobs {
		size, reads := strings.CutPrefix(j.line, "wordcount ")
		if !reads {
			continue
		}
		var files, mib int
		if _, err := fmt.Sscanf(size, "%dx%d", &files, &mib); err != nil {
			return fmt.Errorf("%s: want files and their MiB as 2x100, got %q", j.name, size)
		}
		if names, err := b.List(ctx, texts+size); err == nil && len(names) == files {
			continue
		}
		text := textOf(mib)
		for i := range files {
			if err := b.Put(ctx, fmt.Sprintf("%s%s/%d", texts, size, i), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// textOf returns a text of mib MiB, in lines of a hundred words.
func textOf(mib int) []byte {
	text := make([]byte, 0, mib<<20+32)
	for i := 0; len(text) < mib<<20; i++ {
		end := byte(' ')
		if i%100 == 99 {
			end = '\n'
		}
		text = append(strconv.AppendInt(append(text, "word"...), int64(i*i%997), 10), end)
	}
	return text
}

// errEndless says that a run was abandoned.
var errEndless = fmt.Errorf("not all jobs ended within %v", longest)

// once runs a mix and waits for the end of all its jobs.
func once(ctx context.Context, b *hadoop.Testbed, t turn) (mixResult, error) {
	began := time.Now()
	runs := make([]*hadoop.Run, len(t.mix.jobs))
	for i, j := range t.mix.jobs {
		if err := hadoop.Sleep(ctx, time.Until(began.Add(j.at))); err != nil {
			return mixResult{}, err
		}
		var err error
		if runs[i], err = t.mix.start(ctx, b, j); err != nil {
			return mixResult{}, err
		}
	}
	r := mixResult{Wait: map[string]float64{}, Completion: map[string]float64{}}
	var first, last int64
	for i, j := range t.mix.jobs {
		res, err := runs[i].Wait()
		if err != nil {
			return r, err
		}
		app, err := b.Ended(ctx, res.App)
		if err != nil {
			return r, err
		}
		running, err := firstTask(ctx, b, j, app.ID)
		if err != nil {
			return r, err
		}
		had, err := b.Attempts(ctx, app.ID)
		if err != nil {
			return r, err
		}
		r.Wait[j.name] = float64(running-app.Started) / 1000
		r.Completion[j.name] = app.Elapsed().Seconds()
		r.Again += len(had) - 1
		if i == 0 {
			first = app.Started
		}
		first, last = min(first, app.Started), max(last, app.Finished)
	}
	r.Makespan = float64(last-first) / 1000
	return r, nil
}

// firstTask returns when the first task of a job started, in ms since 1970.
func firstTask(ctx context.Context, b *hadoop.Testbed, j mixJob, app string) (int64, error) {
	if j.spark() {
		events, err := b.SparkEvents(app)
		if err == nil && events.Began == 0 {
			err = fmt.Errorf("%s, %s, has no tasks in its log", j.name, app)
		}
		return events.Began, err
	}
	tasks, err := b.Tasks(ctx, app)
	if err != nil {
		return 0, err
	}
	if len(tasks) == 0 {
		return 0, fmt.Errorf("%s, %s, has no tasks in its history", j.name, app)
	}
	began := tasks[0].Started
	for _, task := range tasks {
		began = min(began, task.Started)
	}
	return began, nil
}
