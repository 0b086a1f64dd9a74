package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/daemon/store"
	"heddle/internal/testkit/powercut"
	"heddle/rm"
	"heddle/yarn/ids"
)

// cuts are the settings of a run that cuts the power of a store.
type cuts struct {
	count int
	seed  uint64
	dir   string
	out   io.Writer
}

const (
	cutsAChild = 20 // per recording of one process
	// asCommitter is the environment variable that makes this program commit to the store it names, a given number of
	// times.
	asCommitter = "HEDDLE_SOAK_COMMITTER"
	alive       = 30 // applications that exist at a time
	runsKept    = 50
	lateEnd     = 5      // commits after which an application is over
	keysEvery   = 10     // in commits
	atOnce      = 16     // commits that wait
	anew        = 6      // one in this many processes begins without a store
	opening     = 40     // calls within which a store is created and opened
	largest     = 80_000 // bytes of a submission, which the store keeps in several pieces
)

// wasCut is the result of a run.
type wasCut struct {
	cuts, children, ops int
	inOpen              int // cuts before the store was open
	torn                int // cuts while part of the file was not synced
	commits             int
	wrong               []string
}

// run lets processes commit to a store, and cuts the power of each many times. Each time it opens what the cut left and
// checks it against what was promised. The next process continues from one of these outcomes.
func (c *cuts) run(ctx context.Context) (*wasCut, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	res := &wasCut{}
	r := rand.New(rand.NewPCG(c.seed, 0))
	work, look := filepath.Join(c.dir, "work", "state"), filepath.Join(c.dir, "look", "state")
	if err := errors.Join(powercut.Put(work, nil), powercut.Put(look, nil)); err != nil {
		return nil, err
	}
	known, found := promised{}, map[string][]byte(nil)
	for res.cuts < c.count && ctx.Err() == nil {
		if found == nil || r.IntN(anew) == 0 {
			known, found = promised{}, nil
		}
		if err := powercut.Put(work, found); err != nil {
			return nil, err
		}
		disk, err := powercut.NewDisk(work)
		if err != nil {
			return nil, err
		}
		ops, err := c.record(ctx, exe, work, 10+r.IntN(120))
		if err != nil {
			return nil, err
		}
		res.children++
		res.ops += len(ops)
		if known, found, err = c.cut(r, disk, ops, look, known, res); err != nil {
			return nil, err
		}
		if res.children%10 == 0 {
			fmt.Fprintf(c.out, "%d of %d cuts, of %d processes, %d calls; wrong: %d\n", res.cuts, c.count, res.children, res.ops, len(res.wrong))
		}
	}
	return res, context.Cause(ctx)
}

// record lets a process make a number of commits to the content of a folder.
func (c *cuts) record(ctx context.Context, exe, work string, commits int) ([]powercut.Op, error) {
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), asCommitter+"="+filepath.Join(work, "rm.db"), fmt.Sprintf("%s_COUNT=%d", asCommitter, commits))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	rec, err := powercut.Start(cmd, work)
	if err != nil {
		return nil, err
	}
	failed := cmd.Wait()
	ops, err := rec.End()
	if err = errors.Join(err, failed); err != nil {
		err = fmt.Errorf("%w; it said: %s", err, said.String())
	}
	return ops, err
}

