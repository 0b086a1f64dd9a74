package facts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"heddle/conf"
)

// files is the file system that submissions are read from.
type files interface {
	// open returns a session of a user, valid until the context ends.
	open(ctx context.Context, user string) (session, error)
}

// A session reads files as one user.
type session interface {
	// read returns the content of a file. Its size in bytes is limited to most.
	read(path string, most int64) ([]byte, error)
	close()
}

// hdfsFiles is the cluster's HDFS. Its NameNodes are those of the configuration, whatever a submission says.
type hdfsFiles struct{ of conf.FileSystem }

func newHDFS(of conf.FileSystem) *hdfsFiles { return &hdfsFiles{of} }

// hdfsSession is a connection to a NameNode, with all other connections opened for it.
type hdfsSession struct {
	client   *hdfs.Client
	deadline time.Time

	mu    sync.Mutex
	conns []net.Conn // guarded by mu
}

func (h *hdfsFiles) open(ctx context.Context, user string) (_ session, err error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil, errors.New("a session of HDFS needs a deadline")
	}
	s := &hdfsSession{deadline: deadline}
	defer func() {
		if err != nil {
			s.closeConns()
		}
	}()
	dialer := &net.Dialer{Timeout: time.Until(deadline) / time.Duration(len(h.of.NameNodes)+1)}
	dial := func(_ context.Context, network, addr string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns = append(s.conns, c)
		return c, c.SetDeadline(deadline)
	}
	err = guarded(func() (err error) {
		s.client, err = hdfs.NewClient(hdfs.ClientOptions{
			Addresses: h.of.NameNodes, User: user, UseDatanodeHostname: h.of.ByName, NamenodeDialFunc: dial, DatanodeDialFunc: dial,
		})
		return err
	})
	return s, err
}

func (s *hdfsSession) read(path string, most int64) (data []byte, err error) {
	err = guarded(func() error {
		f, err := s.client.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		if f.Stat().IsDir() {
			return fmt.Errorf("%s is a folder", path)
		}
		if size := f.Stat().Size(); size > most {
			return fmt.Errorf("%s has %d bytes; at most %d are read", path, size, most)
		}
		if err := f.SetDeadline(s.deadline); err != nil {
			return err
		}
		data, err = io.ReadAll(io.LimitReader(f, most))
		return err
	})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errors.New("HDFS did not answer in time")
	case err != nil && strings.HasSuffix(err.Error(), refusedCall):
		err = errors.New("HDFS refuses the connection: it requires authentication (hadoop.security.authentication), and Heddle does not support Kerberos")
	}
	return data, err
}

// refusedCall ends the library's error if a NameNode refuses the connection: the refusal matches none of its calls.
const refusedCall = "unexpected sequence number"

// close ends the session. The library leaves failed connections to DataNodes open.
func (s *hdfsSession) close() {
	s.closeConns()
	_ = guarded(s.client.Close) // its connection is closed already
}

func (s *hdfsSession) closeConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close() // it may be closed already
	}
}

// guarded runs a function that may panic: the library trusts what DataNodes send.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the answer of HDFS cannot be read: %v", p)
		}
	}()
	return f()
}
