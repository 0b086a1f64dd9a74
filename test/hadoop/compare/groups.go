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

// nodeDir is the group of node n in the hierarchy for processors of version 1.
func nodeDir(n int) string {
	return filepath.Join("/sys/fs/cgroup/cpu", hadoop.NodeGroup(group, n))
}

// canConfine reports whether there can be such groups.
func canConfine() bool {
	if os.MkdirAll(nodeDir(1), 0o755) != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(nodeDir(1), quotaFile))
	return err == nil
}

// confine has each NodeManager, and whatever it starts, in a group of its node with so many processors, 0 for all that
// there are. It is the same under every arm, since who is in a group has another part of busy processors than who is in
// none. All nodes together weigh as much as their vcores do.
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
		if err := errors.Join(
			os.MkdirAll(nodeDir(n), 0o755),
			put(filepath.Join(nodeDir(n), quotaFile), quota),
			put(filepath.Join(nodeDir(n), "cgroup.procs"), d.Process),
		); err != nil {
			return err
		}
	}
	vcores := b.Options().Nodes * b.Options().NodeVcores
	return put(filepath.Join(filepath.Dir(nodeDir(1)), "cpu.shares"), 1024*vcores)
}

func put(file string, value int) error { return os.WriteFile(file, []byte(strconv.Itoa(value)), 0o644) }
