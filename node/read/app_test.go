package read

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/yarn/ids"
)

var app = ids.App{Cluster: 1700000000000, Seq: 1}

// index returns the file.out.index of an output with partitions of these sizes, as SpillRecord writes it.
func index(parts ...int64) []byte {
	var b []byte
	start := int64(0)
	for _, n := range parts {
		b = binary.BigEndian.AppendUint64(b, uint64(start))
		b = binary.BigEndian.AppendUint64(b, uint64(n)*2)
		b = binary.BigEndian.AppendUint64(b, uint64(n))
		start += n
	}
	return binary.BigEndian.AppendUint64(b, uint64(crc32.ChecksumIEEE(b)))
}

// put writes a file, with its folders, and returns its path.
func put(t testing.TB, data []byte, elem ...string) string {
	t.Helper()
	file := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// folder returns the folder of the application in a local directory.
func folder(dir string) string {
	return filepath.Join(dir, "usercache", "ann", "appcache", app.String())
}

// soon is a deadline later than anything that a test reads.
func soon() time.Time { return time.Now().Add(time.Minute) }

func attempt(s string) string { return "attempt_1700000000000_0001_" + s }

func TestParseIndex(t *testing.T) {
	broken := index(5, 6)
	broken[3]++
	many := index(make([]int64, maxParts+1)...)
	for name, tt := range map[string]struct {
		data []byte
		want int64
		err  string
	}{
		"two":           {index(5, 6), 11, ""},
		"nothing in it": {index(0), 0, ""},
		"empty":         {nil, 0, "has 0 bytes"},
		"no partition":  {index(), 0, "has 8 bytes; want 24"},
		"cut off":       {index(5, 6)[:48], 0, "has 48 bytes"},
		"damaged":       {broken, 0, "the file is damaged"},
		"below nothing": {index(5, -1), 0, "partition 1 has -1 bytes"},
		"too much":      {index(1<<62, 1<<62), 0, "larger than a file can be"},
		"very many":     {many, 0, "131073 partitions"},
	} {
		got, err := ParseIndex(tt.data)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestIndexAsRecorded reads an index whose checksum was made by other code: java.util.zip.CRC32, which agrees with
// Hadoop's PureJavaCrc32.
func TestIndexAsRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/java.index")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseIndex(data); err != nil || got != 677510+22 {
		t.Error(got, err)
	}
}

func TestOutputs(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	first := put(t, index(5, 6), folder(one), "output", attempt("m_000000_0"), "file.out.index")
	put(t, index(7, 0), folder(two), "output", attempt("m_000001_1"), "file.out.index")
	put(t, index(9), folder(two), "output", attempt("r_000000_0"), "file.out.index")
	put(t, index(9), folder(two), "output", "attempt_1700000000000_0002_m_000000_0", "file.out.index")
	put(t, index(9), folder(two), "output", attempt("m_"+strings.Repeat("0", 50)+"_0"), "file.out.index") // not a name that YARN gives
	put(t, nil, folder(two), "output", attempt("m_000002_0"), "spill0.out")                               // still running
	a := NewApp([]string{one, two}, "ann", app)
	read := func() string {
		out, err := a.Outputs(maxEntries, soon())
		if err != nil {
			t.Error(err)
		}
		var s []string
		for _, o := range out {
			s = append(s, fmt.Sprint(strings.TrimPrefix(o.Attempt, attempt("")), " ", o.Bytes))
		}
		return strings.Join(s, " ")
	}
	if got := read(); got != "m_000000_0 11 m_000001_1 7" {
		t.Error(got)
	}

	// A file with the same time and size is not read again.
	info, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	put(t, index(8, 9), first)
	if err := os.Chtimes(first, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != "m_000000_0 11 m_000001_1 7" {
		t.Error(got)
	}
	if err := os.Chtimes(first, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != "m_000000_0 17 m_000001_1 7" {
		t.Error(got)
	}
	if err := os.RemoveAll(folder(one)); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != "m_000001_1 7" || len(a.kept) != 1 {
		t.Error(got)
	}
}

// TestOutputsAreBounded has more outputs than are wanted, or than there is time for: that many are read. The next call
// returns those after them, each once, until all were; one that had no time is made up for.
func TestOutputsAreBounded(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for i, dir := range []string{one, one, one, two} {
		put(t, index(int64(i)), folder(dir), "output", attempt(fmt.Sprintf("m_%06d_0", i)), "file.out.index")
	}
	a := NewApp([]string{one, two}, "ann", app)
	for _, tt := range []struct {
		most  int
		until time.Time
		want  []int64
		err   string
	}{
		{2, soon(), []int64{0, 1}, ""},
		{2, time.Now().Add(-time.Second), nil, one + " has too many outputs to read in the time available"},
		{3, soon(), []int64{2, 3}, ""},
		{3, soon(), []int64{0, 1, 2}, ""},
		{3, soon(), []int64{3}, ""},
		{4, soon(), []int64{0, 1, 2, 3}, ""},
		{4, soon(), []int64{0, 1, 2, 3}, ""},
	} {
		out, err := a.Outputs(tt.most, tt.until)
		var got []int64
		for _, o := range out {
			got = append(got, o.Bytes)
		}
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%d at most: %v, %v; want %v and %q", tt.most, out, err, tt.want, tt.err)
		}
	}
}

// TestOutputsAreReadOnce has more outputs than a pass returns: a file is not read again in the next round if it has kept
// its time and size, and one that is gone is forgotten. Of very many outputs, some are read again.
func TestOutputsAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 7 {
		files = append(files, put(t, index(int64(i)), folder(dir), "output", attempt(fmt.Sprintf("m_%06d_0", i)), "file.out.index"))
	}
	a := NewApp([]string{dir}, "ann", app)
	round := func(most int) (got []int64, bad int) {
		for range (len(files) + most - 1) / most {
			out, err := a.Outputs(most, soon())
			for _, o := range out {
				got = append(got, o.Bytes)
			}
			if err != nil {
				bad++
			}
		}
		return got, bad
	}
	if got, bad := round(2); !slices.Equal(got, []int64{0, 1, 2, 3, 4, 5, 6}) || bad > 0 {
		t.Fatalf("%v, %d errors", got, bad)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		put(t, make([]byte, info.Size()), file)
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got, bad := round(2); !slices.Equal(got, []int64{0, 1, 2, 3, 4, 5, 6}) || bad > 0 {
			t.Errorf("another round returns %v, %d errors; want what the first read", got, bad)
		}
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	files = files[1:]
	if got, bad := round(3); !slices.Equal(got, []int64{1, 2, 3, 4, 5, 6}) || bad > 0 || len(a.kept) != 6 {
		t.Errorf("without the first: %v, %d errors, %d kept", got, bad, len(a.kept))
	}
	a = NewApp([]string{dir}, "ann", app)
	for _, file := range files {
		put(t, index(9), file)
	}
	for range 2 {
		if got, bad := round(1); len(got) != 6 || bad > 0 || len(a.kept) != maxKept {
			t.Errorf("one in each pass: %v, %d errors, %d kept", got, bad, len(a.kept))
		}
	}
}

// TestHostileOutputs has what users can put where their outputs are: none of it blocks, and the others are read.
func TestHostileOutputs(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, index(1), folder(dir), "output", attempt("m_000000_0"), "file.out.index")
	put(t, []byte("torn"), folder(dir), "output", attempt("m_000001_0"), "file.out.index")
	put(t, make([]byte, maxIndex+1), folder(dir), "output", attempt("m_000002_0"), "file.out.index")
	pipe := filepath.Dir(put(t, nil, folder(dir), "output", attempt("m_000003_0"), "x"))
	secret := put(t, index(9), outside, "file.out.index")
	if err := errors.Join(
		syscall.Mkfifo(filepath.Join(pipe, "file.out.index"), 0o644),
		os.Symlink(outside, filepath.Join(folder(dir), "output", attempt("m_000004_0"))),
		os.Mkdir(filepath.Join(folder(dir), "output", attempt("m_000005_0")), 0o755),
		os.Symlink(secret, filepath.Join(folder(dir), "output", attempt("m_000005_0"), "file.out.index")),
	); err != nil {
		t.Fatal(err)
	}
	out, err := NewApp([]string{dir, filepath.Join(dir, "gone")}, "ann", app).Outputs(maxEntries, soon())
	if len(out) != 1 || out[0].Bytes != 1 {
		t.Errorf("%+v", out)
	}
	for _, want := range []string{
		"m_000001_0/file.out.index: file.out.index has 4 bytes",
		"m_000002_0/file.out.index has 3145737 bytes",
		"m_000003_0/file.out.index is not a regular file",
		"m_000004_0/file.out.index: path escapes",
		"m_000005_0/file.out.index: path escapes",
		filepath.Join(dir, "gone") + ": no such",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant: %s", err, want)
		}
	}
}

