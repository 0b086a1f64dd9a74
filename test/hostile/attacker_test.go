package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"heddle/test/hollow"
	"heddle/yarn/rpc"
)

// asAttacker is the environment variable that makes this program an attacker.
const asAttacker = "HEDDLE_HOSTILE_ATTACKER"

// A target says what an attacker attacks, and how.
type target struct {
	ports
	Master *rpc.Token // of a master of the attacker
	Attack string
	For    time.Duration
}

// harm reads a target, attacks it, and writes the result.
func harm(in io.Reader, out io.Writer) error {
	at := &target{}
	if err := json.NewDecoder(in).Decode(at); err != nil {
		return err
	}
	for _, a := range attacks() {
		if a.name == at.Attack {
			ctx, cancel := context.WithTimeout(context.Background(), at.For)
			defer cancel()
			n := a.run(ctx, at)
			n.Made = int(dialled.Load())
			return json.NewEncoder(out).Encode(n)
		}
	}
	return fmt.Errorf("there is no attack %q", at.Attack)
}

// attacked returns the result of an attack from another process. A real attacker has its own machine: so the attacker's
// process gets less of this machine than honest callers do. If it gets no turn at all, it tries again.
func (s *site) attacked(t *testing.T, name string) (n tally) {
	t.Helper()
	for range 20 {
		must(t, hollow.Elsewhere(t.Context(), asAttacker, 5, target{s.m.ports, s.hostile, name, *each}, &n))
		if n != (tally{}) {
			return n
		}
	}
	t.Errorf("%s: the attacker does not get to it", name)
	return n
}
