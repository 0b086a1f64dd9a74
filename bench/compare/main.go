// Command compare measures Heddle against its peers, its floors and itself, alternating, in fresh processes with the
// same number of processors. It prints medians, ranges and the median of the paired ratios: the only figure that means
// anything on another machine or at another hour. It exits with 1 if a goal is missed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"heddle/bench/internal/measure"
)

func main() {
	rounds := flag.Int("rounds", 5, "rounds of each contest")
	load := flag.Float64("load", 0.5, "refuse to measure while the machine's load is above this")
	only := flag.String("only", "", "run only contests whose name contains this")
	flag.Parse()
	log.SetFlags(0)

	missed, err := run(*rounds, *load, *only)
	if err != nil {
		log.Fatal(err)
	}
	if missed > 0 {
		log.Fatalf("%d goals missed", missed)
	}
}

func run(rounds int, load float64, only string) (missed int, err error) {
	if rounds < 1 {
		return 0, fmt.Errorf("-rounds is %d; want at least 1", rounds)
	}
	bin, err := os.MkdirTemp("", "heddle-bench")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	if err := build(bin); err != nil {
		return 0, err
	}
	if err := waitForQuiet(load, 5*time.Minute); err != nil {
		return 0, err
	}
	scan := func() (float64, error) {
		f, err := execute(bin, side{program: "floor", args: []string{"-scan"}})
		return f["scan_ns"], err
	}
	measured := func(s side) (measure.Figures, error) { return execute(bin, s) }
	fmt.Printf("%d rounds each, one of the profiles', GOMAXPROCS %d; median (lowest to highest); ratios are medians of the rounds' own\n", rounds, runtime.NumCPU())
	for _, c := range contests {
		if !strings.Contains(c.name, only) {
			continue
		}
		if c.base.program == simgrid && !built(bin, simgrid) {
			fmt.Printf("\n%s\n  skipped: SimGrid's headers or a C++ compiler are not here (Debian: libsimgrid-dev, g++)\n", c.name)
			continue
		}
		n := rounds
		if c.once {
			n = 1
		}
		r, err := c.measure(n, scan, measured)
		if err != nil {
			return missed, fmt.Errorf("%s: %w", c.name, err)
		}
		missed += r.print(os.Stdout)
	}
	return missed, nil
}

// simgrid is the program of the peer that is built only if its library is installed.
const simgrid = "simgrid-farm"

// build compiles the programs; kube-scheduler takes minutes the first time.
func build(bin string) error {
	cmd := exec.Command("go", "build", "-o", bin, "./core", "./floor", "./peer-kube", "./sim")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	if _, err := os.Stat("/usr/include/simgrid/s4u.hpp"); err != nil {
		return nil
	}
	if _, err := exec.LookPath("g++"); err != nil {
		return nil
	}
	cmd = exec.Command("g++", "-O2", "-std=c++17", "-o", filepath.Join(bin, simgrid), "simgrid/farm.cpp", "-lsimgrid")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}

func built(bin, program string) bool {
	_, err := os.Stat(filepath.Join(bin, program))
	return err == nil
}

// waitForQuiet waits until the load average of the last minute, which includes the build's own load, is low enough.
func waitForQuiet(limit float64, patience time.Duration) error {
	for begun := time.Now(); ; time.Sleep(5 * time.Second) {
		text, err := os.ReadFile("/proc/loadavg")
		if err != nil {
			return fmt.Errorf("read the machine's load: %w", err)
		}
		first, _, _ := strings.Cut(string(text), " ")
		load, err := strconv.ParseFloat(first, 64)
		if err != nil {
			return fmt.Errorf("/proc/loadavg: %w", err)
		}
		if load <= limit {
			return nil
		}
		if time.Since(begun) > patience {
			return fmt.Errorf("the load is %.2f, above %.2f, after waiting %v: something else is running", load, limit, patience)
		}
	}
}

// execute runs a side's program in a separate process.
func execute(bin string, s side) (measure.Figures, error) {
	if s.program == "" {
		return s.fixed, nil
	}
	cmd := exec.Command(filepath.Join(bin, s.program), s.args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(runtime.NumCPU()))
	out, err := cmd.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return nil, fmt.Errorf("%s: %w", strings.Join(append([]string{s.program}, s.args...), " "), err)
	}
	return measure.Parse(out)
}
