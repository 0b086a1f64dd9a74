package read

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// The file stat of a block device, as in Linux's Documentation/block/stat.rst: numbers on one line.
const (
	ioTicks = 9       // index of the milliseconds in which I/O was in flight
	maxBusy = 1 << 40 // milliseconds; kernels wrap around after 1<<32
)

// DiskBusy returns for how long the disks under some directories were busy since the machine started, as the mean over
// those disks. Each disk counts once, however many of its partitions there are. The result is 0 if there are none: a
// directory may be on a filesystem without a disk, such as overlay or tmpfs. Solid-state disks do not count: they serve
// many requests at a time, so busy time does not say how much of one is in use. sys is where sysfs is, /sys. The error
// says what could not be read: the mean is that of the others.
func DiskBusy(sys string, dirs []string) (time.Duration, error) {
	var (
		wrong  problems
		sum, n int64
		seen   = map[string]bool{}
	)
	for _, dir := range dirs {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			wrong.put(&fs.PathError{Op: "stat", Path: dir, Err: err})
			continue
		}
		device := deviceOf(sys, st.Dev)
		if seen[device] || !rotates(device) {
			continue
		}
		seen[device] = true
		file := filepath.Join(device, "stat")
		data, err := os.ReadFile(file)
		if err != nil {
			wrong.add(err) // only block devices have this file
			continue
		}
		busy, err := parseStat(data)
		if err != nil {
			wrong.put(fmt.Errorf("%s: %w", file, err))
			continue
		}
		sum += busy
		n++
	}
	if n == 0 {
		return 0, wrong.err()
	}
	return time.Duration(sum/n) * time.Millisecond, wrong.err()
}

// deviceOf returns the folder of a block device, or for a partition that of its disk.
func deviceOf(sys string, dev uint64) string {
	device := filepath.Join(sys, "dev", "block", fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev)))
	real, err := filepath.EvalSymlinks(device)
	if err != nil {
		return device
	}
	if _, err := os.Stat(filepath.Join(real, "partition")); err == nil {
		return filepath.Dir(real)
	}
	return real
}

// rotates reports whether a device is a rotating disk; if that is unknown, it counts as one.
func rotates(device string) bool {
	data, err := os.ReadFile(filepath.Join(device, "queue", "rotational"))
	return err != nil || string(bytes.TrimSpace(data)) != "0"
}

// parseStat returns for how many milliseconds a device was busy.
func parseStat(data []byte) (int64, error) {
	f := bytes.Fields(data)
	if len(f) <= ioTicks {
		return 0, fmt.Errorf("it has %d numbers; want %d or more", len(f), ioTicks+1)
	}
	busy, err := strconv.ParseInt(string(f[ioTicks]), 10, 64)
	if err != nil || busy < 0 || busy > maxBusy {
		return 0, fmt.Errorf("number %d is %.40q; want 0 to %d milliseconds", ioTicks+1, f[ioTicks], int64(maxBusy))
	}
	return busy, nil
}
