package daemon

import (
	"context"
	"errors"

	"heddle/rm"
	"heddle/yarn/rpc"
)

// ErrStopping says that the ResourceManager is shutting down; callers should retry.
var ErrStopping = errors.New("the ResourceManager is stopping")

// ErrNoGroups says that a user's groups are not known because they could not be looked up; callers should retry.
var ErrNoGroups = errors.New("groups cannot be looked up")

// Java classes of exceptions after which a call is to be made again.
const (
	classRetry    = "org.apache.hadoop.ipc.RetriableException"
	classNotReady = "org.apache.hadoop.yarn.exceptions.NMNotYetReadyException" // of NodeManagers that have not registered yet
)

// byClass wraps a handler so that its errors name the Java class its caller acts on.
func byClass[Q, P any](f func(context.Context, *rpc.Call, Q) (P, error)) func(context.Context, *rpc.Call, Q) (P, error) {
	return func(ctx context.Context, c *rpc.Call, q Q) (P, error) {
		p, err := f(ctx, c, q)
		if bad := (*rm.Invalid)(nil); errors.As(err, &bad) {
			err = &rpc.Error{Class: bad.Class, Message: bad.Text}
		} else if errors.Is(err, ErrStopping) || errors.Is(err, ErrBusy) {
			err = &rpc.Error{Class: classRetry, Message: err.Error()}
		}
		return p, err
	}
}
