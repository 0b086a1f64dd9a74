//go:build !linux

package powercut

import (
	"errors"
	"os/exec"
)

// A Recording is the record of a running program, on Linux.
type Recording struct{}

var errNotHere = errors.New("programs are recorded on Linux alone")

// Start fails.
func Start(*exec.Cmd, string) (*Recording, error) { return nil, errNotHere }

// End fails.
func (*Recording) End() ([]Op, error) { return nil, errNotHere }

func inode(string) (uint64, error) { return 0, errNotHere }
