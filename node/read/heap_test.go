package read

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRecordedHeaps compares recorded files with what jcmd PerfCounter.print said of the same processes.
func TestRecordedHeaps(t *testing.T) {
	for name, want := range map[string]Heap{
		"g1": {
			52442272, 103809056, 134217752, 43005088,
			Collections{13, 22893090},
			Collections{1, 7971044},
			Collections{8, 1461524},
		},
		"serial": {32028568, 67174400, 128 << 20, 21431400, Collections{18, 193300744}, Collections{1, 734768}, Collections{}},
		"parallel": {
			32900128, 89653248, 128 << 20, 21431232,
			Collections{10, 214309597},
			Collections{1, 4887037},
			Collections{},
		},
		"shenandoah": {26276256, 64 << 20, 128 << 20, 26276256, Collections{}, Collections{106, 263464824}, Collections{}},
		"z":          {44040192, 128 << 20, 128 << 20, 44040192, Collections{}, Collections{}, Collections{66, 371562}},
	} {
		if got, err := ParsePerf(fixture(t, name+".hsperfdata")); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
}

// An entry is a number or a text.
type entry struct {
	name   string
	number int64
	text   string
}

// file builds an hsperfdata file with these entries.
func file(order binary.AppendByteOrder, list ...entry) []byte {
	b := []byte{0xca, 0xfe, 0xc0, 0xc0, 0, perfMajor, 0, 1}
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		b[4] = 1
	}
	for _, n := range []uint32{0, 0, 0, 0, perfHead, uint32(len(list))} {
		b = order.AppendUint32(b, n)
	}
	for _, e := range list {
		name := e.name + strings.Repeat("\x00", 8-len(e.name)%8)
		value, kind, length := order.AppendUint64(nil, uint64(e.number)), byte('J'), 0
		if e.text != "" {
			value, kind, length = append([]byte(e.text), 0, 0), 'B', len(e.text)+2
		}
		for _, n := range []int{entryHead + len(name) + len(value), entryHead, length} {
			b = order.AppendUint32(b, uint32(n))
		}
		b = append(b, kind, 0, 0, 0)
		b = order.AppendUint32(b, uint32(entryHead+len(name)))
		b = append(append(b, name...), value...)
	}
	return b
}

const used = "sun.gc.generation.1.space.0.used"