// cut cuts the power of one process many times. It returns what one of the cuts left, or nothing if anything was wrong,
// and what was promised before that cut.
func (c *cuts) cut(r *rand.Rand, disk *powercut.Disk, ops []powercut.Op, look string, was promised, res *wasCut) (known promised, found map[string][]byte, err error) {
	var at []int
	for i := range min(cutsAChild, c.count-res.cuts) {
		within := len(ops)
		if i%4 == 0 { // while it opens
			within = min(within, opening)
		}
		at = append(at, r.IntN(within+1))
	}
	slices.Sort(at)
	next, done, before, wrong := r.IntN(len(at)), 0, was, len(res.wrong)
	for i, stop := range at {
		for ; done < stop; done++ {
			disk.Do(ops[done])
			if ops[done].Kind == powercut.Say {
				if err := was.hear(string(ops[done].Data)); err != nil {
					return was, nil, err
				}
			}
		}
		left := disk.Cut(r)
		if err := powercut.Put(look, left); err != nil {
			return was, nil, err
		}
		res.count(disk, was.epoch == before.epoch)
		if why := was.check(filepath.Join(look, "rm.db")); why != "" {
			kept := filepath.Join(c.dir, fmt.Sprintf("cut-%d", res.cuts))
			res.wrong = append(res.wrong, fmt.Sprintf("cut %d, after %d of %d calls (%s): %s", res.cuts, done, len(ops), kept, why))
			if err := powercut.Put(kept, left); err != nil {
				return was, nil, err
			}
		}
		if i == next {
			known, found = was, left
		}
	}
	res.commits += was.commits - before.commits
	if len(res.wrong) > wrong {
		return known, nil, nil
	}
	return known, found, nil
}

// count counts a cut.
func (res *wasCut) count(disk *powercut.Disk, opening bool) {
	res.cuts++
	if disk.Loose("rm.db") > 0 {
		res.torn++
	}
	if opening {
		res.inOpen++
	}
}

// promised is what processes have promised.
type promised struct {
	epoch   int64  // the number of a start
	cluster string // the store's name
	commits int    // how many are on the disk
}

// hear reads lines of a process's output.
func (p *promised) hear(text string) error {
	for line := range strings.Lines(text) {
		what, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch what {
		case "open":
			epoch, cluster, _ := strings.Cut(value, " ")
			n, err := strconv.ParseInt(epoch, 10, 64)
			if err != nil {
				return err
			}
			if n <= p.epoch {
				return fmt.Errorf("a start is counted as %d, and %d were counted before", n, p.epoch)
			}
			p.epoch, p.cluster = n, cluster
		case "stored":
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			p.commits = max(p.commits, n)
		default:
			return fmt.Errorf("it says %q", line)
		}
	}
	return nil
}

// check opens what a cut left, and returns what differs from the promises.
func (p *promised) check(path string) string {
	s, state, err := store.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = s.Close() }() // it is only read
	switch n := commitsIn(state); {
	case len(state.Bad) > 0:
		return fmt.Sprintf("bad records: %v", state.Bad)
	case state.Epoch <= p.epoch:
		return fmt.Sprintf("this start counts as %d, and one before did as %d", state.Epoch, p.epoch)
	case p.cluster != "" && state.ClusterID != p.cluster:
		return fmt.Sprintf("it is called %s, and was %s", state.ClusterID, p.cluster)
	case n < p.commits:
		return fmt.Sprintf("commit %d was acknowledged, and %d is the last there", p.commits, n)
	default:
		return differs(state, after(n))
	}
}

// differs says how a store differs from what it should be after a number of commits.
func differs(got, want *store.State) string {
	key := func(r store.Run) string { return r.User + "/" + r.Name }
	slices.SortFunc(got.Runs, func(a, b store.Run) int { return cmp.Compare(key(a), key(b)) })
	slices.SortFunc(want.Runs, func(a, b store.Run) int { return cmp.Compare(key(a), key(b)) })
	for _, x := range []struct {
		what      string
		got, want any
	}{{"applications", got.Apps, want.Apps}, {"attempts", got.Attempts, want.Attempts}, {"last runs", got.Runs, want.Runs}, {"keys", got.Keys, want.Keys}} {
		if !reflect.DeepEqual(x.got, x.want) && fmt.Sprint(x.got) != fmt.Sprint(x.want) {
			return fmt.Sprintf("after %d commits its %s are %.500v, want %.500v", commitsIn(want), x.what, x.got, x.want)
		}
	}
	return ""
}

// commitsIn returns how many commits a store holds: the last application is that of the last commit.
func commitsIn(state *store.State) int {
	if len(state.Apps) == 0 {
		return 0
	}
	return int(state.Apps[len(state.Apps)-1].ID.Seq)
}

// What commit n writes depends only on n, so that what a store should hold depends only on how many commits it has.

