package procs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const id = "container_1700000000000_0001_01_000002"

// put writes a pid file as a NodeManager does.
func put(t *testing.T, dir, id, text string) string {
	t.Helper()
	folder := filepath.Join(dir, "nmPrivate", "application_1700000000000_0001", id)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, id+".pid")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// session runs what a NodeManager starts for a container.
func session(t *testing.T, container string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "CONTAINER_ID="+container)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range members(t, cmd.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = cmd.Wait()
	})
	return cmd
}

// members returns the processes of a session.
func members(t *testing.T, leader int) []int {
	t.Helper()
	pids, err := Session(leader)
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

func TestFind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[local]*")
	cmd := session(t, id, "sh", "-c", "sleep 60 & exec sleep 60 # attempt_1700000000000_0001_m_000003_0")
	file := put(t, dir, id, strconv.Itoa(cmd.Process.Pid)+"\n")
	put(t, dir, "container_1700000000000_0001_01_000003", strconv.Itoa(os.Getppid()))
	put(t, dir, "container_1700000000000_0001_01_000004", "1")
	put(t, dir, "container_1700000000000_0001_01_000005", "no number")
	put(t, dir, "container_..", strconv.Itoa(cmd.Process.Pid))
	f, err := New([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	list := f.Find()
	for range 50 { // while the shell becomes another program it has no environment
		if len(list) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
		list = f.Find()
	}
	if len(list) != 1 || list[0].ID != id || list[0].PID != cmd.Process.Pid || list[0].Start == 0 {
		t.Fatalf("found %+v", list)
	}
	if n := len(members(t, cmd.Process.Pid)); n != 2 {
		for range 50 {
			time.Sleep(10 * time.Millisecond)
			n = len(members(t, cmd.Process.Pid))
		}
		if n != 2 {
			t.Errorf("the session has %d processes, want 2", n)
		}
	}

	// Its leader ends and a child lives on: the container exists as long as the child.
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if again := f.Find(); len(again) != 1 || again[0] != list[0] {
		t.Errorf("without its leader: %+v, want %+v", again, list)
	}
	// A Finder that has not seen the leader cannot know that the session is the container's.
	if other, _ := New([]string{dir}); len(other.Find()) != 0 {
		t.Error("a leader that is gone was taken for another")
	}
	for _, pid := range members(t, cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for range 100 {
		if len(f.Find()) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if left := f.Find(); len(left) != 0 {
		t.Errorf("all are gone: %+v", left)
	}
	_ = os.Remove(file)
}

// A process whose number is in a pid file belongs to a container only if its environment says so: anybody may have
// written the file, and the number may have been reused. Clocks do not matter.
func TestForeignPID(t *testing.T) {
	for name, container := range map[string]string{"of no container": "", "of another container": "container_1700000000000_0001_01_000003", "its own": id} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := session(t, container, "sleep", "60")
			file := put(t, dir, id, strconv.Itoa(cmd.Process.Pid))
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
			f, err := New([]string{dir})
			if err != nil {
				t.Fatal(err)
			}
			if list := f.Find(); len(list) > 0 != (container == id) {
				t.Errorf("found %+v", list)
			}
			f.known[id] = &found{Container: Container{ID: id, PID: cmd.Process.Pid, Start: 1}}
			if list := f.Find(); len(list) > 0 != (container == id) || len(list) > 0 && list[0].Start == 1 {
				t.Errorf("where another had its number: %+v", list)
			}
		})
	}
}

// A container has one name, the one that YARN writes: whoever may write pid files adds no others with more or fewer zeros.
func TestOneName(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, id, strconv.Itoa(session(t, id, "sleep", "60").Process.Pid))
	for _, alias := range []string{
		strings.Replace(id, "_01_", "_1_", 1), strings.Replace(id, "_01_", "_"+strings.Repeat("0", 150)+"1_", 1),
		strings.Replace(id, "container_", "container_e00_", 1),
	} {
		put(t, dir, alias, strconv.Itoa(session(t, alias, "sleep", "60").Process.Pid))
	}
	f, err := New([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if list := f.Find(); len(list) != 1 || list[0].ID != id {
		t.Errorf("found %+v", list)
	}
}

// A pid file that is a pipe, a link or without end neither blocks nor takes memory, and the others are found.
func TestHostilePIDFiles(t *testing.T) {
	dir := t.TempDir()
	cmd := session(t, id, "sleep", "60")
	file := put(t, dir, id, strconv.Itoa(cmd.Process.Pid))
	other := func(n int) string {
		t.Helper()
		hostile := put(t, dir, "container_1700000000000_0001_01_00001"+strconv.Itoa(n), "")
		if err := os.Remove(hostile); err != nil {
			t.Fatal(err)
		}
		return hostile
	}
	sparse := other(0)
	if err := errors.Join(
		os.WriteFile(sparse, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600), os.Truncate(sparse, 1<<33),
		os.Symlink(file, other(1)), os.Symlink("/dev/zero", other(2)), syscall.Mkfifo(other(3), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	f, err := New([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	found := make(chan []Container)
	go func() { found <- f.Find() }()
	select {
	case list := <-found:
		if len(list) != 1 || list[0].ID != id {
			t.Errorf("found %+v", list)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for a writer, or for an end")
	}
	for n, want := range []string{"at most 32 bytes", "too many levels", "too many levels", "want a regular file"} {
		if _, err := read(strings.ReplaceAll(file, "000002", "00001"+strconv.Itoa(n))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %q", n, err, want)
		}
	}
}

// The processes of a container with its own pid namespace, such as Docker's, are left to whatever made it.
func TestOtherNamespace(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sleep", "60")
	cmd.Env = append(os.Environ(), "CONTAINER_ID="+id)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWPID}
	if err := cmd.Start(); err != nil {
		t.Skipf("this needs a namespace of process numbers: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	put(t, dir, id, strconv.Itoa(cmd.Process.Pid))
	f, err := New([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if list := f.Find(); len(list) != 0 {
		t.Errorf("found %+v", list)
	}
}

func TestNew(t *testing.T) {
	for _, dirs := range [][]string{nil, {"/nosuch"}, {"/proc/self/stat"}} {
		if _, err := New(dirs); err == nil {
			t.Errorf("%v: no error", dirs)
		}
	}
}

func TestTask(t *testing.T) {
	for want, args := range map[string][]string{
		"attempt_1700000000000_0001_m_000003_0": {"bash", "-c", "java -Xmx1g org.apache.hadoop.mapred.YarnChild 127.0.0.1 1 attempt_1700000000000_0001_m_000003_0 5 1>/x"},
		"attempt_1700000000000_0001_r_000000_1": {"java", "org.apache.hadoop.mapred.YarnChild", "attempt_1700000000000_0001_r_000000_1"},
		"executor_7":                            {"bash", "-c", "java o.a.s.YarnCoarseGrainedExecutorBackend --driver-url x --executor-id 7 --cores 1"},
		"":                                      {"java", "org.apache.hadoop.mapreduce.v2.app.MRAppMaster"},
	} {
		if got := Task(args); got != want {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
}

func TestEnding(t *testing.T) {
	for text, want := range map[string]bool{
		"Name:\tx\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000100\n": true,
		"SigPnd:\t0000000000004000\nShdPnd:\t0000000000000000\n":           true,
		"SigPnd:\t0000000000000000\nShdPnd:\t0000000000000001\n":           false,
		"SigBlk:\t0000000000000100\n":                                      false,
	} {
		if got := ending(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if Ending(os.Getpid()) {
		t.Error("this process was told to end")
	}
}

func TestMeasure(t *testing.T) {
	if u := Measure([]int{os.Getpid(), 1 << 30}); u.RSS < 1<<20 || u.Anon < 1<<18 || u.Anon > u.RSS || u.CPU < 0 {
		t.Errorf("%+v", u)
	}
}