func TestParsePerf(t *testing.T) {
	whole := func() []byte { return file(binary.BigEndian, entry{name: used, number: 7}) }
	changed := func(at int, to ...byte) []byte {
		b := whole()
		copy(b[at:], to)
		return b
	}
	ticks := func(count, frequency int64) []byte {
		return file(binary.BigEndian, entry{name: used}, entry{name: "sun.gc.collector.0.time", number: count},
			entry{name: "sun.os.hrt.frequency", number: frequency})
	}
	for name, tt := range map[string]struct {
		data []byte
		want string // of the error
	}{
		"whole":                {whole(), ""},
		"nothing":              {nil, "does not begin with 0xcafec0c0"},
		"another file":         {changed(0, 1), "does not begin with 0xcafec0c0"},
		"another version":      {changed(5, 1), "has version 1; want 2"},
		"not yet":              {changed(7, 0), "not filled the file yet"},
		"entries in the head":  {changed(24, 0, 0, 0, 4), "begins at byte 4"},
		"entries that are not": {changed(28, 0, 0, 1, 0), "entry 1 of 256 begins at byte"},
		"an entry of nothing":  {changed(32, 0, 0, 0, 0), "has 0 bytes"},
		"an entry too long":    {changed(32, 0xff, 0xff, 0xff, 0xff), "has 4294967295 bytes"},
		"a name outside":       {changed(36, 0, 0, 1, 0), "name at byte 256"},
		"a value outside":      {changed(48, 0xff, 0, 0, 0), "value at byte 4278190080"},
		"no heap":              {file(binary.BigEndian, entry{name: "sun.rt", number: 1}), "no sun.gc.generation"},
		"below nothing":        {file(binary.BigEndian, entry{name: used, number: -1}), used + `" is -1`},
		"too large":            {file(binary.BigEndian, entry{used, maxSize, ""}, entry{used, 1, ""}), "want 0 to"},
		"no clock":             {ticks(5, 0), "frequency is 0"},
		"a slow clock":         {ticks(math.MaxInt64, 1), "second are too long"},
		"a clock":              {ticks(math.MaxInt64, math.MaxInt64), ""},
		"long ago":             {ticks(math.MaxInt64, 700_000_000), "second are too long"},
	} {
		h, err := ParsePerf(tt.data)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

// heapEntries are those of a heap whose generations each have a maximum.
var heapEntries = []entry{
	{"sun.gc.policy.name", 0, "Copy:MSC"},
	{"sun.os.hrt.frequency", 1000, ""},
	{"sun.gc.generation.0.maxCapacity", 10, ""},
	{"sun.gc.generation.1.maxCapacity", 20, ""},
	{used, 7, ""},
	{"sun.gc.collector.1.invocations", 3, ""},
	{"sun.gc.collector.1.time", 1500, ""},
	{"sun.gc.collector.9.time", 1, ""},
}

func TestByteOrders(t *testing.T) {
	want := Heap{Used: 7, Max: 30, Live: 7, Full: Collections{3, 1500 * time.Millisecond}}
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		if got, err := ParsePerf(file(order, heapEntries...)); err != nil || got != want {
			t.Errorf("%v: %+v, %v; want %+v", order, got, err, want)
		}
	}
}

// The largest accepted heap is the largest that a report can hold: 1<<31-1 MiB.
func TestLargestHeap(t *testing.T) {
	h, err := ParsePerf(file(binary.LittleEndian, entry{"sun.gc.generation.0.space.0.used", maxSize, ""}, entry{used, maxSize, ""}))
	if err != nil || h.Used != 2*maxSize || h.Used>>20 > math.MaxInt32 {
		t.Errorf("%d MiB, %v", h.Used>>20, err)
	}
}

// heapsIn returns a Heaps for processes in a folder, which has read nothing yet.
func heapsIn(proc string) *Heaps {
	h := NewHeaps()
	h.proc = proc
	return h
}

// TestContainer has a process whose own number and user name differ from those outside.
func TestContainer(t *testing.T) {
	proc := t.TempDir()
	status := fmt.Sprintf("Name:\tjava\nUid:\t0\t%d\t0\t0\nNSpid:\t4711\t1\n", os.Geteuid())
	put(t, []byte(status), proc, "4711", "status")
	put(t, nil, proc, "4711", "root", "tmp", "other", "1")
	put(t, nil, proc, "4711", "root", "tmp", "hsperfdata_bob", "2")
	h, err := heapsIn(proc).Of(4711, soon())
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "hsperfdata_*/1 of user") {
		t.Error(h, err)
	}
	file := put(t, fixture(t, "g1.hsperfdata"), proc, "4711", "root", "tmp", "hsperfdata_ann", "1")
	if h, err = heapsIn(proc).Of(4711, soon()); err != nil || h.Used != 52442272 {
		t.Error(h, err)
	}
	put(t, []byte("torn"), file)
	h, err = heapsIn(proc).Of(4711, soon())
	if err == nil || !strings.Contains(err.Error(), "hsperfdata_ann/1: hsperfdata: the file does not begin") {
		t.Error(h, err)
	}
	for text, want := range map[string]string{
		"": "no line Uid:", "Uid:\t1\tx\t1\t1": "invalid syntax", status + "NSpid:\tx": "invalid syntax",
	} {
		put(t, []byte(text), proc, "4711", "status")
		if h, err := heapsIn(proc).Of(4711, soon()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, h, err)
		}
	}
	put(t, fmt.Appendf(nil, "Uid:\t0\t%d\t0\t0\nNSpid:\t4711\t1\n", os.Geteuid()+1), proc, "4711", "status")
	if h, err := heapsIn(proc).Of(4711, soon()); !errors.Is(err, fs.ErrNotExist) {
		t.Error("another user's: ", h, err)
	}
	if h, err := heapsIn(proc).Of(5, soon()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(h, err)
	}
}

