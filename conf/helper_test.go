package conf

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"heddle/policies/capacity"
	"heddle/policies/fair"
)

// disk is a folder in memory.
type disk map[string]string

func (d disk) open(path string) ([]byte, error) {
	s, ok := d[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(s), nil
}

// load reads a folder in memory.
func (d disk) load() (*Hadoop, *log) {
	l := newLoader(d.open, nowhere)
	f := files{path: map[string]string{}}
	for name := range d {
		f.path[name] = name
	}
	return l.load(f), l.log
}

// props writes name=value lines as a property file: line n of the text is line n+1 of the file.
func props(lines string) string {
	var b strings.Builder
	b.WriteString("<configuration>\n")
	for line := range strings.Lines(lines) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok {
			fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>", name, value)
		}
		b.WriteString("\n")
	}
	b.WriteString("</configuration>\n")
	return b.String()
}

// cs writes properties of the capacity scheduler without their prefix.
func cs(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString(csPrefix + strings.TrimSpace(line) + "\n")
	}
	return props(b.String())
}

// errorLines returns what was logged as errors, one a line.
func errorLines(l *log) string {
	if len(l.errs) == 0 {
		return ""
	}
	return l.errs.Error()
}

// expect wants exactly one error, which has the words.
func expect(t *testing.T, got, want string) {
	t.Helper()
	if want == "" && got != "" {
		t.Errorf("unexpected error:\n%s", got)
	}
	if strings.Contains(got, "\n") {
		t.Errorf("more than one error:\n%s", got)
	}
	place, words, _ := strings.Cut(want, "|")
	if !strings.HasPrefix(got, place) || !strings.Contains(got, words) {
		t.Errorf("got error  %s\nwant place %s\nand words  %s", got, place, words)
	}
}

func capacityOf(t *testing.T, lines string) (*capacity.Config, *CapacityPlacement) {
	t.Helper()
	h, l := disk{capacityFile: cs(lines)}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	return h.Capacity, h.CapacityPlacement
}

func fairOf(t *testing.T, doc string) (*fair.Config, *FairPlacement) {
	t.Helper()
	h, l := disk{fairFile: doc}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	return h.Fair, h.FairPlacement
}
