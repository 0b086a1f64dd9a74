package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// open opens a file of the workload.
func (im *importer) open(path string) (io.ReadCloser, error) {
	im.wl.Files = append(im.wl.Files, path)
	return open(path)
}

// open opens a file for reading, through gzip or zstd if its first bytes say so.
func open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := decompress(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{r, f}, nil
}

func decompress(r *bufio.Reader) (io.Reader, error) {
	magic, _ := r.Peek(8) // if the file is shorter, the code below notices
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(r)
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	case bytes.Equal(magic, []byte("LZ4Block")), bytes.HasPrefix(magic, []byte("\x82SNAPPY")):
		return nil, errors.New("is compressed with lz4 or snappy; only gzip and zstd can be read: decompress it first")
	}
	return r, nil
}

// walk calls visit for every file below a folder, ordered by name, and for every rolling Spark log as a whole (rolling
// is true). Hidden files are left out. Links to files count as files. The folder itself may be a link, but links to
// folders below it are not followed, since they could form a cycle.
func walk(root string, visit func(path string, rolling bool) error) error {
	files := 0
	return filepath.WalkDir(root+string(filepath.Separator), func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if files++; files > MaxFiles {
			return fmt.Errorf("%s: more than %d files", root, MaxFiles)
		}
		rolling := e.IsDir() && strings.HasPrefix(e.Name(), rollingPrefix)
		switch {
		case rolling:
			parts, err := rollingParts(path)
			if err != nil || len(parts) == 0 {
				return err
			}
			if err := visit(parts[0], true); err != nil {
				return err
			}
			return filepath.SkipDir
		case e.IsDir():
			return nil
		case strings.HasPrefix(e.Name(), ".") || !isFile(path, e):
			return nil
		}
		return visit(path, false)
	})
}

// isFile reports whether an entry of a folder is a file or a link to one.
func isFile(path string, e os.DirEntry) bool {
	if e.Type() != os.ModeSymlink {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// A lineReader reads lines of bounded length.
type lineReader struct {
	r     *bufio.Reader
	buf   []byte
	line  int  // number of the line last read
	ended bool // that line has a line end
	limit int  // maximum bytes of a line
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: MaxLineBytes}
}

// next returns the next line without its line end, valid until the next call. If long is true, the line was too long
// and is not returned. err is io.EOF after the last line.
func (l *lineReader) next() (line []byte, long bool, err error) {
	l.buf = l.buf[:0]
	l.line++
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(part) > l.limit {
			long, l.buf = true, l.buf[:0]
		} else if !long {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (long || len(l.buf) > 0), err == nil:
			l.ended = err == nil
			return bytes.TrimRight(l.buf, "\r\n"), long, nil
		}
		return nil, false, err
	}
}

// eachLine reads a file by lines. A fault from read is a defect of the line. If reading breaks off (a truncated
// archive), the file counts as cut off.
func (im *importer) eachLine(path string, read func(line int, text []byte) error) error {
	r, err := im.open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return im.lines(newLineReader(r), read)
}

// brokenOff returns why a file cannot be read any further.
func brokenOff(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the file is cut off here"
	}
	return fmt.Sprintf("the file cannot be read further: %v", err)
}

// heading returns the first n lines.
func (l *lineReader) heading(n int) ([]string, error) {
	var out []string
	for range n {
		text, long, err := l.next()
		if err != nil || long {
			return nil, errors.New("too short or too long")
		}
		out = append(out, string(text))
	}
	return out, nil
}

// Read reads what follows the lines already read.
func (l *lineReader) Read(p []byte) (int, error) { return l.r.Read(p) }

func isFolder(path string) (bool, error) {
	info, err := os.Stat(path)
	return err == nil && info.IsDir(), err
}

func (im *importer) lines(l *lineReader, read func(line int, text []byte) error) error {
	for {
		text, long, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return im.cutOff(l.line, "", brokenOff(err))
		}
		if long {
			im.wl.Lines++
			err = im.defect(l.line, faultf("", "longer than %d bytes", l.limit))
		} else if len(bytes.TrimSpace(text)) > 0 {
			im.wl.Lines++
			im.ended = l.ended
			err = read(l.line, text)
			im.ended = true
		}
		if err != nil {
			return err
		}
	}
}
