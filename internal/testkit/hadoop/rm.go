package hadoop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const resourceManager = "resourcemanager"

// prepareRM builds the heddle program, unless the options name one.
func (b *Testbed) prepareRM(ctx context.Context) error {
	if b.opt.RM != Heddle || b.opt.Binary != "" {
		return nil
	}
	file, err := b.BuildHeddle(ctx)
	if err != nil {
		return err
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

func (b *Testbed) startRM() error {
	if err := os.MkdirAll(b.dir("rm"), 0o700); err != nil {
		return err
	}
	c := command{name: resourceManager, env: []string{"HADOOP_CONF_DIR=" + b.Conf()}, onDeath: syscall.SIGKILL}
	if b.opt.RM == Heddle {
		c.args = []string{b.opt.Binary, "rm", "--profile", b.opt.Profile, "--data", b.dir("rm")}
		for _, change := range b.opt.Set {
			c.args = append(c.args, "--set", change)
		}
		if b.opt.Agents {
			c.args = append(c.args, "--listen", "agents="+AgentsAt)
		}
	} else {
		c.args = b.jvm(512, nil, "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")
	}
	return b.start(c)
}

// awaitRM waits until the ResourceManager answers and has all of the NodeManagers that live. It returns the
// time until the first answer over REST.
func (b *Testbed) awaitRM(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	for b.Get(ctx, "info", nil) != nil {
		if err := errors.Join(b.died(resourceManager), Sleep(ctx, 2*time.Millisecond)); err != nil {
			return 0, fmt.Errorf("the ResourceManager's first answer: %w", err)
		}
	}
	return time.Since(began), b.awaitNodes(ctx, startWithin, b.liveNodes())
}

// liveNodes are the names of the NodeManagers that live.
func (b *Testbed) liveNodes() (names []string) {
	for n := 1; n <= b.opt.Nodes; n++ {
		if p, err := b.pid(nodeManager(n)); err == nil && p.alive() {
			names = append(names, nodeManager(n))
		}
	}
	return names
}

// UseRM stops the ResourceManager and starts another one, or the same with other settings, that knows
// nothing of applications before it. The NodeManagers stay and register with it. Only the fields RM,
// Profile, Set, Agents, Binary, Recovery, Site and Scheduler of the options count. It returns what RestartRM does.
func (b *Testbed) UseRM(ctx context.Context, o Options) (time.Duration, error) {
	if err := b.stopRM(); err != nil {
		return 0, err
	}
	if err := os.RemoveAll(b.dir("rm")); err != nil {
		return 0, err
	}
	next := b.opt
	next.RM, next.Profile, next.Binary, next.Recovery = o.RM, o.Profile, o.Binary, o.Recovery
	next.Site, next.Scheduler, next.Set, next.Agents = o.Site, o.Scheduler, o.Set, o.Agents
	if err := next.complete(b.Cache); err != nil {
		return 0, err
	}
	b.opt = next
	if err := errors.Join(b.prepareRM(ctx), b.save(), b.writeConf()); err != nil || b.opt.RM == None {
		return 0, err
	}
	return b.RestartRM(ctx)
}

func (b *Testbed) stopRM() error {
	if _, err := b.pid(resourceManager); err != nil {
		return nil // there is none
	}
	return b.stop(resourceManager, syscall.SIGTERM, 10*time.Second)
}

// KillRM ends the ResourceManager as a crash does, with no time to do anything.
func (b *Testbed) KillRM() error { return b.stop(resourceManager, syscall.SIGKILL, 0) }

// RestartRM starts the stopped ResourceManager on the state that the last one left, and returns when all
// nodes that live are there again, with the time from its start to its first answer over REST.
func (b *Testbed) RestartRM(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := b.startRM(); err != nil {
		return 0, err
	}
	return b.awaitRM(ctx)
}

// ResidentRM is the ResourceManager's memory in RAM, in bytes.
func (b *Testbed) ResidentRM() (int64, error) {
	p, err := b.pid(resourceManager)
	if err != nil {
		return 0, err
	}
	return Resident(p.N), nil
}

// Describe names the ResourceManager and its profile: "heddle fair".
func (b *Testbed) Describe() string { return strings.Join([]string{b.opt.RM, b.opt.Profile}, " ") }
