package store

import (
	"bufio"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// given returns an open store that can be asked for copies, beside what a killed process left.
func given(t *testing.T) (s *Store, path string) {
	t.Helper()
	path = place(t)
	must(t, os.MkdirAll(filepath.Dir(path), folderMode))
	must(t, os.WriteFile(socketOf(path), nil, fileMode))
	s, _ = mustOpen(t, path)
	must(t, s.Give())
	return s, path
}

// A copy of a store that is being written to has everything acknowledged before the request, and of each commit all or
// nothing. Commits go on meanwhile.
func TestBackupOfOpenStore(t *testing.T) {
	s, path := given(t)
	acknowledged, stop := make(chan int32, 1), make(chan struct{})
	acknowledged <- 0
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := int32(1); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := commitNow(s, PutApp(App{ID: app(n), Context: make([]byte, 3000)}), PutAttempt(Attempt{ID: attempt(n, 1)})); err != nil {
				t.Error(err)
				return
			}
			<-acknowledged
			acknowledged <- n
		}
	}()
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c", "d"} {
		before := <-acknowledged
		acknowledged <- before
		to := filepath.Join(dir, name)
		r, err := Backup(path, to)
		must(t, err)
		info, err := os.Stat(to)
		must(t, err)
		if info.Mode().Perm() != fileMode || r.Records["apps"] < int(before) || r.Records["apps"] != r.Records["attempts"] {
			t.Errorf("a copy with mode %o has %v, and %d were acknowledged before", info.Mode().Perm(), r.Records, before)
		}
		must(t, os.Chmod(dir, folderMode))
		copied, state := mustOpen(t, to)
		if len(state.Bad) > 0 || state.Salvaged != nil || len(state.Apps) != r.Records["apps"] {
			t.Errorf("the copy has %d applications, %v", len(state.Apps), state.Bad)
		}
		must(t, copied.Close())
		if _, err := Backup(path, to); err == nil {
			t.Error("a copy is overwritten")
		}
		for n := before; n < before+5; { // commits go on
			n = <-acknowledged
			acknowledged <- n
		}
	}
	close(stop)
	<-ended
	must(t, s.Close())
	list, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	if len(list) != 2 { // the store and its lock
		t.Errorf("left are %v", list)
	}
}

// A caller that asks for a copy and does not take it delays neither commits, although the file grows many times over,
// nor the end.
func TestCopyThatNobodyTakes(t *testing.T) {
	s, path := given(t)
	must(t, commitNow(s, PutApp(App{ID: app(1), Context: make([]byte, 4<<20)})))
	c, err := net.Dial("unix", socketOf(path))
	must(t, err)
	line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
	if err != nil || len(line) < 7 {
		t.Fatalf("%q, %v", line, err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = c.Close() })
	for n := range int32(16) {
		must(t, commitNow(s, PutApp(App{ID: app(n), Context: make([]byte, 4<<20)})))
	}
	must(t, s.Close())
	if !late.Stop() {
		t.Error("they waited until whoever asked had gone")
	}
	must(t, c.Close())
}

// A damaged store is not copied, and nothing is left of the copy.
func TestDamagedOpenStore(t *testing.T) {
	path, _ := realistic(t)
	s, _ := mustOpen(t, path)
	must(t, s.Give())
	content, err := os.ReadFile(path)
	must(t, err)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	size := os.Getpagesize()
	_, err = f.WriteAt(make([]byte, size), int64(pagesOf(t, content, flagLeaf)[0])*int64(size))
	must(t, errors.Join(err, f.Close()))
	to := filepath.Join(t.TempDir(), "copy")
	if _, err := Backup(path, to); err == nil || !strings.Contains(err.Error(), "heddle store repair") {
		t.Errorf("a damaged store is copied: %v", err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("the copy is left")
	}
	must(t, s.Close())
}

// A copy takes no room that the store may need.
func TestNoRoomForACopy(t *testing.T) {
	dir := disk(t, 128<<20)
	path := filepath.Join(dir, "data", "rm.db")
	s, _ := mustOpen(t, path)
	must(t, s.Give())
	must(t, commitNow(s, PutApp(App{ID: app(1), Context: make([]byte, 4<<20)})))
	lift := ballast(t, dir, 2*Reserve)
	to := filepath.Join(t.TempDir(), "copy")
	if _, err := Backup(path, to); err == nil || !strings.Contains(err.Error(), "has no room for a copy: 32.0 MiB are free there") {
		t.Error(err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("half of a copy is left")
	}
	lift()
	_, err := Backup(path, to)
	must(t, errors.Join(err, s.Close()))
}

// Making a copy may take any time, both for the caller that asked for it and for others that wait for their turn.
func TestCopyThatTakesLong(t *testing.T) {
	const patience = 50 * time.Millisecond
	path := filepath.Join(t.TempDir(), "rm.db")
	ln, err := net.Listen("unix", socketOf(path))
	must(t, err)
	asked := make(chan error)
	for _, name := range []string{"a", "b"} {
		go func() {
			_, err := ask(path, path+name, patience)
			asked <- err
		}()
	}
	for range 2 {
		c, err := ln.Accept()
		must(t, err)
		select {
		case err := <-asked:
			t.Fatalf("whoever asked has not waited: %v", err)
		case <-time.After(10 * patience):
		}
		_, err = c.Write([]byte("3\nabc"))
		must(t, errors.Join(err, <-asked, c.Close()))
	}
	must(t, ln.Close())
}

// The asking side does not wait for a copy that stops coming.
func TestCopyThatStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rm.db")
	ln, err := net.Listen("unix", socketOf(path))
	must(t, err)
	asked := make(chan error)
	go func() {
		_, err := ask(path, path+".copy", 50*time.Millisecond)
		asked <- err
	}()
	c, err := ln.Accept()
	must(t, err)
	_, err = c.Write([]byte("3\nab"))
	must(t, err)
	if err := <-asked; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v; want that it took too long", err)
	}
	must(t, errors.Join(c.Close(), ln.Close()))
}