// TestTmpIsListedOnce has two processes with one /tmp, where names created later are not found.
func TestTmpIsListedOnce(t *testing.T) {
	proc := t.TempDir()
	for _, pid := range []string{"1", "2"} {
		put(t, fmt.Appendf(nil, "Uid:\t0\t%d\t0\t0\n", os.Geteuid()), proc, pid, "status")
	}
	put(t, fixture(t, "g1.hsperfdata"), proc, "1", "root", "tmp", "hsperfdata_ann", "1")
	if err := os.Symlink("../1/root", filepath.Join(proc, "2", "root")); err != nil {
		t.Fatal(err)
	}
	h := heapsIn(proc)
	if _, err := h.Of(1, soon()); err != nil || len(h.tmps) != 1 {
		t.Error(len(h.tmps), err)
	}
	put(t, fixture(t, "g1.hsperfdata"), proc, "1", "root", "tmp", "hsperfdata_bob", "2")
	if got, err := h.Of(2, soon()); !errors.Is(err, fs.ErrNotExist) || len(h.tmps) != 1 {
		t.Error(got, len(h.tmps), err)
	}
	put(t, fixture(t, "g1.hsperfdata"), proc, "1", "root", "tmp", "hsperfdata_ann", "2")
	if _, err := h.Of(2, soon()); err != nil {
		t.Error(err)
	}
}

// TestHostileTmp has what users can put into /tmp: it takes no more than its share of time and memory, and none of it is
// taken for a Java process's file.
func TestHostileTmp(t *testing.T) {
	proc, outside := t.TempDir(), t.TempDir()
	put(t, fmt.Appendf(nil, "Uid:\t0\t%d\t0\t0\n", os.Geteuid()), proc, "1", "status")
	tmp := filepath.Dir(put(t, nil, proc, "1", "root", "tmp", "hsperfdata_file"))
	put(t, fixture(t, "g1.hsperfdata"), outside, "1")
	put(t, fixture(t, "g1.hsperfdata"), tmp, "elsewhere", "1")
	if err := errors.Join(
		os.Symlink(outside, filepath.Join(tmp, "hsperfdata_out")),
		os.Symlink("elsewhere", filepath.Join(tmp, "hsperfdata_link")),
	); err != nil {
		t.Fatal(err)
	}
	fails := func(h *Heaps, until time.Time, want string) {
		t.Helper()
		if got, err := h.Of(1, until); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want %q", got, err, want)
		}
	}
	h := heapsIn(proc)
	fails(h, soon(), "no hsperfdata_*/1 of user")
	if h.kept != 0 {
		t.Errorf("%d folders are kept where there are none", h.kept)
	}
	put(t, fixture(t, "g1.hsperfdata"), tmp, "hsperfdata_ann", "1")
	fails(heapsIn(proc), time.Now().Add(-time.Second), "process 1: "+tmp+" has too many names to read in the time available")
	h = heapsIn(proc)
	h.kept = maxFolders
	fails(h, soon(), tmp+" has too many hsperfdata_* folders")
	if got, err := heapsIn(proc).Of(1, soon()); err != nil || got.Used != 52442272 {
		t.Error(got, err)
	}
	if err := os.Remove(filepath.Join(tmp, "hsperfdata_ann", "1")); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * maxOwned {
		if err := os.Mkdir(filepath.Join(tmp, fmt.Sprint("hsperfdata_", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h = heapsIn(proc)
	fails(h, soon(), tmp+" has too many hsperfdata_* folders: at most 16 of a user")
	if h.kept != maxOwned {
		t.Errorf("%d folders of a user are kept, want %d", h.kept, maxOwned)
	}
}

// TestBesideJstat compares the heap read from a live process with jstat's output.
func TestBesideJstat(t *testing.T) {
	for _, tool := range []string{"java", "jstat"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no JDK: ", err)
		}
	}
	for _, collector := range []string{"G1", "Parallel"} {
		t.Run(collector, func(t *testing.T) {
			java := exec.Command("java", "-Xmx64m", "-XX:+Use"+collector+"GC", "testdata/Wait.java")
			in, err1 := java.StdinPipe()
			out, err2 := java.StdoutPipe()
			if err := errors.Join(err1, err2, java.Start()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				in.Close()
				if err := java.Wait(); err != nil {
					t.Error(err)
				}
			})
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Skipf("this is no JDK that runs sources: %q, %v", line, err)
			}
			// The process may change something by itself in between.
			var before, after Heap
			var said map[string]float64
			for range 5 {
				var err error
				if before, err = NewHeaps().Of(java.Process.Pid, soon()); err != nil {
					t.Fatal(err)
				}
				said = jstat(t, java.Process.Pid)
				if after, err = NewHeaps().Of(java.Process.Pid, soon()); err != nil {
					t.Fatal(err)
				}
				if before == after {
					break
				}
			}
			for _, c := range []struct {
				name       string
				got, want  float64
				difference float64
			}{
				{"used", float64(after.Used), 1024 * (said["S0U"] + said["S1U"] + said["EU"] + said["OU"]), 1024},
				// The parallel collector's young generation has more memory from the system than its spaces have.
				{"committed", float64(after.Committed), 1024 * (said["S0C"] + said["S1C"] + said["EC"] + said["OC"]), 4 << 20},
				{"max", float64(after.Max), 64 << 20, 1024},
				{"young", float64(after.Young.Count), said["YGC"], 0},
				{"full", float64(after.Full.Count), said["FGC"], 0},
				{"young time", after.Young.Time.Seconds(), said["YGCT"], 0.001},
				{"full time", after.Full.Time.Seconds(), said["FGCT"], 0.001},
			} {
				if math.Abs(c.got-c.want) > c.difference {
					t.Errorf("%s: %v, and jstat says %v", c.name, c.got, c.want)
				}
			}
			if after.Live <= 0 || after.Live > after.Used {
				t.Errorf("%d live of %d", after.Live, after.Used)
			}
		})
	}
}

