package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childEnv makes the test binary commit to the store that it names until the process is killed.
const childEnv = "HEDDLE_STORE_TEST_CHILD"

// child puts applications, each with an attempt and in a commit of its own, many at a time, and prints the number of
// each acknowledged one.
func child(path string) {
	s, state, err := Open(path)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	first := int32(len(state.Apps)) + 1
	free := make(chan struct{}, 64)
	for n := first; ; n++ {
		free <- struct{}{}
		s.Commit(func(err error) {
			if err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
			fmt.Println(n)
			<-free
		}, PutApp(App{ID: app(n), Context: make([]byte, 1000)}), PutAttempt(Attempt{ID: attempt(n, 1)}), PutRun(run(n)), DropRun(run(n-100).RunKey))
	}
}

func TestKilled(t *testing.T) {
	path := place(t)
	acknowledged := 0
	for round := range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		stop := acknowledged + 150 + 37*round
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("the child says %q", lines.Text())
			}
			acknowledged = max(acknowledged, n)
			if n == stop {
				must(t, cmd.Process.Signal(syscall.SIGKILL))
			}
		}
		_ = cmd.Wait() // it was killed
		s, state := mustOpen(t, path)
		if len(state.Apps) < acknowledged || len(state.Attempts) != len(state.Apps) || len(state.Runs) != min(len(state.Apps), 100) || len(state.Bad) > 0 {
			t.Errorf("round %d: %d were acknowledged; found %d applications, %d attempts, %d runs, bad: %v",
				round, acknowledged, len(state.Apps), len(state.Attempts), len(state.Runs), state.Bad)
		}
		if want := int64(2*round + 2); state.Epoch != want {
			t.Errorf("round %d: epoch %d, want %d", round, state.Epoch, want)
		}
		acknowledged = len(state.Apps)
		must(t, s.Close())
	}
}

func TestSecondProcess(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	start := time.Now()
	_, _, err := Open(path)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("refused after %v", took)
	}
	for _, want := range []string{path, ": process " + strconv.Itoa(os.Getpid()) + " uses it", "--data"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v does not say %q", err, want)
		}
	}
	must(t, commitNow(s, PutApp(App{ID: app(1)})))

	// A store waits for a process that is just ending.
	time.AfterFunc(300*time.Millisecond, func() { _ = s.Close() })
	next, state := mustOpen(t, path)
	if len(state.Apps) != 1 {
		t.Errorf("%d applications of 1", len(state.Apps))
	}
	must(t, next.Close())
}
