//go:build !linux

package store

import "errors"

func mount(string, int64) error { return errors.ErrUnsupported }

func unmount(string) error { return errors.ErrUnsupported }
