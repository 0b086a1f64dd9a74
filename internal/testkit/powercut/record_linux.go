package powercut

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Recording is the record of a running program. The kernel reports each call that changes files before it is carried
// out (seccomp_unotify(2)), so the program need not know that it is recorded. Syncs are answered in the kernel's place:
// what they make durable is durable only in the recording.
type Recording struct {
	dir      string
	listener int
	stop     [2]*os.File
	ended    chan struct{}

	mu  sync.Mutex
	ops []Op
	err error // for the first call that could not be recorded
}

// Start starts a program and records what it does in a folder and what it says.
func Start(cmd *exec.Cmd, dir string) (*Recording, error) {
	r := &Recording{dir: dir, ended: make(chan struct{})}
	var err error
	if r.stop[0], r.stop[1], err = os.Pipe(); err != nil {
		return nil, err
	}
	started := make(chan error)
	go func() {
		// The filter applies to this thread and to what the thread starts. The thread ends with this function.
		runtime.LockOSThread()
		listener, err := listen()
		if err == nil {
			r.listener = listener
			go r.serve()
			err = cmd.Start()
		}
		started <- err
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(err, r.stop[0].Close(), r.stop[1].Close())
	}
	return r, nil
}

// End ends the recording of a program that has ended, and returns its operations.
func (r *Recording) End() ([]Op, error) {
	err := r.stop[1].Close()
	<-r.ended
	return r.ops, errors.Join(err, r.err, r.stop[0].Close(), unix.Close(r.listener))
}

// The recorded calls: of write, only those to standard output; of openat, only those that may create a file.
var recorded = []uint32{
	unix.SYS_PWRITE64, unix.SYS_WRITE, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FTRUNCATE, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_OPENAT,
}

// listen installs a filter on this thread that reports those calls, and returns the descriptor on which it does.
func listen() (int, error) {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		bits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		say   = unix.BPF_RET | unix.BPF_K
		// Offsets of a call's number and of the lower halves of its arguments, on little-endian machines.
		number, first, third = 0, 16, 32
	)
	// After the list: allow, check what an openat is for, check where a write goes, notify.
	n := len(recorded)
	f := []unix.SockFilter{{Code: load, K: number}}
	for i, nr := range recorded {
		to := uint8(n - 1 - i) // in what follows the list
		switch nr {
		case unix.SYS_OPENAT:
			to++
		case unix.SYS_WRITE:
			to += 3
		default:
			to += 5
		}
		f = append(f, unix.SockFilter{Code: equal, Jt: to, K: nr})
	}
	f = append(f,
		unix.SockFilter{Code: say, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: load, K: third}, // openat
		unix.SockFilter{Code: bits, Jt: 2, Jf: 3, K: unix.O_CREAT},
		unix.SockFilter{Code: load, K: first}, // write
		unix.SockFilter{Code: equal, Jt: 0, Jf: 1, K: 1},
		unix.SockFilter{Code: say, K: unix.SECCOMP_RET_USER_NOTIF},
		unix.SockFilter{Code: say, K: unix.SECCOMP_RET_ALLOW},
	)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	p := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return -1, fmt.Errorf("the kernel does not tell of calls (seccomp): %w", errno)
	}
	return int(fd), nil
}

// What the kernel reports, and the replies to it, as in linux/seccomp.h.
type (
	notice struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	reply struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}
)

const (
	receive = 0xC0502100 // _IOWR('!', 0, notice)
	send    = 0xC0182101 // _IOWR('!', 1, reply)
	valid   = 0x40082102 // _IOW('!', 2, the notice's id)
	goOn    = 1
)

// serve records until the program has ended.
func (r *Recording) serve() {
	defer close(r.ended)
	for {
		wait := []unix.PollFd{{Fd: int32(r.listener), Events: unix.POLLIN}, {Fd: int32(r.stop[0].Fd())}}
		if _, err := unix.Poll(wait, -1); err != nil && !errors.Is(err, unix.EINTR) {
			r.failed(err)
			return
		}
		switch {
		case wait[0].Revents&unix.POLLIN != 0:
			r.next()
		case wait[0].Revents != 0 || wait[1].Revents != 0:
			return
		}
	}
}

