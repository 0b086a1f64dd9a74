package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/daemon/store"
	"heddle/yarn/ids"
)

// stored returns a folder with a store of some applications.
func stored(t *testing.T) (data, path string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "state")
	path = filepath.Join(data, store.FileName)
	s, _, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range int32(50) {
		id := ids.App{Cluster: 1700000000000, Seq: n + 1}
		s.Commit(nil, store.PutApp(store.App{ID: id, User: "ann", State: "FINISHED", Context: make([]byte, 500)}), store.PutAttempt(store.Attempt{ID: ids.Attempt{App: id, N: 1}, State: "FINISHED"}))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return data, path
}

// Of a copy that is interrupted, nothing is left.
func TestInterruptedBackup(t *testing.T) {
	data, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(data, store.FileName+".sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }() // nobody else asks
	p := start(t, "store", "backup", "--data", data, to)
	err = ln.SetDeadline(time.Now().Add(stopTime))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // the other side has gone
	if _, err := c.Write([]byte("3\nab")); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return len(filesIn(t, filepath.Dir(to))) > 0 })
	if code, left := p.end(syscall.SIGINT), filesIn(t, filepath.Dir(to)); code != exitFailed || len(left) > 0 {
		t.Errorf("exit code %d, left are %q:\n%s", code, left, p.log())
	}
}

