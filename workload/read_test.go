package workload

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle"
)

// write creates a file in a folder of the test.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustRead(t testing.TB, path string, o Options) *Workload {
	t.Helper()
	w, err := Read(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// readText reads text as a trace, strictly.
func readText(t testing.TB, format, text string) *Workload {
	t.Helper()
	return mustRead(t, write(t, "trace", text), Options{Format: format, Strict: true})
}

// one returns the only job of text.
func one(t testing.TB, format, text string) *Job {
	t.Helper()
	w := readText(t, format, text)
	if len(w.Jobs) != 1 {
		t.Fatalf("%d jobs, want 1", len(w.Jobs))
	}
	return &w.Jobs[0]
}

// filled counts the jobs affected by a rule for a field whose line contains the text.
func filled(w *Workload, field, text string) int {
	n := 0
	for _, f := range w.Filled {
		if f.Field == field && strings.Contains(f.String(), text) {
			n += f.Jobs
		}
	}
	return n
}

func ms(n int64) heddle.Span { return heddle.Span(n) * heddle.Millisecond }

// wantDefect checks that text has a defect on a line and field whose reason contains reason, that it is counted and
// skipped, and that Strict returns it as the error.
func wantDefect(t *testing.T, format, text string, line int, field, reason string) {
	t.Helper()
	path := write(t, "trace", text)
	_, err := Read(path, Options{Format: format, Strict: true})
	var d *DefectError
	if !errors.As(err, &d) {
		t.Fatalf("strict: error %v is no DefectError", err)
	}
	if d.File != path || d.Line != line || d.Field != field || !strings.Contains(d.Reason, reason) {
		t.Errorf("strict: %q, want line %d, field %q, reason with %q", d.Error(), line, field, reason)
	}
	w, err := Read(path, Options{Format: format})
	if err == nil {
		if all := slices.Concat(w.Skipped, w.Cut); len(all) == 0 || all[0] != d.Defect {
			t.Errorf("lenient: %v, want %v first", all, d.Defect)
		}
	} else if !errors.As(err, &d) {
		t.Errorf("lenient: %v does not name the defect", err)
	}
}

func TestGuess(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/small.tsv":  "swim",
		"testdata/sls.json":   "sls",
		"testdata/rumen.json": "rumen",
		"testdata/history":    "jhist",
		"testdata/spark":      "spark",
		"testdata/spark/application_1795257509765_0007":             "spark",
		"testdata/spark/application_1795257509765_0010_1.zstd":      "spark",
		"testdata/spark/eventlog_v2_application_1795257509765_0011": "spark",
	} {
		if got, err := Guess(path); got != want || err != nil {
			t.Errorf("Guess(%s) = %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"testdata/nodes.json", "read.go", t.TempDir()} {
		_, err := Guess(path)
		if !errors.Is(err, ErrUnknownFormat) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "rumen") {
			t.Errorf("Guess(%s): %v; want the path and the formats there are", path, err)
		}
	}
}

// A folder of logs whose compression cannot be read is refused with the reason.
func TestGuessSaysWhyNot(t *testing.T) {
	path := write(t, "app.lz4", "LZ4Block\x16")
	_, err := Guess(filepath.Dir(path))
	if !errors.Is(err, ErrUnknownFormat) || !strings.Contains(err.Error(), path+": is compressed with lz4 or snappy") {
		t.Errorf("%v; want the file and how it is compressed", err)
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		path string
		o    Options
		want string
	}{
		{"testdata/none", Options{}, "no such file"},
		{"testdata/none", Options{Format: "sls"}, "testdata/none"},
		{"testdata/small.tsv", Options{Format: "tsv"}, `no format "tsv"; there are jhist`},
		{"testdata/history", Options{Format: "sls"}, "is a folder"},
		{"testdata/small.tsv", Options{BlockSize: -1}, "block size"},
		{"testdata/small.tsv", Options{Format: "sls"}, "no job could be read as sls"},
		{write(t, "empty", ""), Options{Format: "swim"}, "holds no job"},
		{write(t, "lz4", "LZ4Block\x16"), Options{Format: "spark"}, "decompress it first"},
	} {
		_, err := Read(c.path, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("Read(%s, %+v): %v; want the path and %q", c.path, c.o, err, c.want)
		}
	}
}

// A pipe is read once: completely if its format is named, and not at all if the format would have to be guessed.
func TestReadsPipes(t *testing.T) {
	const jobs = 2000 // more than is looked at to guess a format
	var text strings.Builder
	for i := range jobs {
		fmt.Fprintf(&text, "job%d\t%d\t1\t1000\t%s\t0\n", i, i, strings.Repeat("0", 30))
	}
	pipe := func() string {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		go func() {
			_, _ = w.WriteString(text.String()) // it stops when nobody reads any more
			_ = w.Close()
		}()
		return fmt.Sprintf("/dev/fd/%d", r.Fd())
	}
	if w := mustRead(t, pipe(), Options{Format: "swim", Strict: true}); len(w.Jobs) != jobs {
		t.Errorf("%d jobs of a pipe, want %d", len(w.Jobs), jobs)
	}
	path := pipe()
	if w, err := Read(path, Options{}); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "swim (") {
		t.Errorf("a pipe of no format: %v, %v; want an error with the path and the formats there are", w, err)
	}
	if w := mustRead(t, path, Options{Format: "swim", Strict: true}); len(w.Jobs) != jobs {
		t.Errorf("%d jobs of a pipe whose format could not be guessed, want %d", len(w.Jobs), jobs)
	}
}

