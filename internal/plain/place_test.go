package plain

import (
	"errors"
	"testing"
)

func TestFault(t *testing.T) {
	no := errors.New("no")
	for want, p := range map[string]Place{
		"f.yaml:3:5: a.b: no": {File: "f.yaml", Line: 3, Column: 5, Key: "a.b"}, "f.yaml:3:5: no": {File: "f.yaml", Line: 3, Column: 5},
		"f.yaml: a.b: no": {File: "f.yaml", Key: "a.b"}, "f.yaml: no": {File: "f.yaml"}, "--listen: no": {Key: "--listen"},
	} {
		if err := error(&Fault{p, no}); err.Error() != want || !errors.Is(err, no) {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