func appID(n int) ids.App { return ids.App{Cluster: 1_700_000_000_000, Seq: int32(n)} }

// appOf returns the application of commit n, which may be over.
func appOf(n int, over bool) store.App {
	a := store.App{ID: appID(n), User: "ann", Queue: "root.a", Priority: int32(n % 10), Context: bytes.Repeat([]byte{byte(n)}, n*7919%largest)}
	if over {
		a.State, a.Context, a.Finished = "FINISHED", a.Context[:len(a.Context)/4], int64(n)
	}
	return a
}

// raised returns the application of commit n after commit n+1, which changes its priority.
func raised(n int) store.App {
	a := appOf(n, false)
	a.Priority++
	return a
}

func attemptOf(n int) store.Attempt {
	return store.Attempt{ID: ids.Attempt{App: appID(n), N: 1}, MasterID: int64(n)}
}

func runOf(n int) store.Run {
	return store.Run{RunKey: rm.RunKey{User: "ann", Name: fmt.Sprint(n % runsKept)}, Ended: int64(n)}
}

func keysOf(n int) store.Keys {
	return store.Keys{Current: &store.Key{ID: int32(n), Bytes: []byte{byte(n)}, Since: int64(n)}}
}

// commit returns the changes of commit n.
func commit(n int) []store.Change {
	out := []store.Change{store.PutApp(appOf(n, false)), store.PutAttempt(attemptOf(n)), store.PutRun(runOf(n))}
	if n > 1 {
		out = append(out, store.UpdateApp(raised(n-1)))
	}
	if n > lateEnd {
		out = append(out, store.PutApp(appOf(n-lateEnd, true)))
	}
	if n > alive {
		out = append(out, store.DropApp(appID(n-alive)))
	}
	if n%keysEvery == 0 {
		out = append(out, store.PutKeys(keysOf(n)))
	}
	return out
}

// after returns what a store holds after n commits.
func after(n int) *store.State {
	s := &store.State{}
	for i := max(1, n-alive+1); i <= n; i++ {
		switch {
		case i <= n-lateEnd:
			s.Apps = append(s.Apps, appOf(i, true))
		case i < n:
			s.Apps = append(s.Apps, raised(i))
		default:
			s.Apps = append(s.Apps, appOf(i, false))
		}
		s.Attempts = append(s.Attempts, attemptOf(i))
	}
	for i := max(1, n-runsKept+1); i <= n; i++ {
		s.Runs = append(s.Runs, runOf(i))
	}
	if last := n / keysEvery * keysEvery; last > 0 {
		s.Keys = keysOf(last)
	}
	return s
}

// commitAll is the process: it opens a store, makes a number of commits, some concurrently, and says what is stored.
func commitAll(path string, count int, out io.Writer) error {
	s, state, err := store.Open(path)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "open", state.Epoch, state.ClusterID)
	free := make(chan error, atOnce)
	for range atOnce {
		free <- nil
	}
	from := commitsIn(state)
	for n := from + 1; n <= from+count; n++ {
		if err := <-free; err != nil {
			return err
		}
		s.Commit(func(err error) {
			if err == nil {
				_, err = fmt.Fprintln(out, "stored", n)
			}
			free <- err
		}, commit(n)...)
		if n%7 == 0 {
			time.Sleep(time.Millisecond) // so that not every transaction has as many commits as can wait
		}
	}
	return s.Close()
}

// asked is the process as a test starts it.
func asked(path string) error {
	count, err := strconv.Atoi(os.Getenv(asCommitter + "_COUNT"))
	if err != nil {
		return err
	}
	return commitAll(path, count, os.Stdout)
}

// table writes the result of a run.
func (res *wasCut) table(w io.Writer) {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%d power cuts of %d processes, %d of them before the store was open, %d while some of the file was not synced; %d calls recorded, %d commits acknowledged\n",
		res.cuts, res.children, res.inOpen, res.torn, res.ops, res.commits)
	for _, what := range res.wrong {
		fmt.Fprintln(b, "WRONG:", what)
	}
	_ = b.Flush() // a failure to print is not reported
}
