package agent

import (
	"errors"
	"io/fs"
	"slices"

	"heddle/node/api"
	"heddle/node/procs"
	"heddle/node/read"
	"heddle/yarn/ids"
)

// A reader reads the files that are asked for.
type reader struct {
	dirs []string // of the NodeManager
	sys  string   // where sysfs is
	apps map[string]*read.App
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
	session := procs.Session(c.PID)
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

// asked adds what is asked for of files.
func (s *state) asked(into *api.Sync) {
	if s.wish == nil {
		return
	}
	var err, bad error
	into.Outputs, err = s.files.outputs(s.wish.Outputs)
	for _, id := range s.wish.Heaps {
		held := s.held[id]
		if held == nil || held.gone || slices.ContainsFunc(into.Heaps, func(h api.Heap) bool { return h.ID == id }) {
			continue
		}
		h, ok, wrong := heap(held.Container)
		if ok {
			into.Heaps = append(into.Heaps, h)
		}
		bad = errors.Join(bad, wrong)
	}
	if s.wish.Disks {
		busy, wrong := read.DiskBusy(s.files.sys, s.files.dirs)
		into.DiskBusy = busy.Milliseconds()
		bad = errors.Join(bad, wrong)
	}
	text := ""
	if err = errors.Join(err, bad); err != nil {
		text = err.Error()
	}
	if text != s.unread && text != "" {
		s.log.Warn("some files of containers or disks cannot be read; this is said once", "error", err)
	}
	s.unread = text
}
