package clients

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"google.golang.org/protobuf/proto"

	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/rpc"
)

// message is a message on the wire.
type message = proto.Message

// Java exception classes that these clients act on, besides those that package rpc names.
const (
	yarnExceptions = "org.apache.hadoop.yarn.exceptions."

	classNoApp      = yarnExceptions + "ApplicationNotFoundException"
	classNoAttempt  = yarnExceptions + "ApplicationAttemptNotFoundException"
	classNoCont     = yarnExceptions + "ContainerNotFoundException"
	classNotEnabled = yarnExceptions + "YARNFeatureNotEnabledException"
	classRetry      = "org.apache.hadoop.ipc.RetriableException"
)

// javaError gives an error of the daemon the Java class that its reader acts on. An error without a class of its own
// becomes a YarnException, which nobody retries; java.io.IOException would be retried for a quarter of an hour.
func javaError(err error) error {
	var (
		answer  *rpc.Error
		missing *rm.NotFound
		denied  *rm.Denied
		bad     *rm.Invalid
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		return answer
	case errors.As(err, &missing):
		return &rpc.Error{Class: missingClass(missing.What), Message: err.Error()}
	case errors.As(err, &denied):
		return &rpc.Error{Class: rpc.ClassAccessControl, Message: err.Error()}
	case errors.As(err, &bad) && bad.Class != "":
		return &rpc.Error{Class: bad.Class, Message: err.Error()}
	case errors.Is(err, daemon.ErrStopping), errors.Is(err, daemon.ErrBusy), errors.Is(err, daemon.ErrNoGroups):
		return &rpc.Error{Class: classRetry, Message: err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &rpc.Error{Class: classRetry, Message: "the ResourceManager could not answer in time: " + err.Error()}
	default:
		return yarnError("%v", err)
	}
}

// missingClass returns the exception for something that does not exist. The text of its id says what it is.
func missingClass(what string) string {
	switch {
	case strings.Contains(what, "appattempt_"):
		return classNoAttempt
	case strings.Contains(what, "container_"):
		return classNoCont
	case strings.Contains(what, "application_"):
		return classNoApp
	default:
		return rpc.ClassYarn
	}
}

func yarnError(format string, args ...any) *rpc.Error {
	return &rpc.Error{Class: rpc.ClassYarn, Message: fmt.Sprintf(format, args...)}
}

func deniedError(format string, args ...any) *rpc.Error {
	return &rpc.Error{Class: rpc.ClassAccessControl, Message: fmt.Sprintf(format, args...)}
}

// address returns the address a call comes from, without the port.
func address(call *rpc.Call) string {
	if a := call.Addr.Addr().Unmap(); a != (netip.Addr{}) {
		return a.String()
	}
	return ""
}