func TestReadsCompressedAndTruncated(t *testing.T) {
	plain, err := os.ReadFile("testdata/rumen.json")
	if err != nil {
		t.Fatal(err)
	}
	packed := zipped(t, string(plain))
	path := write(t, "rumen.json.gz", packed)
	w := mustRead(t, path, Options{Strict: true})
	if len(w.Jobs) != 2 || w.Format != "rumen" || w.Name != "rumen" {
		t.Errorf("%d jobs, format %s, name %s", len(w.Jobs), w.Format, w.Name)
	}
	cut := write(t, "cut.gz", packed[:len(packed)-40])
	if w, err := Read(cut, Options{}); err == nil && len(w.Cut) == 0 {
		t.Error("a truncated archive shows no defect")
	}
	if _, err := Read(cut, Options{Strict: true}); err == nil {
		t.Error("a truncated archive is no error with Strict")
	}
}

// zipped compresses a text.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Where a file is cut off is listed separately from what was skipped, so that the counts add up: every record that was
// read completely is a job or a defect.
func TestCutOff(t *testing.T) {
	var swim, twice, sls strings.Builder
	for i := range 200 {
		fmt.Fprintf(&swim, "job%d\t%d\t1\t%d\t0\t0\n", i, i, i*7919%10007)
		fmt.Fprintf(&twice, "job%d\t%d\t1\t%d\t0\t0\n", i%2, i, i*7919%10007)
		fmt.Fprintf(&sls, "{\"job.id\": \"%d\", \"job.tasks\": [\n {\"container.duration.ms\": %d}]}\n", i, 1+i*7919%10007)
	}
	half := func(s string) string { return s[:len(s)/2] }
	for _, c := range []struct {
		name, format, text string
		cut                string // what is said about it; "" = it is complete
		jobs, skipped      int    // −1 = any number
	}{
		{"swim", "swim", "a\t1\t1\t1\t1\t1\nb\t1\t1\t1\t1\t1\nc\t1\t1", "trace:3: does not have 6 to 9 tab-separated columns", 2, 0},
		{"swim, archive", "swim", half(zipped(t, swim.String())), "the file is cut off here; an unknown part", -1, 0},
		{"swim, the same ids", "swim", half(zipped(t, twice.String())), "the file is cut off here; an unknown part", 2, -1},
		{"swim, a wrong last line", "swim", "a\t1\t1\t1\t1\t1\nb\tx\t1\t1\t1\t1", "", 1, 1},
		{"swim, the same id last", "swim", "a\t1\t1\t1\t1\t1\na\t2\t1\t1\t1\t1", "", 1, 1},
		{"swim, a short line", "swim", "a\t1\t1\t1\t1\t1\nb\t1\n", "", 1, 1},
		{"sls", "sls", half(sls.String()), "the object is not closed before the file ends; an unknown part", -1, 0},
		{"sls, archive", "sls", half(zipped(t, sls.String())), "the file is cut off here", -1, 0},
	} {
		w, err := Read(write(t, "trace", c.text), Options{Format: c.format})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(w.Jobs)+len(w.Skipped) != w.Lines {
			t.Errorf("%s: %d jobs and %d skipped of %d", c.name, len(w.Jobs), len(w.Skipped), w.Lines)
		}
		if c.jobs >= 0 && len(w.Jobs) != c.jobs || c.skipped >= 0 && len(w.Skipped) != c.skipped {
			t.Errorf("%s: %d jobs, skipped %v; want %d and %d", c.name, len(w.Jobs), w.Skipped, c.jobs, c.skipped)
		}
		if cut := fmt.Sprint(w.Cut); (len(w.Cut) == 1) != (c.cut != "") || !strings.Contains(cut, c.cut) {
			t.Errorf("%s: cut off: %s; want %q", c.name, cut, c.cut)
		}
	}
}

