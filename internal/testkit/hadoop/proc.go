package hadoop

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A pid identifies a process while the machine is up: process numbers are reused, but not together with the same start
// time.
type pid struct {
	N     int
	Start string // clock ticks since the machine started, as in /proc
}

// pidOf returns the pid of the process that has a number now, and false if there is none or only a zombie.
func pidOf(n int) (pid, bool) {
	fields, ok := statFields(n)
	if !ok || fields[0] == "Z" {
		return pid{}, false
	}
	return pid{n, fields[19]}, true
}

// statFields returns the fields after a process's name, which may contain spaces; the first is the state.
func statFields(n int) ([]string, bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(n), "stat"))
	if err != nil {
		return nil, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	return fields, len(fields) > 19
}

func (p pid) alive() bool {
	now, ok := pidOf(p.N)
	return ok && now == p
}

// signalGroup sends a signal to the process's group, if the process is still the same.
func (p pid) signalGroup(sig syscall.Signal) {
	if p.alive() {
		_ = syscall.Kill(-p.N, sig) // it may have ended between the two
	}
}

// processesIn returns the processes whose working folder is dir or below it. Containers run in folders below their
// NodeManager's, so this finds them when their NodeManager is gone and cannot be asked.
func processesIn(dir string) []pid {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []pid
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil || n == os.Getpid() {
			continue
		}
		cwd, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if err != nil {
			continue
		}
		cwd = strings.TrimSuffix(cwd, " (deleted)")
		if p, ok := pidOf(n); ok && (cwd == dir || strings.HasPrefix(cwd, dir+"/")) {
			found = append(found, p)
		}
	}
	return found
}

// killIn ends the processes whose working folder is below dir.
func killIn(dir string) {
	for _, p := range processesIn(dir) {
		_ = syscall.Kill(p.N, syscall.SIGKILL) // it may have ended by itself
	}
}

// Resident returns the memory of a process that is in RAM, in bytes, or 0 if the process is gone.
func Resident(process int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// ticks is the number of ticks per second in which processor time is counted (USER_HZ, which is 100 on Linux
// everywhere).
const ticks = 100

// cpu returns the processor time that a process has used, or 0 if it is gone.
func (p pid) cpu() time.Duration {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.N), "stat"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // after its name
	var user, system int64
	if fields := strings.Fields(rest); len(fields) > 12 {
		user, _ = strconv.ParseInt(fields[11], 10, 64)
		system, _ = strconv.ParseInt(fields[12], 10, 64)
	}
	return time.Duration(user+system) * time.Second / ticks
}
