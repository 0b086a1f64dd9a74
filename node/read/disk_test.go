package read

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// line is the stat file of a device that was busy for 124444 ms.
const line = "  721200   123356 24705842   356360  1478811   322268 103190680   434927        0   124444   827421   178193       46\n"

// statOf returns the stat file of the device that holds a directory.
func statOf(t *testing.T, sys, dir string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(deviceOf(sys, st.Dev), "stat")
}

// TestDiskBusy has directories on two devices: the one of temporary files, and the one of /proc.
func TestDiskBusy(t *testing.T) {
	dir, sys := t.TempDir(), t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	busy := func(want time.Duration, wrong string, dirs ...string) {
		t.Helper()
		got, err := DiskBusy(sys, dirs)
		if got != want || (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%v, %v; want %v, %q", got, err, want, wrong)
		}
	}
	busy(0, "")
	busy(0, "", dir, sub, "/proc")
	file := put(t, []byte(line), statOf(t, sys, dir))
	busy(124444*time.Millisecond, "", dir)
	busy(124444*time.Millisecond, "", dir, sub, "/proc")
	other := put(t, []byte("0 0 0 0 0 0 0 0 0 7"), statOf(t, sys, "/proc"))
	busy(62225*time.Millisecond, "", dir, sub, "/proc")
	busy(124444*time.Millisecond, "stat "+filepath.Join(dir, "gone")+": no such", filepath.Join(dir, "gone"), dir)
	put(t, []byte("0 0 0"), other)
	busy(124444*time.Millisecond, other+": it has 3 numbers; want 10 or more", dir, "/proc")
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o755)); err != nil {
		t.Fatal(err)
	}
	busy(0, "read "+file, dir)
}

// A partition counts as its disk, and a non-rotating disk does not count.
func TestDiskOfPartition(t *testing.T) {
	dir, sys := t.TempDir(), t.TempDir()
	device := filepath.Dir(statOf(t, sys, dir))
	disk := filepath.Join(sys, "disk")
	if err := errors.Join(os.MkdirAll(filepath.Join(disk, "part"), 0o755), os.MkdirAll(filepath.Dir(device), 0o755), os.Symlink(filepath.Join(disk, "part"), device)); err != nil {
		t.Fatal(err)
	}
	put(t, []byte("1\n"), filepath.Join(disk, "part", "partition"))
	put(t, []byte("0 0 0 0 0 0 0 0 0 7"), filepath.Join(disk, "part", "stat"))
	put(t, []byte(line), filepath.Join(disk, "stat"))
	for text, want := range map[string]time.Duration{"1\n": 124444 * time.Millisecond, "0\n": 0} {
		put(t, []byte(text), filepath.Join(disk, "queue", "rotational"))
		if got, err := DiskBusy(sys, []string{dir}); got != want || err != nil {
			t.Errorf("rotational: %q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseStat(t *testing.T) {
	for text, tt := range map[string]struct {
		busy int64
		want string // of the error
	}{
		line:                                {124444, ""},
		"0 0 0 0 0 0 0 0 0 1099511627776":   {maxBusy, ""},
		"":                                  {0, "it has 0 numbers; want 10 or more"},
		"0 0 0 0 0 0 0 0 0":                 {0, "it has 9 numbers"},
		"0 0 0 0 0 0 0 0 0 x1 0":            {0, `number 10 is "x1"; want 0 to 1099511627776 milliseconds`},
		"0 0 0 0 0 0 0 0 0 -1":              {0, `number 10 is "-1"`},
		"0 0 0 0 0 0 0 0 0 1099511627777 0": {0, `number 10 is "1099511627777"`},
		"0 0 0 0 0 0 0 0 0 9223372036854775808 0": {0, `number 10 is "9223372036854775808"`},
	} {
		busy, err := parseStat([]byte(text))
		if busy != tt.busy || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %d, %v", text, busy, err)
		}
	}
}

// TestThisMachine checks that the disk under temporary files, if there is one, was busy for no longer than the machine
// has run.
func TestThisMachine(t *testing.T) {
	dir := t.TempDir()
	if _, err := os.Stat(statOf(t, "/sys", dir)); errors.Is(err, fs.ErrNotExist) {
		t.Skip("temporary files lie on no block device: ", err)
	}
	if busy, err := DiskBusy("/sys", []string{dir}); busy == 0 && err == nil {
		t.Skip("temporary files lie on a disk that does not rotate")
	}
	var up unix.Sysinfo_t
	before, err1 := DiskBusy("/sys", []string{dir})
	after, err2 := DiskBusy("/sys", []string{dir})
	if err := errors.Join(err1, err2, unix.Sysinfo(&up)); err != nil {
		t.Fatal(err)
	}
	if most := time.Duration(up.Uptime+1) * time.Second; before > after || after > most {
		t.Errorf("busy for %v, then for %v; the machine has run for %v", before, after, most)
	}
}

// FuzzDiskStat looks for a file that breaks the reader, or that makes it accept an impossible value.
func FuzzDiskStat(f *testing.F) {
	f.Add([]byte(line))
	f.Add([]byte("0 0 0 0 0 0 0 0 0 1099511627777"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if busy, err := parseStat(data); busy < 0 || busy > maxBusy || err != nil && busy != 0 {
			t.Errorf("%d with %v", busy, err)
		}
	})
}
