// Package read reads files of a node: how much output the maps of its containers have written, what the heap of a Java
// process holds, and how long the node's disks were busy. It reads only when called.
//
// Users can write most of these files, and an agent may run as root. So links lead nowhere outside the folder that is
// searched, only regular files are opened, and the bytes, the numbers and the time taken are bounded.
package read

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// below opens a folder below another one.
func below(root *os.Root, name string) (*os.Root, error) {
	return root.OpenRoot(name + "/.") // without the dot, opening a pipe of that name would wait for its writer
}

// pathOf returns the path of a folder.
func pathOf(root *os.Root) string { return filepath.Clean(root.Name()) }

// load returns the content of a regular file of at most this many bytes.
func load(root *os.Root, name string, most int64) ([]byte, error) {
	where := func() string { return pathOf(root) + "/" + name }
	regular := func(info fs.FileInfo) error {
		switch {
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a regular file", where())
		case info.Size() > most:
			return fmt.Errorf("%s has %d bytes; at most %d are read", where(), info.Size(), most)
		}
		return nil
	}
	info, err := root.Stat(name)
	if err != nil {
		return nil, at(root, err)
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	// By now it may be another file: opening a pipe would wait for its writer.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, at(root, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return data[:n], nil
}

// names returns the names in a folder, unordered and up to a maximum number.
func names(root *os.Root, most int) ([]string, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, at(root, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	list, err := f.Readdirnames(most)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(list) == most {
		return list, fmt.Errorf("%s has at least %d names; no more are read", pathOf(root), most)
	}
	return list, nil
}

// at adds the folder to an error. A root's error has only the path below it.
func at(root *os.Root, err error) error { return fmt.Errorf("in %s: %w", pathOf(root), err) }
