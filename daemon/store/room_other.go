//go:build !linux

package store

import (
	"errors"
	"os"
)

// allocate has the disk keep room for a part of the file, which does not grow by it.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }

// spare is how many bytes this process may still write into a folder, −1 where the system does not say.
func spare(string) int64 { return -1 }
