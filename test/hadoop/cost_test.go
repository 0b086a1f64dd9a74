package hadoop_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A master that is asked every 5 s for the progress of each of its 200 maps uses little processor time for it, and so
// does the one that asks.
func TestCostOfAsking(t *testing.T) {
	ctx := onTestbed(t, jobTime)
	const window = 20 * time.Second
	spent := map[string][2]time.Duration{} // by the master, and by this process, which contains the ResourceManager
	for _, file := range []string{"facts: {masters: false}", ""} {
		t.Run(strings.TrimSpace("asked "+file), func(t *testing.T) {
			within(t, ctx, file, "capacity", "estimate={remaining: progress}")
			r := must(testbed.StartSleep(ctx, "-m", "200", "-r", "1", "-mt", "120000", "-rt", "1"))(t)
			app := must(r.App(ctx))(t)
			var master string
			eventually(t, ctx, 2*time.Minute, app+" with 12 containers", func() bool {
				a, err := testbed.App(ctx, app)
				had, _ := testbed.Attempts(ctx, app)
				if len(had) > 0 {
					master = had[0].Container
				}
				return err == nil && a.RunningContainers >= 12
			})
			time.Sleep(15 * time.Second) // until the maps have started
			before, own := testbed.ContainerCPU(app, master), ownCPU(t)
			time.Sleep(window)
			spent[file] = [2]time.Duration{testbed.ContainerCPU(app, master) - before, ownCPU(t) - own}
			if err := testbed.Kill(ctx, app); err != nil {
				t.Error(err)
			}
			_, _ = hadoop.Finish(r, nil) // it was killed
			eventually(t, ctx, time.Minute, "no container of "+app, func() bool { return testbed.ContainerProcesses(app) == 0 })
		})
	}
	off, on := spent["facts: {masters: false}"], spent[""]
	t.Logf("in %v the master took %v of a processor when it was asked and %v when it was not; the ResourceManager %v and %v", window, on[0], off[0], on[1], off[1])
	if more := on[0] - off[0]; more > window/20 {
		t.Errorf("to be asked costs a master %v in %v, more than a twentieth of a core", more, window)
	}
	if more := on[1] - off[1]; more > window/50 {
		t.Errorf("to ask costs %v in %v, more than a fiftieth of a core", more, window)
	}
}

// ownCPU returns the processor time that this process has used.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
