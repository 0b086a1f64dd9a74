package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/internal/testkit/hadoop"
)

// group is the control group that holds the NodeManagers and all containers; those of node agents are below it.
const group = "heddle-compare"

// groupDir is where it is in the hierarchy for processors of version 1.
var groupDir = filepath.Join("/sys/fs/cgroup/cpu", group)

// canConfine reports whether there can be such a group.
func canConfine() bool {
	if os.MkdirAll(groupDir, 0o755) != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(groupDir, quotaFile))
	return err == nil
}

const quotaFile = "cpu.cfs_quota_us" // in a period of 100 ms, which is what a new group has

// confine has the NodeManagers, and whatever they start, share so many processors, 0 for all that there are. Containers
// have the same in total with agents and without.
func confine(b *hadoop.Testbed, cores float64) error {
	quota := -1
	if cores > 0 {
		quota = int(cores * 100_000)
	}
	if err := os.WriteFile(filepath.Join(groupDir, quotaFile), []byte(strconv.Itoa(quota)), 0o644); err != nil {
		return err
	}
	for _, d := range b.Status() {
		if !strings.HasPrefix(d.Name, "nodemanager") {
			continue
		}
		if err := os.WriteFile(filepath.Join(groupDir, "cgroup.procs"), []byte(strconv.Itoa(d.Process)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
