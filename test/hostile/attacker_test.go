package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"heddle/yarn/rpc"
)

// asAttacker is the variable that makes this program an attacker.
const asAttacker = "HEDDLE_HOSTILE_ATTACKER"

// A target is whom an attacker attacks, and how.
type target struct {
	ports
	Master *rpc.Token // of a master that is the attacker's
	Attack string
	For    time.Duration
}

// harm attacks the target that is read, and writes what became of it.
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

// attacked is what becomes of an attack from another process. An attacker has its own machine, where there is one: its process
// has what the others leave of this one. Where that is nothing, it tries again.
func (s *site) attacked(t *testing.T, name string) (n tally) {
	t.Helper()
	for range 20 {
		if n = s.attackedOnce(t, name); n != (tally{}) {
			return n
		}
	}
	t.Errorf("%s: the attacker does not get to it", name)
	return n
}

func (s *site) attackedOnce(t *testing.T, name string) (n tally) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	text, err := json.Marshal(target{s.m.ports, s.hostile, name, *each})
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "nice", "-n", "5", exe)
	cmd.Env = append(os.Environ(), asAttacker+"=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	must(t, err)
	must(t, json.Unmarshal(out, &n))
	return n
}
