package agent

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"heddle/node/api"
)

// What is asked for of files is in the next report, as far as it is there, and what is not asked for is not.
func TestFilesAreRead(t *testing.T) {
	const app = "application_1700000000000_0001"
	dir := t.TempDir()
	output := filepath.Join(dir, "usercache", "ann", "appcache", app, "output", "attempt_1700000000000_0001_m_000003_0")
	var index []byte
	for _, n := range []uint64{0, 1000, 300} { // where it starts, how long it was, how long it is
		index = binary.BigEndian.AppendUint64(index, n)
	}
	index = binary.BigEndian.AppendUint64(index, uint64(crc32.ChecksumIEEE(index)))
	if err := os.MkdirAll(output, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(output, "file.out.index"), index, 0o644); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s, files := newState(newTree(), log), newReader([]string{dir}, log)
	says := func(w *api.Wish) []api.Output {
		t.Helper()
		if w != nil {
			w.Version, w.Every, w.Lease = 1, 1000, 1000
			s.answer(time.Now(), w)
		}
		var r api.Sync
		files.read(&r, s.report(&r))
		if err := r.Check(); len(r.Heaps) > 0 {
			t.Errorf("%+v, %v", r.Heaps, err)
		}
		return r.Outputs
	}
	for _, w := range []*api.Wish{nil, {}, {Outputs: []api.App{{ID: app, User: "bob"}, {ID: "nonsense", User: "ann"}}}, {Heaps: []string{container(1).ID}}} {
		if got := says(w); len(got) > 0 {
			t.Errorf("asked %+v: %v", w, got)
		}
	}
	want := []api.Output{{Attempt: filepath.Base(output), Bytes: 300}}
	for range 2 {
		if got := says(&api.Wish{Outputs: []api.App{{ID: app, User: "ann"}}}); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// How busy disks are is in each report while it is asked for. Why it cannot be read is said once.
func TestDisksAreRead(t *testing.T) {
	dir, sys := t.TempDir(), t.TempDir()
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		t.Fatal(err)
	}
	device := filepath.Join(sys, "dev", "block", fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
	if err := os.MkdirAll(device, 0o755); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	s, files := newState(newTree(), log), newReader([]string{dir}, log)
	files.sys = sys
	says := func(want int64) {
		t.Helper()
		r := api.Sync{Node: "n1:8041", Agent: "a"}
		files.read(&r, s.report(&r))
		if err := r.Check(); r.DiskBusy != want || err != nil {
			t.Errorf("%d, %v; want %d", r.DiskBusy, err, want)
		}
	}
	asks := func(disks bool) {
		s.answer(time.Now(), &api.Wish{Version: 1, Every: 1000, Lease: 1000, Disks: disks})
	}
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(device, "stat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	asks(true)
	says(0) // it lies on no block device
	put("1 2 3 4 5 6 7 8 9 1234 11\n")
	says(1234)
	put("1 2 3 4 5 6 7 8 9 1300 11\n")
	says(1300)
	asks(false)
	says(0)
	if said.Len() > 0 {
		t.Error(said.String())
	}
	put("1 2 3\n")
	says(0)
	asks(true)
	says(0)
	says(0)
	if got := said.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, device+"/stat: it has 3 numbers") {
		t.Error(got)
	}
}
