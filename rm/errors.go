package rm

import (
	"context"
	"errors"
	"fmt"

	"heddle/yarn/rpc"
)

// Java classes of the exceptions that masters and clients act on.
const (
	yarnExceptions = "org.apache.hadoop.yarn.exceptions."

	classAttemptNotFound  = yarnExceptions + "ApplicationAttemptNotFoundException"
	classNotRegistered    = yarnExceptions + "ApplicationMasterNotRegisteredException"
	classInvalidMaster    = yarnExceptions + "InvalidApplicationMasterRequestException"
	classInvalidAsk       = yarnExceptions + "InvalidResourceRequestException"
	classInvalidLabel     = yarnExceptions + "InvalidLabelResourceRequestException"
	classInvalidBlacklist = yarnExceptions + "InvalidResourceBlacklistRequestException"
	classInvalidRelease   = yarnExceptions + "InvalidContainerReleaseException"
	classYarn             = yarnExceptions + "YarnException"
)

// An Actor is who asks for something to be changed. Addr is empty over REST.
type Actor struct{ User, Addr string }

// A NotFound says that there is no such thing.
type NotFound struct{ What string }

// Error says what there is none of.
func (e *NotFound) Error() string { return "there is no " + e.What }

// A Denied says that somebody may not do something.
type Denied struct{ User, Do, What string }

// Error says who may not do what.
func (e *Denied) Error() string {
	return fmt.Sprintf("user %s may not %s %s: access lists are on (yarn.acl.enable), and none that is asked names the user", e.User, e.Do, e.What)
}

// An Invalid says what was wrong with a request. Class is the Java exception that its sender understands.
type Invalid struct{ Class, Text string }

// Error says what was wrong and what would be right.
func (e *Invalid) Error() string { return e.Text }

func invalid(class, format string, args ...any) error {
	return &Invalid{class, fmt.Sprintf(format, args...)}
}

// ErrStopping says that the ResourceManager is on its way out: its callers try again.
var ErrStopping = errors.New("the ResourceManager is stopping")

const classRetry = "org.apache.hadoop.ipc.RetriableException"

// byClass makes a handler's errors ones that name the Java class its caller acts on.
func byClass[Q, P any](f func(context.Context, *rpc.Call, Q) (P, error)) func(context.Context, *rpc.Call, Q) (P, error) {
	return func(ctx context.Context, c *rpc.Call, q Q) (P, error) {
		p, err := f(ctx, c, q)
		if bad := (*Invalid)(nil); errors.As(err, &bad) {
			err = &rpc.Error{Class: bad.Class, Message: bad.Text}
		} else if errors.Is(err, ErrStopping) {
			err = &rpc.Error{Class: classRetry, Message: err.Error()}
		}
		return p, err
	}
}