// What was read of a log before the point where it is cut off is kept.
func TestLogsCutOff(t *testing.T) {
	for path, format := range map[string]string{
		historyFile(t, "0001"): "jhist", historyFile(t, "0004"): "jhist", "testdata/spark/application_1795257509765_0007": "spark",
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, text := zipped(t, string(data)), string(data)
		for _, cut := range []string{text[:len(text)*2/3], whole[:len(whole)*2/3]} {
			w, err := Read(write(t, "trace", cut), Options{Format: format})
			if err != nil || len(w.Jobs) != 1 || len(w.Skipped) != 0 || len(w.Cut) != 1 || !strings.Contains(w.Cut[0].Reason, "an unknown part of the file is missing") {
				t.Errorf("%s: %v: %+v", path, err, w)
			}
		}
	}
}

func TestJobsStandBySubmissionThenID(t *testing.T) {
	w := readText(t, "swim", "job10\t7\t0\t1\t0\t0\njob9\t7\t0\t1\t0\t0\njob1\t9\t0\t1\t0\t0\njob2\t6.5\t0\t1\t0\t0\n")
	var got []string
	for _, j := range w.Jobs {
		got = append(got, j.ID)
	}
	if s := strings.Join(got, " "); s != "job2 job9 job10 job1" {
		t.Errorf("order %s", s)
	}
	if w.Jobs[0].Submit != 0 || w.Jobs[1].Submit != heddle.Time(ms(500)) {
		t.Errorf("submits %d, %d: want them relative to the first", w.Jobs[0].Submit, w.Jobs[1].Submit)
	}
}

func TestCompareIDs(t *testing.T) {
	ordered := []string{"", "a", "a1", "a01", "a2", "a10", "a10b", "b", "job_1_0009", "job_1_0010", "job_2_0001"}
	for i, a := range ordered {
		for k, b := range ordered {
			got := compareIDs(a, b)
			if (got < 0) != (i < k) && a != "a1" && a != "a01" || (got == 0) != (i == k) {
				t.Errorf("compareIDs(%q, %q) = %d", a, b, got)
			}
			if got != -compareIDs(b, a) {
				t.Errorf("compareIDs(%q, %q) is not antisymmetric", a, b)
			}
		}
	}
}

// Of more rules than are kept the same ones are listed at each reading.
func TestRulesAreBounded(t *testing.T) {
	var text strings.Builder
	for job := range 2 {
		fmt.Fprintf(&text, "{\"job.id\": \"%d\", \"job.tasks\": [{\"duration.ms\": 5}]", job)
		for i := range 600 {
			fmt.Fprintf(&text, ", \"unknown%d.%d\": 1", job, i)
		}
		text.WriteString("}\n")
	}
	first := readText(t, "sls", text.String()).Filled
	if len(first) != maxFillRules {
		t.Errorf("%d rules, want %d", len(first), maxFillRules)
	}
	for range 3 {
		if again := readText(t, "sls", text.String()).Filled; !slices.Equal(first, again) {
			t.Fatal("another reading lists other rules")
		}
	}
}

func TestDefectsAreBounded(t *testing.T) {
	text := strings.Repeat("x\n", MaxDefects+2)
	_, err := Read(write(t, "bad", text), Options{Format: "swim"})
	if err == nil || !strings.Contains(err.Error(), "is it a swim file?") {
		t.Errorf("error %v", err)
	}
}

func TestLinesAreBounded(t *testing.T) {
	im := newImporter(Options{})
	l := newLineReader(strings.NewReader("short\n" + strings.Repeat("x", 200_000) + "\n\nlast"))
	l.limit = 100_000
	var got []string
	err := im.lines(l, func(line int, text []byte) error {
		got = append(got, fmt.Sprint(line, string(text)))
		return nil
	})
	if err != nil || fmt.Sprint(got) != "[1short 4last]" || im.wl.Lines != 3 {
		t.Errorf("%v: lines %v, %d counted", err, got, im.wl.Lines)
	}
	if s := im.wl.Skipped; len(s) != 1 || s[0].Line != 2 || s[0].Reason != "longer than 100000 bytes" {
		t.Errorf("skipped %v", s)
	}
}