// A pipe in place of a folder does not block.
func TestPipesForFolders(t *testing.T) {
	dir, proc := t.TempDir(), t.TempDir()
	put(t, fmt.Appendf(nil, "Uid:\t0\t%d\t0\t0\n", os.Geteuid()), proc, "1", "status")
	put(t, nil, folder(dir), "x")
	put(t, nil, proc, "1", "root", "x")
	output, tmp := filepath.Join(folder(dir), "output"), filepath.Join(proc, "1", "root", "tmp")
	if err := errors.Join(syscall.Mkfifo(output, 0o644), syscall.Mkfifo(tmp, 0o644)); err != nil {
		t.Fatal(err)
	}
	var errs [2]error
	done := make(chan bool)
	go func() {
		_, errs[0] = NewApp([]string{dir}, "ann", app).Outputs(maxEntries, soon())
		_, errs[1] = heapsIn(proc).Of(1, soon())
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for a writer")
	}
	for _, err := range errs {
		if !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%v, want %v", err, syscall.ENOTDIR)
		}
	}
}

func TestProblems(t *testing.T) {
	var p problems
	p.add(nil)
	p.add(fs.ErrNotExist)
	if p.err() != nil {
		t.Error(p.err())
	}
	for range maxSaid + 2 {
		p.add(errors.New("torn"))
	}
	if got := p.err().Error(); strings.Count(got, "torn") != maxSaid || !strings.HasSuffix(got, "and 2 more") {
		t.Error(got)
	}
}

