package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options says how to read a trace.
type Options struct {
	Format    string // swim, sls, rumen, jhist or spark; "" = guess from the content of files and folders
	Strict    bool   // the first defect is returned as an error, a *[DefectError]
	BlockSize int64  // bytes of a block if the trace states none; 0 = 128 MiB

	maxTasks int // for tests; 0 = MaxTasks
}

func (o Options) taskLimit() int {
	if o.maxTasks > 0 {
		return o.maxTasks
	}
	return MaxTasks
}

// DefaultBlockSize is HDFS's block size, in bytes.
const DefaultBlockSize = 128 << 20

// A format is a kind of trace.
type format struct {
	name, what string
	looks      func(head []byte) bool // whether a file that begins like this has the format
	read       func(im *importer, path string) error
	folder     bool // a folder of such files is one workload
}

func formats() []format {
	return []format{
		{"jhist", "MapReduce job history (.jhist, text or binary) or a folder of them", looksLikeHistory, readHistory, true},
		{"spark", "Spark event log, rolling or not, or a folder of them", looksLikeSpark, readSpark, true},
		{"rumen", "Rumen job trace", looksLikeRumen, readRumen, false},
		{"sls", "Scheduler Load Simulator JSON", looksLikeSLS, readSLS, false},
		{"swim", "SWIM tab-separated sample", looksLikeSWIM, readSWIM, false},
	}
}

// ErrUnknownFormat is wrapped by the error for a path that is not a trace in a known format.
var ErrUnknownFormat = errors.New("not a trace in a known format")

func formatList() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name+" ("+f.what+")")
	}
	return strings.Join(names, ", ")
}

// Read reads a trace from a file or a folder, uncompressed or compressed with gzip or zstd. What cannot be read is
// listed in Workload.Skipped, where files are cut off in Workload.Cut, and what the trace lacks in Workload.Filled. Job
// times start at the first job. Jobs are ordered by submission, then id. Jobs and tasks may share memory and must not
// be changed. An error names the file.
func Read(path string, o Options) (*Workload, error) {
	if o.BlockSize < 0 {
		return nil, fmt.Errorf("%s: a block size of %d bytes; it must be above 0", path, o.BlockSize)
	}
	if o.BlockSize == 0 {
		o.BlockSize = DefaultBlockSize
	}
	if o.Format == "" {
		guessed, err := Guess(path)
		if err != nil {
			return nil, err
		}
		o.Format = guessed
	}
	for _, f := range formats() {
		if f.name != o.Format {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() && !f.folder {
			return nil, fmt.Errorf("%s: is a folder; a trace in format %s is one file", path, f.name)
		}
		im := newImporter(o)
		im.file = path
		im.wl.Format = f.name
		im.wl.Name = traceName(path)
		if err := f.read(im, path); err != nil {
			return nil, err
		}
		if len(im.wl.Jobs) == 0 {
			return nil, im.empty(path)
		}
		return im.finish(), nil
	}
	return nil, fmt.Errorf("%s: no format %q; there are %s", path, o.Format, formatList())
}

// empty returns the error for a trace without a readable job.
func (im *importer) empty(path string) error {
	if all := slices.Concat(im.wl.Skipped, im.wl.Cut); len(all) > 0 {
		return fmt.Errorf("%s: no job could be read as %s; the first of %d defects: %w", path, im.wl.Format, len(all), &DefectError{all[0]})
	}
	return fmt.Errorf("%s: holds no job in format %s", path, im.wl.Format)
}

// traceName returns the last element of a path without its extensions for compression and format.
func traceName(path string) string {
	name := filepath.Base(path)
	for _, ext := range []string{".gz", ".zst", ".zstd", ".jhist", ".json", ".tsv", ".txt"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// Guess returns the format of the trace at path, a file or a folder, judging by its content. It reads nothing from a
// pipe or a device, because what is read to guess would be missing afterwards.
func Guess(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return "", fmt.Errorf("%s: is a pipe or a device, which cannot be read twice, so its format cannot be guessed; "+
				"name one: %s", path, formatList())
		}
		head, err := headOf(path)
		if err != nil {
			return "", err
		}
		if name, _ := guessHead(head); name != "" {
			return name, nil
		}
		return "", fmt.Errorf("%s: %w; there are %s", path, ErrUnknownFormat, formatList())
	}
	found := ""
	var unopened error // the first file that could not be opened
	err = walk(path, func(file string, _ bool) error {
		head, err := headOf(file)
		if err != nil { // what cannot be opened as a trace is not one
			unopened = cmp.Or(unopened, err)
			return nil
		}
		name, ofFolders := guessHead(head)
		if ofFolders {
			found = name
			return filepath.SkipAll
		}
		found = cmp.Or(found, name)
		return nil
	})
	if err != nil {
		return "", err
	}
	switch {
	case found == "" && unopened != nil:
		return "", fmt.Errorf("%s: no file in it is a trace that can be read: %w: %w; there are %s", path, ErrUnknownFormat, unopened, formatList())
	case found == "":
		return "", fmt.Errorf("%s: no file in it is a trace: %w; there are %s", path, ErrUnknownFormat, formatList())
	}
	return found, nil
}

// guessHead returns the format of a file with this beginning, or "", and whether a folder of such files is a trace.
func guessHead(head []byte) (name string, ofFolders bool) {
	for _, f := range formats() {
		if f.looks(head) {
			return f.name, f.folder
		}
	}
	return "", false
}

// notOurs records a file below the folder being read that does not look like its format. Only history of another format
// is a loss.
func (im *importer) notOurs(file string, head []byte) {
	if name, ofFolders := guessHead(head); ofFolders {
		if im.others == 0 {
			im.other = fmt.Sprintf("%s (%s)", file, name)
		}
		im.others++
	}
}

// leftOut returns an error that says which history in a folder is not read, since a folder is read as one format.
func (im *importer) leftOut(folder string) error {
	im.file = folder
	switch im.others {
	case 0:
		return nil
	case 1:
		return im.defect(0, faultf("", "is read as %s alone, and a file in another format is left out: %s", im.wl.Format, im.other))
	}
	return im.defect(0, faultf("", "is read as %s alone, and %d files in other formats are left out, the first: %s", im.wl.Format, im.others, im.other))
}

// headOf returns the first bytes of a file, decompressed.
func headOf(path string) ([]byte, error) {
	r, err := open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(&squeezer{r: io.LimitReader(r, MaxLineBytes)}, head)
	if err != nil && n == 0 && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return bytes.TrimLeft(head[:n], " \t\r\n\ufeff"), nil
}

// A squeezer leaves out all but the first digits of a long number, which could fill the head of a file by itself and
// hide its format.
type squeezer struct {
	r   io.Reader
	run int // consecutive digits so far
}

const shownDigits = 24

func (s *squeezer) Read(p []byte) (int, error) {
	for {
		n, err := s.r.Read(p)
		kept := 0
		for _, c := range p[:n] {
			if s.run++; c < '0' || c > '9' {
				s.run = 0
			}
			if s.run <= shownDigits {
				p[kept] = c
				kept++
			}
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}
