package hadoop_test

import (
	"strings"
	"testing"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A job is one kind of application: how to run it, and how to check that it did what it should.
type job struct {
	name string
	run  func(t *testing.T, p place)
}

// A place is what belongs to one run of a job alone.
type place struct {
	dir     string // in HDFS
	profile string // of the ResourceManager
}

// jobTime is the time limit of one job while others run beside it.
const jobTime = 8 * time.Minute

// plain returns the jobs of MapReduce and of YARN alone.
func plain() []job {
	return []job{
		{"pi", testPi},
		{"wordcount", testWordCount},
		{"terasort", testTeraSort},
		{"grep", testGrep},
		{"sort", testSort},
		{"sleep", testSleep},
		{"shell", testShell},
	}
}

// sparks returns Spark's jobs: each example with its driver outside and inside the cluster, under each Spark version.
// In a normal run the examples take turns in these four ways.
func sparks() []job {
	var all []job
	for e, example := range []sparkJob{{"pi", sparkPi}, {"kmeans", sparkKMeans}, {"pagerank", sparkPageRank}} {
		for m, mode := range []string{"client", "cluster"} {
			for l, spark := range hadoop.Sparks() {
				if *extent != "full" && (2*m+l)%3 != e {
					continue
				}
				run := func(t *testing.T, p place) { example.run(t, p, spark, mode) }
				all = append(all, job{strings.Join([]string{"spark" + spark[:1], example.name, mode}, "-"), run})
			}
		}
	}
	for _, spark := range hadoop.Sparks() {
		all = append(all, job{"spark" + spark[:1] + "-dynamic", func(t *testing.T, p place) { testDynamic(t, p, spark) }})
	}
	return all
}

// planned returns the jobs that run under a profile, given by its number: in a normal run each job has one profile, and
// the profiles take turns, in both lists.
func planned(profile int) []job {
	var all []job
	for _, list := range [][]job{plain(), sparks()} {
		for i, j := range list {
			if *extent == "full" || i%len(profiles()) == profile {
				all = append(all, j)
			}
		}
	}
	return append(all, job{"yarn", testYarn})
}

func TestJobs(t *testing.T) {
	ctx := onTestbed(t, 2*time.Hour)
	for i, profile := range profiles() {
		t.Run(profile, func(t *testing.T) {
			use(t, ctx, profile, false, nil)
			for _, j := range planned(i) {
				t.Run(j.name, func(t *testing.T) {
					t.Parallel()
					j.run(t, place{"/test/" + profile + "/" + j.name, profile})
				})
			}
		})
	}
}
