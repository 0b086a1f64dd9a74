package conf

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// sound checks what must hold of every configuration that was read without error.
func sound(t *testing.T, h *Hadoop, l *log) {
	t.Helper()
	for _, e := range l.errs {
		if e.Text == "" || e.File == "" {
			t.Errorf("an error without place or text: %#v", e)
		}
	}
	if l.err() != nil {
		return
	}
	if h.Capacity != nil {
		for i, q := range h.Capacity.Queues {
			if q.Parent >= i || (q.Parent < 0) != (i == 0) || i > 0 && !strings.HasPrefix(q.Path, h.Capacity.Queues[q.Parent].Path+".") {
				t.Errorf("queue %d %q is under %d", i, q.Path, q.Parent)
			}
			if !(q.Capacity >= 0 && q.Capacity <= 1 && q.MaxCapacity >= 0 && q.MaxCapacity <= 1) || q.Absolute.AnyNegative() {
				t.Errorf("queue %q: %+v", q.Path, q)
			}
			path, _, err := h.CapacityPlacement.Place(q.Path, "u", nil)
			if leaf := h.CapacityPlacement.queues[i].leaf; leaf != (err == nil) || leaf && path != q.Path && !h.CapacityPlacement.override {
				t.Errorf("an application for %q goes to %q, %v", q.Path, path, err)
			}
		}
	}
	if h.Fair == nil {
		return
	}
	for i, q := range h.Fair.Queues {
		if q.Parent >= i || (q.Parent < 0) != (i == 0) || i > 0 && !strings.HasPrefix(q.Path, h.Fair.Queues[q.Parent].Path+".") {
			t.Errorf("queue %d %q is under %d", i, q.Path, q.Parent)
		}
		if !(q.Weight >= 0) || q.Min.Fixed.AnyNegative() || q.Max.Fixed.AnyNegative() {
			t.Errorf("queue %q: %+v", q.Path, q)
		}
	}
	path, created, err := h.FairPlacement.Place("some.queue", "u", []string{"g"})
	if err == nil && created {
		if err := h.FairPlacement.Create(path); err != nil {
			t.Errorf("%s is to be created and cannot be: %v", path, err)
		}
		if again, created, err := h.FairPlacement.Place("some.queue", "u", []string{"g"}); again != path || created || err != nil {
			t.Errorf("%s was created, and then %s %v %v", path, again, created, err)
		}
	}
}

func seed(f *testing.F, files ...string) {
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
}

func FuzzProperties(f *testing.F) {
	seed(f, "testdata/nested/capacity-scheduler.xml", "testdata/drf/yarn-site.xml", "testdata/drf/scheduler.inc.xml", "testdata/drf/mapred-site.xml")
	f.Add(cs("root.queues=a,b\nroot.a.capacity=[memory=8Gi,vcores=4]\nroot.b.capacity=3w\nqueue-mappings=u:%user:root.%user"))
	f.Fuzz(func(t *testing.T, doc string) {
		for _, name := range []string{capacityFile, yarnSite, mapredSite} {
			h, l := disk{name: doc}.load()
			sound(t, h, l)
			report(t, h, l)
		}
	})
}

func FuzzAllocations(f *testing.F) {
	seed(f, "testdata/drf/fair-scheduler.xml")
	f.Add(rules("<rule name='primaryGroup'><rule name='specified'/></rule><rule name='default'/>"))
	f.Fuzz(func(t *testing.T, doc string) {
		h, l := disk{fairFile: doc}.load()
		sound(t, h, l)
		report(t, h, l)
	})
}

func report(t *testing.T, h *Hadoop, l *log) {
	t.Helper()
	var b bytes.Buffer
	if err := (&Report{Hadoop: h, Errors: l.errs, Notices: l.notices}).WriteText(&b); err != nil {
		t.Error(err)
	}
}
