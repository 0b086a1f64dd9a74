package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle"
	"heddle/workload"
)

// parseSize reads the size of a node: memory with its unit and vcores, such as 8192MiB,8.
func parseSize(s string) (heddle.Resource, error) {
	memory, vcores, ok := strings.Cut(s, ",")
	if !ok {
		return heddle.Resource{}, fmt.Errorf("%q: want memory and vcores, such as 8192MiB,8", s)
	}
	mib, err := parseMemory(strings.TrimSpace(memory))
	if err != nil {
		return heddle.Resource{}, err
	}
	vcores = strings.TrimSpace(vcores)
	n, err := strconv.ParseInt(vcores, 10, 64)
	if err != nil || n < 1 || n > workload.MaxVcores {
		return heddle.Resource{}, fmt.Errorf("%q vcores: want a whole number from 1 to %d", vcores, workload.MaxVcores)
	}
	return heddle.Of(mib, n*heddle.CPU.Unit()), nil
}

// parseMemory reads an amount of memory and returns it in MiB.
func parseMemory(s string) (int64, error) {
	number, per := s, 0.0
	for i, unit := range []string{"MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			number, per = strings.TrimSpace(rest), float64(int64(1)<<(10*i))
		}
	}
	if per == 0 {
		return 0, fmt.Errorf("%q memory: want a number with MiB, GiB or TiB behind it, such as 8192MiB or 8GiB", s)
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(f) {
		return 0, fmt.Errorf("%q memory: %q is not a number", s, number)
	}
	mib := f * per
	switch {
	case mib < 1 || mib > workload.MaxMemory:
		return 0, fmt.Errorf("%q memory: want 1 MiB to %d MiB", s, int64(workload.MaxMemory))
	case mib != math.Trunc(mib):
		return 0, fmt.Errorf("%q memory: want whole MiB, and it is %g", s, mib)
	}
	return int64(mib), nil
}
