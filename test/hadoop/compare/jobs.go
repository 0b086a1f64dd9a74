package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"heddle/internal/testkit/hadoop"
)

// settle is how long a ResourceManager is idle before its memory is measured.
const settle = 10 * time.Second

// A job is started with the number of times that a similar job ran before, so that it can name its own output.
type job struct {
	name  string
	start func(ctx context.Context, b *hadoop.Testbed, n int) (*hadoop.Run, error)
}

func jobs(pi string) []job {
	return []job{
		{"MapReduce pi, 4 maps", func(ctx context.Context, b *hadoop.Testbed, _ int) (*hadoop.Run, error) {
			return b.StartMR(ctx, "pi", "4", "1000")
		}},
		{"Spark pi, driver outside", func(ctx context.Context, b *hadoop.Testbed, _ int) (*hadoop.Run, error) {
			return b.StartSpark(ctx, hadoop.Spark3, pi, "4")
		}},
		{"Spark pi, driver in the cluster", func(ctx context.Context, b *hadoop.Testbed, _ int) (*hadoop.Run, error) {
			return b.StartSpark(ctx, hadoop.Spark3, "--deploy-mode", "cluster", pi, "4")
		}},
		{"MapReduce wordcount, 16 maps, 4 reduces", func(ctx context.Context, b *hadoop.Testbed, n int) (*hadoop.Run, error) {
			return b.StartMR(ctx, "wordcount", "-Dmapreduce.job.reduces=4", wordsIn, "/out/"+strconv.Itoa(n))
		}},
	}
}

// wordsIn contains the text to count: 16 files of 2 MB.
const wordsIn = "/words"

func putWords(ctx context.Context, b *hadoop.Testbed) error {
	for f := range 16 {
		random := rand.New(rand.NewPCG(uint64(f), 0))
		var text bytes.Buffer
		for text.Len() < 2<<20 {
			fmt.Fprintf(&text, "word%d\n", int(random.ExpFloat64()*5000))
		}
		if err := b.Put(ctx, fmt.Sprintf("%s/%02d", wordsIn, f), text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// A series is the measurements of one thing on one ResourceManager.
type series map[string][]float64

// sideBySide runs everything on both ResourceManagers in turns; the one that begins changes with each round.
func sideBySide(ctx context.Context, b *hadoop.Testbed, s settings, out io.Writer) error {
	pi, err := b.SparkExample(hadoop.Spark3, "pi.py")
	if err != nil {
		return err
	}
	if err := putWords(ctx, b); err != nil {
		return err
	}
	measured := map[string]series{hadoop.Stock: {}, hadoop.Heddle: {}}
	number := 0
	for round := range s.runs {
		order := []string{hadoop.Stock, hadoop.Heddle}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, rm := range order {
			first, err := b.UseRM(ctx, hadoop.Options{RM: rm, Profile: "capacity", Binary: b.Options().Binary})
			if err != nil {
				return err
			}
			m := measured[rm]
			m[started] = append(m[started], first.Seconds())
			if err := hadoop.Sleep(ctx, settle); err != nil {
				return err
			}
			resident, err := b.ResidentRM()
			if err != nil {
				return err
			}
			m[idle] = append(m[idle], float64(resident)/(1<<20))
			for _, j := range jobs(pi) {
				number++
				app, err := runJob(ctx, b, j, number)
				if err != nil {
					return fmt.Errorf("%s on %s: %w", j.name, rm, err)
				}
				m[j.name] = append(m[j.name], app.Elapsed().Seconds())
				s.log.Info("ran", "round", round+1, "rm", rm, "job", j.name, "seconds", app.Elapsed().Seconds())
			}
		}
	}
	names := []string{started, idle}
	for _, j := range jobs(pi) {
		names = append(names, j.name)
	}
	return writeJobs(out, s.runs, names, measured)
}

const (
	started = "start to first REST answer"
	idle    = "memory when idle, MiB"
)

func runJob(ctx context.Context, b *hadoop.Testbed, j job, number int) (hadoop.App, error) {
	res, err := hadoop.Finish(j.start(ctx, b, number))
	if err != nil {
		return hadoop.App{}, err
	}
	return b.Ended(ctx, res.App)
}
