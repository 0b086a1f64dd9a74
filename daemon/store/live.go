package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// askPatience is how long each side of a copy waits for the other to go on. The asking side waits without limit for the
// first byte: the copy is made before, after all copies that were asked for earlier. The end of the store ends that.
const askPatience = time.Minute

// acceptPause is the pause after a connection could not be accepted.
const acceptPause = time.Second

// socketOf returns the socket for asking the process that has the store open for copies. Its folder keeps others out.
func socketOf(path string) string { return path + ".sock" }

// A giver hands out copies of an open store.
type giver struct {
	store *Store
	ln    net.Listener
	ended chan struct{}
}

// Give lets processes that may read the store's folder ask for copies of it while it is open: see [Backup].
func (s *Store) Give() error {
	at := socketOf(s.path)
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a process that was killed
		return err
	}
	ln, err := net.Listen("unix", at)
	if err != nil {
		return err
	}
	s.give(ln)
	return nil
}

func (s *Store) give(ln net.Listener) {
	s.giver = &giver{s, ln, make(chan struct{})}
	go s.giver.run()
}

func (g *giver) run() {
	defer close(g.ended)
	debug.SetPanicOnFault(true) // as in [Store.run]
	for {
		c, err := g.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the process may have no file descriptor left
			select {
			case <-g.store.stop:
				return
			case <-time.After(acceptPause):
				continue
			}
		}
		stop := make(chan struct{})
		go func() {
			select {
			case <-g.store.stop:
			case <-stop:
			}
			_ = c.Close() // the asking side sees that the copy is incomplete
		}()
		g.give(c)
		close(stop)
	}
}

// close ends the giver. The store's stop must be closed before.
func (g *giver) close() {
	if g == nil {
		return
	}
	_ = g.ln.Close()
	<-g.ended
}

// give sends a copy, as its number of bytes and the bytes, or the reason why there is none.
func (g *giver) give(c net.Conn) {
	f, size, err := g.store.snapshot()
	to := &patient{c, askPatience}
	if err != nil {
		_, _ = fmt.Fprintf(to, "%s\n", strings.ReplaceAll(err.Error(), "\n", " ")) // if the asking side does not hear it, it has gone
		return
	}
	defer func() { _ = f.Close() }() // it has no name
	if _, err = fmt.Fprintf(to, "%d\n", size); err == nil {
		_, _ = io.Copy(to, f)
	}
}

// snapshot returns a copy of the current store in an unnamed file, positioned at its beginning. Commits go on
// meanwhile. The copy is not sent directly: during the read transaction freed pages are not reused, and a commit that
// needs a larger mmap waits. The asking side must not decide how long that takes.
func (s *Store) snapshot() (f *os.File, size int64, err error) {
	defer func() {
		if err != nil && f != nil {
			f, err = nil, errors.Join(err, f.Close())
		}
	}()
	defer caught(&err)
	dir := filepath.Dir(s.path)
	if f, err = os.CreateTemp(dir, filepath.Base(s.path)+".copy-*"); err != nil {
		return nil, 0, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		err = s.db.View(func(tx *bbolt.Tx) error {
			size = tx.Size()
			if free, need := spare(dir), size+2*Reserve; free >= 0 && free < need {
				return fmt.Errorf("the disk of %s has no room for a copy: %.1f MiB are free there, and %.1f MiB are needed", dir, mebi(free), mebi(need))
			}
			_, err := tx.WriteTo(ending{f, s.stop})
			return err
		})
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return f, size, err
}

// An ending writer fails once the store closes.
type ending struct {
	to   io.Writer
	stop <-chan struct{}
}

func (e ending) Write(b []byte) (int, error) {
	select {
	case <-e.stop:
		return 0, ErrClosed
	default:
		return e.to.Write(b)
	}
}

// A patient connection waits at most patience for the other side to go on; 0 means for ever.
type patient struct {
	net.Conn
	patience time.Duration
}

func (p *patient) Write(b []byte) (int, error) {
	_ = p.SetWriteDeadline(p.until()) // a closed connection fails below
	return p.Conn.Write(b)
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.SetReadDeadline(p.until())
	return p.Conn.Read(b)
}

func (p *patient) until() time.Time {
	if p.patience == 0 {
		return time.Time{}
	}
	return time.Now().Add(p.patience)
}

// ask asks the process that has the store at path open to write a copy to a new file. there is false if no process has
// it open, or can be asked.
func ask(path, to string, patience time.Duration) (there bool, err error) {
	c, err := net.DialTimeout("unix", socketOf(path), patience)
	if err != nil {
		return false, nil //nolint:nilerr // the lock says why
	}
	defer func() { _ = c.Close() }() // it was only read
	from := &patient{Conn: c}
	in := bufio.NewReader(from)
	line, err := in.ReadString('\n')
	if err != nil {
		return true, fmt.Errorf("the ResourceManager that uses it did not send a copy: %w", err)
	}
	from.patience = patience
	size, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return true, fmt.Errorf("the ResourceManager that uses it did not send a copy: %s", strings.TrimSpace(line))
	}
	return true, newFile(to, func(f io.Writer) error {
		_, err := io.CopyN(f, in, size)
		if errors.Is(err, io.EOF) {
			err = errors.New("the ResourceManager that uses it ended before the copy was complete")
		}
		return err
	})
}