// FuzzIndex looks for a file that breaks the reader, or that makes it accept an impossible value.
func FuzzIndex(f *testing.F) {
	f.Add(index(5, 6))
	f.Add(index(0))
	f.Add(index(1<<62, 1<<62, -1))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Most inputs have a wrong checksum: each is also tried with the right one.
		if n := len(data) - sumBytes; n >= 0 {
			fixed := slices.Clone(data)
			binary.BigEndian.PutUint64(fixed[n:], uint64(crc32.ChecksumIEEE(fixed[:n])))
			check(t, fixed)
		}
		check(t, data)
	})
}

func check(t *testing.T, data []byte) {
	sum, err := ParseIndex(data)
	if sum < 0 || err != nil && sum != 0 {
		t.Errorf("%d bytes, %v", sum, err)
	}
	if n := len(data) - sumBytes; err == nil && (n < partBytes || n%partBytes != 0) {
		t.Errorf("%d bytes of an index are read", len(data))
	}
}

// BenchmarkIndex reads 24 outputs of two partitions each: new ones, and known ones.
func BenchmarkIndex(b *testing.B) {
	dir := b.TempDir()
	for i := range 24 {
		put(b, index(30_000, 27_000), folder(dir), "output", attempt(fmt.Sprintf("m_%06d_0", i)), "file.out.index")
	}
	for name, known := range map[string]bool{"new": false, "known": true} {
		b.Run(name, func(b *testing.B) {
			a := NewApp([]string{dir}, "ann", app)
			b.ReportAllocs()
			for b.Loop() {
				if !known {
					clear(a.last)
					clear(a.kept)
				}
				if out, err := a.Outputs(maxEntries, soon()); err != nil || len(out) != 24 {
					b.Fatal(out, err)
				}
			}
		})
	}
}
