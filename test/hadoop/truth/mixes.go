package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A mix is a set of jobs that arrive at given times.
type mix struct {
	name  string
	about string
	jobs  []mixJob
}

func (m mix) label() string { return m.name }

// A mixJob is a job of a mix. Its line begins with sleep, or with spark or spark-cluster, followed by its options and
// the file of one of Spark's Python examples, or is a MapReduce example. OUT stands for a folder of its own.
type mixJob struct {
	at   time.Duration
	name string // large-…, small-… or spark-…
	line string
}

// small reports whether a job is one of the mix's small ones.
func small(name string) bool { return strings.HasPrefix(name, "small") }

// isSpark reports whether a job is a Spark job.
func isSpark(name string) bool { return strings.HasPrefix(name, "spark") }

func mixes() []mix {
	const long, short = "sleep -m 16 -r 1 -mt 8000 -rt 2000", "sleep -m 2 -r 1 -mt 3000 -rt 1000"
	return []mix{
		{"waves", "Sleeping tasks in waves: two jobs of 16 maps of 8 s, and three small ones of 2 maps of 3 s behind them.", []mixJob{
			{0, "large-1", long},
			{2 * time.Second, "large-2", long},
			{10 * time.Second, "small-1", short},
			{14 * time.Second, "small-2", short},
			{26 * time.Second, "small-3", short},
		}},
		{"words", "Real data with skew: two jobs count the words of 12 files of 1 to 14 MB, three small ones those of 2 files.", []mixJob{
			{0, "large-1", "wordcount -Dmapreduce.job.reduces=3 " + largeText + " OUT"},
			{2 * time.Second, "large-2", "wordcount -Dmapreduce.job.reduces=3 " + largeText + " OUT"},
			{10 * time.Second, "small-1", "wordcount " + smallText + " OUT"},
			{14 * time.Second, "small-2", "wordmean " + smallText + " OUT"},
			{26 * time.Second, "small-3", "wordcount " + smallText + " OUT"},
		}},
		{"spark", "Spark beside MapReduce: a sleeping job of 16 maps and a word count, two Spark applications with their drivers outside and inside the cluster, two small jobs.", []mixJob{
			{0, "large-1", long},
			{2 * time.Second, "spark-1", "spark wordcount.py " + largeText},
			{6 * time.Second, "spark-2", "spark-cluster wordcount.py " + largeText},
			{8 * time.Second, "large-2", "wordcount -Dmapreduce.job.reduces=3 " + largeText + " OUT"},
			{16 * time.Second, "small-1", short},
			{22 * time.Second, "small-2", "wordcount " + smallText + " OUT"},
		}},
		{"glance", "A quick look: a sleeping job of 6 maps of 3 s, and a small one.", []mixJob{
			{0, "large-1", "sleep -m 6 -r 1 -mt 3000 -rt 1000"},
			{4 * time.Second, "small-1", "sleep -m 2 -r 1 -mt 1000 -rt 1000"},
		}},
	}
}

// The text to count.
const largeText, smallText = "/text/large", "/text/small"

// putText writes the text: files that grow evenly from 1 MB to 14 MB, with words in Zipf's distribution.
func putText(ctx context.Context, b *hadoop.Testbed) error {
	const large, small, most = 12, 2, 14 << 20
	for f := range large + small {
		dir, size := largeText, 1<<20+(most-1<<20)*f/(large-1)
		if f >= large {
			dir, size = smallText, (1+2*(f-large))<<20
		}
		random := rand.New(rand.NewPCG(uint64(f), 0))
		var text bytes.Buffer
		for n := 1; text.Len() < size; n++ {
			fmt.Fprintf(&text, "word%d ", int(math.Exp(random.Float64()*math.Log(vocabulary))))
			if n%12 == 0 {
				text.WriteByte('\n')
			}
		}
		if err := b.Put(ctx, fmt.Sprintf("%s/%02d", dir, f), text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// vocabulary is the number of different words.
const vocabulary = 50_000

// start starts a job; folder is where it may write.
func (j mixJob) start(ctx context.Context, b *hadoop.Testbed, folder string) (*hadoop.Run, error) {
	words := strings.Fields(strings.ReplaceAll(j.line, "OUT", folder))
	switch words[0] {
	case "sleep":
		return b.StartSleep(ctx, words[1:]...)
	case "spark", "spark-cluster":
		at := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, ".py") })
		file, err := b.SparkExample(hadoop.Spark3, words[at])
		if err != nil {
			return nil, err
		}
		mode := "client"
		if words[0] == "spark-cluster" {
			mode = "cluster"
		}
		words[at] = file
		return b.StartSpark(ctx, hadoop.Spark3, append([]string{"--deploy-mode", mode}, words[1:]...)...)
	}
	return b.StartMR(ctx, words[0], words[1:]...)
}

// An arm is a ResourceManager with a scheduler.
type arm struct {
	name, rm, profile string
}

func (a arm) label() string { return a.name }

func arms() []arm {
	return []arm{
		{"stock-capacity", hadoop.Stock, "capacity"},
		{"stock-fair", hadoop.Stock, "fair"},
		{"heddle-capacity", hadoop.Heddle, "capacity"},
		{"heddle-fair", hadoop.Heddle, "fair"},
		{"heddle-heddle", hadoop.Heddle, "heddle"},
	}
}

// options returns the options of the testbed's ResourceManager.
func (a arm) options(binary string) hadoop.Options {
	o := hadoop.Options{RM: a.rm, Profile: a.profile, Binary: binary}
	if a.profile == "fair" { // it would grant memory in steps of 1024 MiB
		o.Site = map[string]string{"yarn.resource-types.memory-mb.increment-allocation": "256"}
	}
	return o
}