// jstat returns jstat's output, by column, in KiB and seconds.
func jstat(t *testing.T, pid int) map[string]float64 {
	t.Helper()
	out, err := exec.Command("jstat", "-gc", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	head, values, _ := strings.Cut(string(out), "\n")
	said := map[string]float64{}
	f := strings.Fields(values)
	for i, name := range strings.Fields(head) {
		if f[i] != "-" {
			if said[name], err = strconv.ParseFloat(f[i], 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return said
}

// FuzzHsperf looks for a file that breaks the reader, or that makes it accept an impossible value. It begins with small
// files: with recorded ones, minimising takes all the time.
func FuzzHsperf(f *testing.F) {
	f.Add(file(binary.LittleEndian, heapEntries...))
	f.Add(file(binary.BigEndian, heapEntries[:5]...))
	f.Add(file(binary.BigEndian, entry{used, 7, ""}))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParsePerf(data)
		if err != nil && h != (Heap{}) {
			t.Errorf("%+v with %v", h, err)
		}
		for _, n := range []int64{h.Used, h.Committed, h.Max, h.Live} {
			if n < 0 || n > 2*maxSize {
				t.Errorf("%+v", h)
			}
		}
		for _, c := range []Collections{h.Young, h.Full, h.Concurrent} {
			if c.Count < 0 || c.Time < 0 {
				t.Errorf("%+v", h)
			}
		}
	})
}

// BenchmarkHsperf reads the heap of one process: once only the 32 KiB, and once including finding them.
func BenchmarkHsperf(b *testing.B) {
	data := fixture(b, "g1.hsperfdata")
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParsePerf(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("process", func(b *testing.B) {
		proc := b.TempDir()
		put(b, fmt.Appendf(nil, "Uid:\t0\t%d\t0\t0\nNSpid:\t1\n", os.Geteuid()), proc, "1", "status")
		put(b, data, proc, "1", "root", "tmp", "hsperfdata_ann", "1")
		b.ReportAllocs()
		for b.Loop() {
			if _, err := heapsIn(proc).Of(1, soon()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