// A copy that is not finished does not have the name of one that is: if the command is killed, nobody goes back to half
// of a store, or to one without the mark of a copy.
func TestUnfinishedCopy(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "rm.db"), t.TempDir()
	ln, err := net.Listen("unix", socketOf(path))
	must(t, err)
	asked := make(chan error)
	go func() {
		_, err := Backup(path, filepath.Join(dir, "copy"))
		asked <- err
	}()
	c, err := ln.Accept()
	must(t, err)
	_, err = c.Write([]byte("3\nab"))
	must(t, err)
	var list []os.DirEntry
	for end := time.Now().Add(10 * time.Second); len(list) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		list, err = os.ReadDir(dir)
		must(t, err)
	}
	if len(list) != 1 || !strings.HasPrefix(list[0].Name(), "copy.part-") {
		t.Errorf("while the copy comes there are %v", list)
	}
	must(t, errors.Join(c.Close(), ln.Close()))
	if err := <-asked; err == nil {
		t.Error("half of a copy is no error")
	}
	list, err = os.ReadDir(dir)
	must(t, err)
	if len(list) > 0 {
		t.Errorf("left are %v", list)
	}
}

// The end of the store ends the wait of callers whose turn has not come.
func TestEndWhileCopiesWait(t *testing.T) {
	s, path := given(t)
	must(t, commitNow(s, PutApp(App{ID: app(1), Context: make([]byte, 4<<20)})))
	first, err := net.Dial("unix", socketOf(path)) // it takes nothing
	must(t, err)
	_, err = first.Read(make([]byte, 1))
	must(t, err)
	second, err := net.Dial("unix", socketOf(path))
	must(t, err)
	must(t, s.Close())
	must(t, second.SetReadDeadline(time.Now().Add(time.Minute)))
	if _, err := second.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v; want that the other side has gone", err)
	}
	must(t, errors.Join(first.Close(), second.Close()))
}

// A tired listener has no file descriptor for the first connections.
type tired struct {
	net.Listener
	left int
}

func (l *tired) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// A caller that cannot be accepted for a while can be later, and the end does not wait for that.
func TestCopyAfterFailedAccept(t *testing.T) {
	for _, failures := range []int{1, 1 << 30} {
		s, path := given(t)
		s.giver.close()
		ln, err := net.Listen("unix", socketOf(path))
		must(t, err)
		s.give(&tired{ln, failures})
		if failures == 1 {
			_, err := Backup(path, filepath.Join(t.TempDir(), "copy"))
			must(t, err)
		}
		must(t, s.Close())
	}
}

// If a copy fails in an unforeseen way, its file is closed.
func TestCopyPanics(t *testing.T) {
	dir := t.TempDir()
	f, _, err := (&Store{path: filepath.Join(dir, "rm.db")}).snapshot() // it has no database
	if f != nil || err == nil {
		t.Fatalf("%v, %v", f, err)
	}
	const own = "/proc/self/fd"
	list, err := os.ReadDir(own)
	if err != nil {
		t.Skip(err)
	}
	for _, fd := range list {
		if to, _ := os.Readlink(filepath.Join(own, fd.Name())); strings.HasPrefix(to, dir) {
			t.Errorf("%s is still open", to)
		}
	}
}
