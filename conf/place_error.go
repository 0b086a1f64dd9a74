package conf

import (
	"errors"
	"fmt"
)

// Why an application has no queue: what errors of [CapacityPlacement.Place] and [FairPlacement.Place] wrap.
var (
	ErrUnknownQueue   = errors.New("unknown queue")
	ErrNotLeaf        = errors.New("non-leaf queue")
	ErrAmbiguousQueue = errors.New("ambiguous queue")
)

// A placeError is an error in words of its own that wraps one of the above.
type placeError struct {
	text string
	kind error
}

func (e *placeError) Error() string { return e.text }
func (e *placeError) Unwrap() error { return e.kind }

func refuse(kind error, format string, args ...any) error {
	return &placeError{fmt.Sprintf(format, args...), kind}
}
