package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"heddle/node/api"
	"heddle/node/procs"
	"heddle/node/read"
	"heddle/yarn/ids"
)

// Bounds on reading for one report. Users choose how many files and processes there are, and the ResourceManager hears
// nothing meanwhile: all of it must finish long before a lease ends.
const (
	outputsTime = 3 * time.Second // for all map outputs
	heapsTime   = 3 * time.Second // for all heaps
	mostProcs   = 16              // processes of a container whose heaps are looked for: those with the most memory
)

// part returns the deadline of the first of so many remaining items: each gets an even part of the time, and what it
// does not use goes to those after it.
func part(end time.Time, left int) time.Time {
	now := time.Now()
	return now.Add(end.Sub(now) / time.Duration(left))
}

// An asked is the data from files that is asked for. The disks may hang, so nothing urgent waits for these reads.
type asked struct {
	outputs []api.App
	heaps   []procs.Container
	disks   bool
}

// asked returns which data from files the wish asks for.
func (s *state) asked() (a asked) {
	if s.wish == nil {
		return a
	}
	a.outputs, a.disks = s.wish.Outputs, s.wish.Disks
	for _, id := range s.wish.Heaps {
		if h := s.held[id]; h != nil && !h.gone && !slices.ContainsFunc(a.heaps, func(c procs.Container) bool { return c.ID == id }) {
			a.heaps = append(a.heaps, h.Container)
		}
	}
	return a
}

// A reader reads the files that are asked for.
type reader struct {
	log    *slog.Logger
	dirs   []string // of the NodeManager
	sys    string   // where sysfs is
	apps   map[string]*read.App
	most   int    // outputs in one report
	unread string // why some files could not be read
}

func newReader(dirs []string, log *slog.Logger) *reader {
	return &reader{log: log, dirs: dirs, sys: "/sys", most: api.MaxOutputs}
}

// outputs returns the map outputs of these applications on this node, reading until a deadline. Each application gets
// an even part of the time and of the maximum number, so that none keeps the others from being read. If it has more
// than that, the next report has those after them. The error says what could not be read.
func (r *reader) outputs(of []api.App, until time.Time) (list []api.Output, err error) {
	before := r.apps
	r.apps = make(map[string]*read.App, len(of))
	for i, want := range of {
		id, bad := ids.ParseApp(want.ID)
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		a := before[want.ID]
		if a == nil {
			a = read.NewApp(r.dirs, want.User, id)
		}
		r.apps[want.ID] = a
		left := len(of) - i
		outputs, bad := a.Outputs((r.most-len(list))/left, part(until, left))
		err = errors.Join(err, bad)
		for _, o := range outputs {
			list = append(list, api.Output{Attempt: o.Attempt, Bytes: o.Bytes})
		}
	}
	return list, err
}

// heap returns the heap of a container's Java process, the largest if there are several; ok is false if no process
// reports one. It looks at the processes with the most memory, until a deadline.
func heap(in *read.Heaps, c procs.Container, until time.Time) (h api.Heap, ok bool, err error) {
	pids, rss, err := largest(c.PID, until)
	if err != nil {
		return h, false, fmt.Errorf("reading the heap of %s: %w", c.ID, err)
	}
	for _, pid := range pids {
		said, bad := in.Of(pid, until)
		if bad != nil {
			if !errors.Is(bad, fs.ErrNotExist) {
				err = errors.Join(err, bad)
			}
			continue
		}
		if used := said.Used >> 20; !ok || used > h.Used {
			h, ok = api.Heap{ID: c.ID, Live: said.Live >> 20, Used: used, RSS: rss >> 20}, true
		}
	}
	return h, ok, err
}

// largest returns the processes of a session that hold the most memory, largest first, and the bytes that all its
// processes hold.
func largest(leader int, until time.Time) (pids []int, rss int64, err error) {
	if time.Now().After(until) {
		return nil, 0, errNoTime
	}
	if pids, err = procs.Session(leader); err != nil {
		return nil, 0, err
	}
	holds := make(map[int]int64, len(pids))
	for _, pid := range pids {
		if time.Now().After(until) {
			return nil, 0, errNoTime
		}
		holds[pid] = procs.Measure([]int{pid}).RSS
		rss += holds[pid]
	}
	slices.SortFunc(pids, func(x, y int) int { return cmp.Compare(holds[y], holds[x]) })
	return pids[:min(len(pids), mostProcs)], rss, nil
}

var errNoTime = errors.New("there are too many processes to read in the time available")

// read adds to a report the data that is asked for.
func (r *reader) read(into *api.Sync, a asked) {
	var err error
	into.Outputs, err = r.outputs(a.outputs, time.Now().Add(outputsTime))
	heaps, end := read.NewHeaps(), time.Now().Add(heapsTime)
	for i, c := range a.heaps {
		h, ok, bad := heap(heaps, c, part(end, len(a.heaps)-i))
		if ok {
			into.Heaps = append(into.Heaps, h)
		}
		err = errors.Join(err, bad)
	}
	if a.disks {
		busy, bad := read.DiskBusy(r.sys, r.dirs)
		into.DiskBusy = busy.Milliseconds()
		err = errors.Join(err, bad)
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != r.unread && text != "" {
		r.log.Warn("some files of containers or disks cannot be read; this is logged once", "error", err)
	}
	r.unread = text
}
