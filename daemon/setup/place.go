package setup

import (
	"errors"
	"fmt"

	"heddle/conf"
	"heddle/rm"
)

const defaultQueue = "root.default"

// placer returns the function that places applications. Its errors are for users, and use the words of Hadoop's errors
// that programs look for. Those of groups are returned as they are: nobody knows then where the application belongs.
func placer(t *tree, groups func(string) ([]string, error)) func(rm.Placement) (string, error) {
	return func(a rm.Placement) (string, error) {
		if t.rules == nil {
			return defaultQueue, nil
		}
		var in []string
		if t.rules.NeedsGroups(a.Queue, a.User) { // looking them up may take a while
			var err error
			if in, err = groups(a.User); err != nil {
				return "", err
			}
		}
		path, _, err := t.rules.Place(a.Queue, a.User, in)
		if err != nil {
			return "", refused(&a, err)
		}
		if state := t.stopped(path); state != "" {
			return "", fmt.Errorf("submitted by user %s to queue %s: it is %s and cannot accept submission of applications", a.User, path, state)
		}
		return path, nil
	}
}

// refused returns the error that says why an application has no queue.
func refused(a *rm.Placement, err error) error {
	for _, kind := range []error{conf.ErrUnknownQueue, conf.ErrNotLeaf, conf.ErrAmbiguousQueue} {
		if errors.Is(err, kind) {
			return fmt.Errorf("submitted by user %s to %w: %s: %w", a.User, kind, a.Queue, err)
		}
	}
	return fmt.Errorf("submitted by user %s to queue %s: %w", a.User, a.Queue, err)
}
