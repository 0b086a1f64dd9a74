package hadoop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const resourceManager = "resourcemanager"

// prepareRM builds the heddle program, unless the options name one.
func (b *Bed) prepareRM(ctx context.Context) error {
	if b.opt.RM != Heddle || b.opt.Binary != "" {
		return nil
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	// Beside the folder of the bed, which is emptied: the build's cache has the rest.
	file := filepath.Join(b.Cache.Dir, "heddle")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", file, "./cmd/heddle")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/heddle: %w\n%s", err, lastLines(out, 20))
	}
	b.opt.Binary = file
	return b.save()
}

// moduleRoot is the nearest folder, from the working folder up, that has a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for from := dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod in %s or above: name the heddle program instead", from)
		}
	}
}

func (b *Bed) startRM() error {
	if err := os.MkdirAll(b.dir("rm"), 0o755); err != nil {
		return err
	}
	c := command{name: resourceManager, env: []string{"HADOOP_CONF_DIR=" + b.Conf()}, onDeath: syscall.SIGKILL}
	if b.opt.RM == Heddle {
		c.args = []string{b.opt.Binary, "rm", "--profile", b.opt.Profile, "--data", b.dir("rm")}
	} else {
		c.args = b.jvm(512, nil, "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")
	}
	return b.start(c)
}

// awaitRM waits until the ResourceManager answers and has all of the NodeManagers.
func (b *Bed) awaitRM(ctx context.Context) error {
	if err := b.awaitAnswer(ctx); err != nil {
		return err
	}
	all := func(ctx context.Context) bool {
		m, err := b.Metrics(ctx)
		return err == nil && m.ActiveNodes == b.opt.Nodes
	}
	return b.await(ctx, startWithin, fmt.Sprintf("%d active nodes", b.opt.Nodes), all, resourceManager)
}

// awaitAnswer waits until the ResourceManager answers over REST.
func (b *Bed) awaitAnswer(ctx context.Context) error {
	answers := func(ctx context.Context) bool { return b.Get(ctx, "info", nil) == nil }
	return b.await(ctx, time.Minute, "the ResourceManager's answer", answers, resourceManager)
}

// UseRM stops the ResourceManager and starts another one, or the same with other settings, that knows
// nothing of applications before it. The NodeManagers stay and register with it. Only the fields RM,
// Profile, Binary, Recovery and Site of the options count.
func (b *Bed) UseRM(ctx context.Context, o Options) error {
	if err := b.stopRM(); err != nil {
		return err
	}
	if err := os.RemoveAll(b.dir("rm")); err != nil {
		return err
	}
	next := b.opt
	next.RM, next.Profile, next.Recovery, next.Site = o.RM, o.Profile, o.Recovery, o.Site
	if o.Binary != "" {
		next.Binary = o.Binary
	}
	if err := next.complete(b.Cache); err != nil {
		return err
	}
	b.opt = next
	if err := errors.Join(b.prepareRM(ctx), b.save(), b.writeConf()); err != nil {
		return err
	}
	if b.opt.RM == None {
		return nil
	}
	return b.RestartRM(ctx)
}

func (b *Bed) stopRM() error {
	if _, err := b.pid(resourceManager); err != nil {
		return nil // there is none
	}
	return b.stop(resourceManager, syscall.SIGTERM, 10*time.Second)
}

// KillRM ends the ResourceManager as a crash does, with no time to do anything.
func (b *Bed) KillRM() error { return b.stop(resourceManager, syscall.SIGKILL, 0) }

// RestartRM starts the ResourceManager again on the state that the last one left, and returns when all
// nodes that live are there again.
func (b *Bed) RestartRM(ctx context.Context) error {
	if err := b.startRM(); err != nil {
		return err
	}
	return b.awaitRM(ctx)
}

// LaunchRM starts the stopped ResourceManager and returns how long it took until it answered over REST.
func (b *Bed) LaunchRM(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	if err := b.startRM(); err != nil {
		return 0, err
	}
	for b.Get(ctx, "info", nil) != nil {
		if err := errors.Join(b.died(resourceManager), sleep(ctx, time.Millisecond)); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// ResidentRM is the ResourceManager's memory in RAM, in bytes.
func (b *Bed) ResidentRM() (int64, error) {
	p, err := b.pid(resourceManager)
	if err != nil {
		return 0, err
	}
	return Resident(p.N), nil
}

// Describe names the ResourceManager and its profile: "heddle fair".
func (b *Bed) Describe() string { return strings.Join([]string{b.opt.RM, b.opt.Profile}, " ") }
