package agent

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heddle/node/groups"
)

// Lock implements [Restorer].
func (f *tree) Lock() (bool, error) { return true, nil }

// A stiff tree is one that at first cannot be thawed.
type stiff struct {
	*tree
	fails int // how often thawing it fails
}

func (f *stiff) Thaw() error {
	if f.fails--; f.fails >= 0 {
		return errBroken
	}
	return f.tree.Thaw()
}

// A warden thaws containers that a hanging agent does not thaw in time, and restores everything when the agent is gone.
func TestWard(t *testing.T) {
	for name, of := range map[string]struct {
		says         string
		fails        int
		after        time.Duration // when the test looks
		ends         bool
		frozen, park bool
	}{
		"nobody hangs":               {"0\n", 0, time.Hour, false, true, true},
		"it has time":                {"5000\n", 0, 5 * time.Second, false, true, true},
		"it hangs":                   {"5000\n", 0, 6 * time.Second, false, false, true},
		"it hangs, and all is stiff": {"5000\n", 3, 9 * time.Second, false, false, true},
		"it thawed":                  {"5000\n0\n", 0, time.Minute, false, true, true},
		"another is frozen longer":   {"5000\n9000\n", 0, 6 * time.Second, false, true, true},
		"it is killed":               {"5000\n", 0, 0, true, false, false},
		"it has restored all":        {"5000\n" + noMore + "\n", 0, time.Minute, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTree()
				id := container(0).ID
				f.sets[id] = groups.Set{Park: true, Freeze: true}
				in, agent := io.Pipe()
				ended := make(chan error, 1)
				go func() { ended <- ward(in, &stiff{f, of.fails}) }()
				if _, err := io.WriteString(agent, of.says); err != nil {
					t.Fatal(err)
				}
				time.Sleep(of.after)
				if of.ends {
					_ = agent.Close()
				}
				synctest.Wait()
				if got := f.sets[id]; got.Freeze != of.frozen || got.Park != of.park {
					t.Errorf("%+v", got)
				}
				_ = agent.Close()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A warden stays until the agent says whether it has restored all defaults. If the agent has not, the warden is told
// nothing and restores them then.
func TestGuard(t *testing.T) {
	for _, restored := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "said")
		tell, dismiss, err := Guard([]string{"/bin/sh", "-c", "cat >" + file + "; echo ended >>" + file}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		tell(time.Time{})
		dismiss(restored)
		said := ""
		for range 500 {
			if text, _ := os.ReadFile(file); strings.HasSuffix(string(text), "ended\n") { // otherwise it has yet to see the end
				said = string(text)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if said == "" || strings.Contains(said, noMore) != restored {
			t.Errorf("restored: %v, and it was told %q", restored, said)
		}
	}
}
