package agent

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"heddle/node/api"
	"heddle/node/procs"
	"heddle/node/read"
)

// putOutput puts the output of one of ann's maps where NodeManagers keep it, with an index of these numbers.
func putOutput(t *testing.T, dir, attempt string, numbers []uint64) {
	t.Helper()
	index := make([]byte, 0, 8*len(numbers)+8)
	for _, n := range numbers {
		index = binary.BigEndian.AppendUint64(index, n)
	}
	index = binary.BigEndian.AppendUint64(index, uint64(crc32.ChecksumIEEE(index)))
	app := "application_" + strings.Join(strings.Split(attempt, "_")[1:3], "_")
	folder := filepath.Join(dir, "usercache", "ann", "appcache", app, "output", attempt)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "file.out.index"), index, 0o644); err != nil {
		t.Fatal(err)
	}
}

// soon is a deadline later than anything that a test reads.
func soon() time.Time { return time.Now().Add(time.Minute) }

// Data that is asked for is in the next report if it exists, and other data is not.
func TestFilesAreRead(t *testing.T) {
	const app = "application_1700000000000_0001"
	dir := t.TempDir()
	putOutput(t, dir, "attempt_1700000000000_0001_m_000003_0", []uint64{0, 1000, 300}) // start, raw length, and length in the file
	log := slog.New(slog.DiscardHandler)
	s, files := newState(newTree(), log), newReader([]string{dir}, log)
	says := func(w *api.Wish) []api.Output {
		t.Helper()
		if w != nil {
			w.Version, w.Every, w.Lease = 1, 1000, 1000
			s.answer(time.Now(), time.Now(), w)
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
	want := []api.Output{{Attempt: "attempt_1700000000000_0001_m_000003_0", Bytes: 300}}
	for range 2 {
		if got := says(&api.Wish{Outputs: []api.App{{ID: app, User: "ann"}}}); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// An output takes the same memory however many partitions it has.
func TestOutputsTakeUpLittle(t *testing.T) {
	const outputs, parts = 8, 1 << 17
	dir, apps := t.TempDir(), []api.App(nil)
	for i := range outputs {
		apps = append(apps, api.App{ID: fmt.Sprintf("application_1700000000000_%04d", i), User: "ann"})
		putOutput(t, dir, fmt.Sprintf("attempt_1700000000000_%04d_m_000000_0", i), make([]uint64, 3*parts))
	}
	r := newReader([]string{dir}, slog.New(slog.DiscardHandler))
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	list, err := r.outputs(apps, soon())
	if len(list) != outputs || err != nil {
		t.Fatal(len(list), err)
	}
	if after := live(); after > before+outputs*parts { // one byte for each partition, an eighth of a number
		t.Errorf("%d KiB are kept of %d outputs", (after-before)>>10, outputs)
	}
	runtime.KeepAlive(r)
}

// An application with very many outputs, or one that takes all the time, does not keep those of another from being read.
func TestOutputsAreShared(t *testing.T) {
	const greedy, modest = "application_1700000000000_0001", "application_1700000000000_0002"
	dir := t.TempDir()
	for i := range 6 {
		putOutput(t, dir, fmt.Sprintf("attempt_1700000000000_0001_m_%06d_0", i), make([]uint64, 3))
	}
	putOutput(t, dir, "attempt_1700000000000_0002_m_000000_0", make([]uint64, 3))
	for _, c := range []struct {
		apps []string
		want int
	}{{[]string{greedy, modest}, 3}, {[]string{modest, greedy}, 4}, {[]string{greedy}, 4}} {
		r := newReader([]string{dir}, slog.New(slog.DiscardHandler))
		r.most = 4
		var of []api.App
		for _, id := range c.apps {
			of = append(of, api.App{ID: id, User: "ann"})
		}
		list, err := r.outputs(of, soon())
		reads := slices.ContainsFunc(list, func(o api.Output) bool { return o.Attempt == "attempt_1700000000000_0002_m_000000_0" })
		if len(list) != c.want || reads != slices.Contains(c.apps, modest) || err != nil {
			t.Errorf("%v: %v, %v; want %d", c.apps, list, err, c.want)
		}
	}
	r := newReader([]string{dir}, slog.New(slog.DiscardHandler))
	if list, err := r.outputs([]api.App{{ID: greedy, User: "ann"}}, time.Now().Add(-time.Second)); len(list) > 0 || err == nil || !strings.Contains(err.Error(), "too many outputs to read in the time available") {
		t.Error(list, err)
	}
	end := soon()
	if left := time.Until(part(end, 3)); left > 20*time.Second || left < 19*time.Second {
		t.Errorf("the first of three has %v of a minute", left)
	}
}

// Outputs that do not fit into a report are in the next ones, each once before any is repeated.
func TestOutputsOfManyReports(t *testing.T) {
	const outputs, most = 48, 8
	dir := t.TempDir()
	var of []api.App
	for app := range 2 {
		of = append(of, api.App{ID: fmt.Sprintf("application_1700000000000_%04d", app), User: "ann"})
		for i := range outputs {
			putOutput(t, dir, fmt.Sprintf("attempt_1700000000000_%04d_m_%06d_0", app, i), make([]uint64, 3))
		}
	}
	r := newReader([]string{dir}, slog.New(slog.DiscardHandler))
	r.most = most
	for round := range 2 {
		said := map[string]bool{}
		for n := range 2 * outputs / most {
			list, err := r.outputs(of, soon())
			if len(list) > most || err != nil {
				t.Fatalf("round %d, report %d: %d outputs, %v", round, n, len(list), err)
			}
			for _, o := range list {
				if said[o.Attempt] {
					t.Errorf("round %d, report %d: %s again", round, n, o.Attempt)
				}
				said[o.Attempt] = true
			}
		}
		if len(said) != 2*outputs {
			t.Errorf("round %d: %d outputs of %d", round, len(said), 2*outputs)
		}
	}
}

// In a container with many processes, only those with the most memory are looked at, in limited time.
func TestHeapsOfManyProcesses(t *testing.T) {
	c := exec.Command("sh", "-c", fmt.Sprintf("for i in $(seq %d); do sleep 60 & done; x=$(head -c 8000000 /dev/zero | tr '\\0' x); echo; wait", mostProcs+4))
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait() // it was killed
	}()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	pids, rss, err := largest(c.Process.Pid, soon())
	if err != nil || len(pids) != mostProcs || pids[0] != c.Process.Pid || rss < 8_000_000 {
		t.Errorf("%v, %d bytes, %v; want %d processes, with %d before all", pids, rss, err, mostProcs, c.Process.Pid)
	}
	of := procs.Container{ID: container(1).ID, PID: c.Process.Pid}
	if h, ok, err := heap(read.NewHeaps(), of, soon()); ok || err != nil {
		t.Errorf("of no Java process: %+v, %v", h, err)
	}
	if _, ok, err := heap(read.NewHeaps(), of, time.Now().Add(-time.Second)); ok || err == nil || !strings.Contains(err.Error(), "reading the heap of "+of.ID+": ") {
		t.Error(ok, err)
	}
}

// Each report says how busy disks are while that is asked for. The reason why it cannot be read is logged once.
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
		s.answer(time.Now(), time.Now(), &api.Wish{Version: 1, Every: 1000, Lease: 1000, Disks: disks})
	}
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(device, "stat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	asks(true)
	says(0) // it is on no block device
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
