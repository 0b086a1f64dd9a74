//go:build !linux

package store

import (
	"errors"
	"os"
)

// allocate reserves disk space for a part of the file without growing the file.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }

// spare returns how many bytes this process may still write into a folder, or −1 if the system does not say.
func spare(string) int64 { return -1 }
