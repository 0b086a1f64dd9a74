package store

import (
	"os"
	"syscall"
)

const keepSize = 1 // FALLOC_FL_KEEP_SIZE

// allocate reserves disk space for a part of the file without growing the file.
func allocate(f *os.File, from, length int64) error {
	for {
		if err := syscall.Fallocate(int(f.Fd()), keepSize, from, length); err != syscall.EINTR {
			return err
		}
	}
}

// spare returns how many bytes this process may still write into a folder, or −1 if the system does not say.
func spare(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return -1
	}
	return int64(s.Bavail) * s.Bsize
}
