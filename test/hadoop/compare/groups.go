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
	group     = "heddle-compare"   // the control group that contains those of the nodes
	quotaFile = "cpu.cfs_quota_us" // microseconds of processor time per 100 ms
)

// cpuDir returns the folder of a group in the version 1 hierarchy for processors.
func cpuDir(name string) string { return filepath.Join("/sys/fs/cgroup/cpu", name) }

// canConfine reports whether such groups can be created.
func canConfine() bool {
	if os.MkdirAll(cpuDir(group), 0o755) != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(cpuDir(group), quotaFile))
	return err == nil
}

// confine puts each NodeManager, and whatever it starts, in a group of its node. All nodes share that many processors,
// 0 for all there are. It is the same under every arm, since a process in a group gets a different part of busy
// processors than one in no group. All nodes together have as much weight as their vcores.
func confine(b *hadoop.Testbed, cores float64) error {
	quota := -1
	if cores > 0 {
		quota = int(cores * 100_000)
	}
	for _, d := range b.Status() {
		n, err := strconv.Atoi(strings.TrimPrefix(d.Name, "nodemanager"))
		if err != nil {
			continue // another daemon
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
