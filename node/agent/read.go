package agent

import (
	"errors"
	"io/fs"
	"log/slog"
	"slices"

	"heddle/node/api"
	"heddle/node/procs"
	"heddle/node/read"
	"heddle/yarn/ids"
)

// An asked is what is asked for of files. They lie on disks that may hang: nothing that has to be in time waits for them.
type asked struct {
	outputs []api.App
	heaps   []procs.Container
	disks   bool
}

// asked is what the wish asks for of files.
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
	unread string // why some files could not be read
}

func newReader(dirs []string, log *slog.Logger) *reader {
	return &reader{log: log, dirs: dirs, sys: "/sys"}
}

// outputs are those of applications that lie here. What could not be read is in the error.
func (r *reader) outputs(of []api.App) (list []api.Output, err error) {
	before := r.apps
	r.apps = make(map[string]*read.App, len(of))
	for _, want := range of {
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
		outputs, bad := a.Outputs()
		err = errors.Join(err, bad)
		for _, o := range outputs {
			if len(list) == api.MaxOutputs {
				return list, err
			}
			list = append(list, api.Output{Attempt: o.Attempt, Bytes: o.Bytes})
		}
	}
	return list, err
}

// heap is what the Java process of a container holds, of the largest one where there are several; not ok where none says so.
func heap(c procs.Container) (h api.Heap, ok bool, err error) {
	session, err := procs.Session(c.PID)
	for _, pid := range session {
		said, bad := read.HeapOf(pid)
		if bad != nil {
			if !errors.Is(bad, fs.ErrNotExist) {
				err = errors.Join(err, bad)
			}
			continue
		}
		if used := said.Used >> 20; !ok || used > h.Used {
			h, ok = api.Heap{ID: c.ID, Live: said.Live >> 20, Used: used}, true
		}
	}
	if ok {
		h.RSS = procs.Measure(session).RSS >> 20
	}
	return h, ok, err
}

// read adds what is asked for to a report.
func (r *reader) read(into *api.Sync, a asked) {
	var err error
	into.Outputs, err = r.outputs(a.outputs)
	for _, c := range a.heaps {
		h, ok, bad := heap(c)
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
		r.log.Warn("some files of containers or disks cannot be read; this is said once", "error", err)
	}
	r.unread = text
}
