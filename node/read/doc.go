// Package read reads what the files of a node say of its containers: how much output its maps hold, and what the heap
// of a Java process holds. Of its disks it reads how long they were busy. Nothing is read but when a caller asks.
//
// Most of these files are their users' to write, and an agent may have all rights. So links lead nowhere outside of the
// folder that is searched, what is no regular file is not opened, and bytes, numbers and the time that it takes are bounded.
package read

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// load returns a regular file of at most so many bytes.
func load(root *os.Root, name string, most int64) ([]byte, error) {
	where := func() string { return root.Name() + "/" + name }
	regular := func(info fs.FileInfo) error {
		switch {
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no regular file", where())
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
	// It may be another one by now: the opening of a pipe would wait for its writer.
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

// names returns what a folder has, in no order and up to a number.
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
		return list, fmt.Errorf("%s has %d names or more; only so many are looked at", root.Name(), most)
	}
	return list, nil
}

// at says in which folder something went wrong. Of a root's error only the path below it is known.
func at(root *os.Root, err error) error { return fmt.Errorf("in %s: %w", root.Name(), err) }