// spoil zeroes all pages that contain a text: those that are free now may contain it too.
func spoil(t *testing.T, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := range slices.Chunk(b, os.Getpagesize()) {
		if strings.Contains(string(page), text) {
			clear(page)
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantSaid runs a command and checks its exit code and its words.
func wantSaid(t *testing.T, code int, words []string, args ...string) string {
	t.Helper()
	out, got := heddleSays(t, args...)
	for _, w := range words {
		if got != code || !strings.Contains(out, w) {
			t.Errorf("%v: %d, want %d and %q:\n%s", args, got, code, w, out)
		}
	}
	return out
}

func TestStore(t *testing.T) {
	data, path := stored(t)
	wantSaid(t, exitDone, []string{path + ": 50 applications, 50 attempts, 0 last runs, 1 start\nnothing is damaged\n"}, "store", "check", "--data", data)
	copied := filepath.Join(t.TempDir(), "copy")
	wantSaid(t, exitDone, []string{copied + " is a copy of " + path}, "store", "backup", "--data", data, copied)
	spoil(t, path, "application_1700000000000_0020")
	wantSaid(t, exitFailed, []string{"damaged: page ", "its header says page 0", "lost: apps: ", " of 50 were on damaged pages: from application_", "heddle store repair"}, "store", "check", "--data", data)
	wantSaid(t, exitFailed, []string{"heddle store repair makes a new store"}, "store", "backup", "--data", data, copied+"2")
	out := wantSaid(t, exitFailed, []string{`"key":"application_1700000000000_0001"`, `"lost":"`, "is damaged; heddle store check shows where"}, "store", "export", path)
	if strings.Contains(out, "Context") {
		t.Error("submissions are exported")
	}
	wantSaid(t, exitDone, []string{"lost: attempts appattempt_", "is a new store of these records; the damaged file is " + path + ".damaged-1"}, "store", "repair", path)
	wantSaid(t, exitDone, []string{"nothing is damaged"}, "store", "check", path)
	wantSaid(t, exitDone, []string{"50 applications"}, "store", "check", copied)
	wantSaid(t, exitFailed, []string{"no such file"}, "store", "check", copied+"3")
	wantSaid(t, exitBad, []string{copied + " names the store, and so do --data and --conf; want only one of them"}, "store", "check", "--data", data, copied)
	wantSaid(t, exitBad, []string{"heddle store repair takes one FILE or none; got 2: a b", "heddle store repair --help shows more"}, "store", "repair", "a", "b")
}

// What check says of the next start is true: it does not mend a store whose only damage is one of the first two pages.
func TestCheckSaysWhatAStartDoes(t *testing.T) {
	data, path := stored(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[20] ^= 1 // in the first page, after its header
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out := wantSaid(t, exitFailed, []string{"damaged: the record of the last commit", "the next start of heddle rm uses what is left"}, "store", "check", "--data", data)
	if strings.Contains(out, "so does the next start") {
		t.Errorf("a start is said to make a new store:\n%s", out)
	}
	s, state, err := store.Open(path)
	if err != nil || state.Salvaged != nil {
		t.Fatalf("%v, %+v", err, state.Salvaged)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A damaged page does not keep the ResourceManager from starting, and the log says what is lost.
func TestStartOnDamagedStore(t *testing.T) {
	data, path := stored(t)
	spoil(t, path, "application_1700000000000_0020")
	p := start(t, "rm", "--data", data, "--listen", freePorts)
	p.until("state: ")
	wantSaid(t, exitFailed, []string{fmt.Sprintf("process %d uses it", p.Process.Pid), "heddle store backup makes one while it runs"}, "store", "check", "--data", data)
	if code := p.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("it ended with %d", code)
	}
	for _, want := range []string{"the store was damaged", "kept=" + path + ".damaged-1", "a page of the store is damaged", "a record was lost with the damaged store", "bucket=attempts key=appattempt_1700000000000_0020_000001"} {
		if !strings.Contains(p.log(), want) {
			t.Errorf("%q is not in\n%s", want, p.log())
		}
	}
	wantSaid(t, exitDone, []string{"nothing is damaged"}, "store", "check", "--data", data)
}

// The store of a running ResourceManager can be copied, and no other command touches it.
func TestBackupWhileItRuns(t *testing.T) {
	data, path := stored(t)
	p := start(t, "rm", "--data", data, "--listen", freePorts)
	p.until("state: ")
	copied := filepath.Join(t.TempDir(), "copy")
	wantSaid(t, exitDone, []string{copied + " is a copy of " + path + ": 50 applications, 50 attempts"}, "store", "backup", "--data", data, copied)
	wantSaid(t, exitFailed, []string{"file exists"}, "store", "backup", "--data", data, copied)
	wantSaid(t, exitFailed, []string{fmt.Sprintf("process %d uses it", p.Process.Pid)}, "store", "repair", "--data", data)
	wantSaid(t, exitDone, []string{"nothing is damaged"}, "store", "check", copied)
	if code := p.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("it ended with %d", code)
	}
	wantSaid(t, exitDone, []string{copied + "2 is a copy of " + path}, "store", "backup", "--data", data, copied+"2")
	for _, from := range []string{copied, copied + "2"} {
		if err := os.Rename(from, path); err != nil {
			t.Fatal(err)
		}
		p := start(t, "rm", "--data", data, "--listen", freePorts)
		p.until("state: ")
		if code := p.end(syscall.SIGTERM); code != exitDone {
			t.Errorf("it ended with %d", code)
		}
		if strings.Count(p.log(), "the store is a copy") != 1 {
			t.Errorf("it does not say once that the store is a copy:\n%s", p.log())
		}
	}
}

// If the page that everything begins with is damaged, the log says that the last commit may be lost.
func TestStartWithoutLastCommit(t *testing.T) {
	data, path := stored(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := uint64(os.Getpagesize())
	number := func(at uint64) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	const root, transaction = 32, 64 // their offsets in each of the first two pages
	newest := uint64(0)
	if number(size+transaction) > number(transaction) {
		newest = size
	}
	at := number(newest+root) * size
	clear(b[at : at+size])
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "rm", "--data", data, "--listen", freePorts)
	p.until("state: ")
	if code := p.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("it ended with %d", code)
	}
	if want := "the record of the store's last commit is damaged; the data may be that of the commit before"; strings.Count(p.log(), want) != 1 {
		t.Errorf("%q is not once in\n%s", want, p.log())
	}
}