func (r *Recording) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// next records a call and lets it proceed.
func (r *Recording) next() {
	var n notice
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), receive, uintptr(unsafe.Pointer(&n))); errno != 0 {
		if errno != unix.ENOENT && errno != unix.EINTR { // the caller was killed in the meantime
			r.failed(errno)
		}
		return
	}
	o, ours, synced, err := r.read(&n)
	if err != nil && r.waits(&n) {
		r.failed(fmt.Errorf("recording call %d: %w", n.nr, err))
	}
	a := reply{id: n.id, flags: goOn}
	if synced {
		a.flags = 0
	}
	if ours && err == nil {
		r.mu.Lock()
		r.ops = append(r.ops, o)
		r.mu.Unlock()
	}
	// The caller may be dead by now.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), send, uintptr(unsafe.Pointer(&a)))
}

// waits reports whether the caller of a notice still waits. One that was killed in the meantime does not, even if it is
// not gone yet.
func (r *Recording) waits(n *notice) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), valid, uintptr(unsafe.Pointer(&n.id)))
	return errno == 0
}

// read returns the operation of a call, whether it is in the folder, and whether it is a sync.
func (r *Recording) read(n *notice) (o Op, ours, synced bool, err error) {
	a := n.args
	switch n.nr {
	case unix.SYS_WRITE:
		o.Kind = Say
		o.Data, err = memory(n.pid, a[1], a[2])
		return o, true, false, err
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		o.Kind = Rename
		if o.Name, err = r.name(n.pid, a[1]); err == nil {
			o.To, err = r.name(n.pid, a[3])
		}
		return o, o.Name != "" && o.To != "", false, err
	case unix.SYS_UNLINKAT:
		o.Kind = Remove
		o.Name, err = r.name(n.pid, a[1])
		return o, o.Name != "" && r.there(o.Name), false, err
	case unix.SYS_OPENAT:
		return r.create(n)
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.pid, a[0]))
	switch {
	case err != nil:
		return o, false, false, err
	case path == r.dir:
		return Op{Kind: SyncFolder}, true, true, nil
	case filepath.Dir(path) != r.dir:
		return o, false, false, nil
	}
	if o.File, err = inode(fmt.Sprintf("/proc/%d/fd/%d", n.pid, a[0])); err != nil {
		return o, false, false, err
	}
	switch n.nr {
	case unix.SYS_PWRITE64:
		o.Kind, o.At = Write, int64(a[3])
		o.Data, err = memory(n.pid, a[1], a[2])
	case unix.SYS_FTRUNCATE:
		o.Kind, o.At = Resize, int64(a[1])
	default:
		o.Kind, synced = Sync, true
	}
	return o, true, synced, err
}

// create creates the file that a call is about to open, if it is not there, so that its inode is known.
func (r *Recording) create(n *notice) (o Op, ours, synced bool, err error) {
	o.Kind = Create
	if o.Name, err = r.name(n.pid, n.args[1]); err != nil || o.Name == "" || r.there(o.Name) {
		return o, false, false, err
	}
	path := filepath.Join(r.dir, o.Name)
	if n.args[2]&unix.O_EXCL != 0 {
		return o, false, false, fmt.Errorf("%s is opened with O_EXCL, which is not recorded", path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, os.FileMode(n.args[3]))
	if err != nil {
		return o, false, false, err
	}
	if err := f.Close(); err != nil {
		return o, false, false, err
	}
	o.File, err = inode(path)
	return o, true, false, err
}

func (r *Recording) there(name string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, name))
	return err == nil
}

// name returns the name of a file in the folder, or "" for a file elsewhere.
func (r *Recording) name(pid uint32, at uint64) (string, error) {
	const most = 4096
	var path []byte
	for len(path) < most { // in pieces that cross no page boundary: there may be nothing behind it
		part, err := memory(pid, at, 512-at%512)
		if err != nil {
			return "", err
		}
		head, _, ends := bytes.Cut(part, []byte{0})
		path, at = append(path, head...), at+uint64(len(part))
		if ends {
			break
		}
	}
	if name, ok := strings.CutPrefix(string(path), r.dir+"/"); ok && !strings.Contains(name, "/") {
		return name, nil
	}
	return "", nil
}

// memory returns a part of a process's memory.
func memory(pid uint32, at, size uint64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	b := make([]byte, size)
	n, err := unix.ProcessVMReadv(int(pid), []unix.Iovec{{Base: &b[0], Len: size}}, []unix.RemoteIovec{{Base: uintptr(at), Len: int(size)}}, 0)
	if err == nil && n != len(b) {
		err = fmt.Errorf("%d bytes of %d can be read", n, size)
	}
	return b, err
}

func inode(path string) (uint64, error) {
	var st syscall.Stat_t
	err := syscall.Stat(path, &st)
	return st.Ino, err
}
