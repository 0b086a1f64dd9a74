package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/internal/testkit/hadoop"
)

const (
	group     = "heddle-compare"   // the control group that holds those of the nodes
	quotaFile = "cpu.cfs_quota_us" // of processor time in 100 ms
)

// cpuDir is where a group is in the hierarchy for processors of version 1.
func cpuDir(name string) string { return filepath.Join("/sys/fs/cgroup/cpu", name) }

// canConfine reports whether there can be such groups.
func canConfine() bool {
	if os.MkdirAll(cpuDir(group), 0o755) != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(cpuDir(group), quotaFile))
	return err == nil
}

// confine has each NodeManager, and whatever it starts, in a group of its node, and all of them share so many processors,
// 0 for all that there are. It is the same under every arm, since who is in a group has another part of busy processors
// than who is in none. All nodes together weigh as much as their vcores do.
func confine(b *hadoop.Testbed, cores float64) error {
	quota := -1
	if cores > 0 {
		quota = int(cores * 100_000)
	}
	for _, d := range b.Status() {
		n, err := strconv.Atoi(strings.TrimPrefix(d.Name, "nodemanager"))
		if err != nil {
			continue // it is another daemon
		}
		dir := cpuDir(hadoop.NodeGroup(group, n))
		if err := errors.Join(os.MkdirAll(dir, 0o755), put(filepath.Join(dir, "cgroup.procs"), d.Process)); err != nil {
			return err
		}
	}
	vcores := b.Options().Nodes * b.Options().NodeVcores
	return errors.Join(put(filepath.Join(cpuDir(group), quotaFile), quota), put(filepath.Join(cpuDir(group), "cpu.shares"), 1024*vcores))
}

func put(file string, value int) error { return os.WriteFile(file, []byte(strconv.Itoa(value)), 0o644) }
