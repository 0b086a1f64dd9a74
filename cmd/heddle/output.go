package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// wrote turns an error from writing a result into a failure.
func wrote(err error) error {
	if err == nil {
		return nil
	}
	return failure{fmt.Errorf("write the result: %w", err)}
}

// A target is a file to be written. The old content stays until the new content is complete.
type target struct {
	path string
	file *os.File    // the pipe or device; nil for a file
	temp string      // the neighbour of path that is written first; it is there only meanwhile
	mode os.FileMode // … and its mode
	done bool
}

// openTarget makes sure, before long work begins, that a file can be written. The file must be neither one of inputs
// nor standard output.
func openTarget(flag, path string, inputs []string) (*target, error) {
	if path == "-" {
		return nil, usagef("%s: - is not standard output here; want the name of a file, such as /dev/stdout", flag)
	}
	info, err := os.Stat(path)
	exists := err == nil
	switch {
	case exists && info.IsDir():
		return nil, fmt.Errorf("%s: %s is a folder; want a file", flag, path)
	case exists && !info.Mode().IsRegular():
		f, e := os.OpenFile(path, os.O_WRONLY, 0)
		if e != nil {
			return nil, fmt.Errorf("%s: %w", flag, e)
		}
		return &target{path: path, file: f}, nil
	}
	if out, e := os.Stdout.Stat(); exists && e == nil && os.SameFile(info, out) {
		return nil, fmt.Errorf("%s: %s is standard output too, and would replace what is printed; want another file", flag, path)
	}
	for _, in := range inputs {
		if other, e := os.Stat(in); exists && e == nil && os.SameFile(info, other) {
			return nil, fmt.Errorf("%s: %s is an input and would be overwritten", flag, path)
		}
	}
	mode := os.FileMode(0o666)
	if exists {
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
	}
	t := &target{path: path, mode: mode, temp: filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))}
	f, err := t.open()
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(t.temp)) // nothing is left behind if the program is killed during the work
	}
	if err != nil {
		if why, ok := errors.AsType[*os.PathError](err); ok {
			err = why.Err // without the temporary file's name
		}
		return nil, fmt.Errorf("%s: %s cannot be written: %w", flag, path, err)
	}
	return t, nil
}

// open returns the file that is written first.
func (t *target) open() (*os.File, error) {
	if t.file != nil {
		return t.file, nil
	}
	return os.OpenFile(t.temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, t.mode)
}

// sameFile reports whether two paths name the same file, which need not exist. Pipes and devices are the same only if
// their names are: /dev/stdout and /dev/stderr may be the same terminal.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	is, err := os.Stat(a)
	other, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return is.Mode().IsRegular() && os.SameFile(is, other)
	}
	if err == nil || err2 == nil || filepath.Base(a) != filepath.Base(b) {
		return false
	}
	is, err = os.Stat(filepath.Dir(a))
	other, err2 = os.Stat(filepath.Dir(b))
	return err == nil && err2 == nil && os.SameFile(is, other)
}

// write fills the file and moves it to its place. An interrupt meanwhile ends the program and leaves nothing beside the
// file.
func (t *target) write(fill func(io.Writer) error) error {
	if t.temp != "" {
		defer removes(t.temp, t.path)()
	}
	return t.put(fill)
}

// put is write for callers that say themselves what an interrupt does.
func (t *target) put(fill func(io.Writer) error) error {
	t.done = true
	f, err := t.open()
	if err == nil {
		b := bufio.NewWriter(f)
		if err = fill(b); err == nil {
			err = b.Flush()
		}
		err = cmp.Or(err, f.Close())
	}
	if t.temp != "" {
		if err == nil {
			err = os.Rename(t.temp, t.path)
		} else {
			_ = os.Remove(t.temp) // the first error is the one to report
		}
	}
	if err != nil {
		return failure{fmt.Errorf("write %s: %w", t.path, err)}
	}
	return nil
}

// drop abandons the file; after a write it does nothing.
func (t *target) drop() {
	if t != nil && !t.done && t.file != nil {
		_ = t.file.Close() // its content is not needed
	}
}

// openNested is openTarget for a file below a folder that a flag names. It creates missing folders above the file.
func openNested(flag, path string) (*target, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		if at, ok := errors.AsType[*os.PathError](err); ok && errors.Is(err, syscall.ENOTDIR) {
			return nil, fmt.Errorf("%s: %s is a file; want a folder", flag, at.Path)
		}
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return openTarget(flag, path, nil)
}

// replaceFile writes a file that a flag names, and creates missing folders above it.
func replaceFile(flag, path string, data []byte) error {
	t, err := openNested(flag, path)
	if err != nil {
		return err
	}
	return t.put(func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// printJSON writes v as indented JSON, for scripts and for people.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
