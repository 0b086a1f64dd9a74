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

// moduleRoot returns the nearest folder, from the working folder up, that has a go.mod.
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

// awaitRM waits until the ResourceManager answers and all live NodeManagers are registered with it. It returns the time
// until the first answer over REST.
func (b *Testbed) awaitRM(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	for b.Get(ctx, "info", nil) != nil {
		if err := errors.Join(b.died(resourceManager), Sleep(ctx, 2*time.Millisecond)); err != nil {
			return 0, fmt.Errorf("the ResourceManager's first answer: %w", err)
		}
	}
	return time.Since(began), b.awaitNodes(ctx, startWithin, b.liveNodes())
}

// liveNodes returns the names of the live NodeManagers.
func (b *Testbed) liveNodes() (names []string) {
	for n := 1; n <= b.opt.Nodes; n++ {
		if p, err := b.pid(nodeManager(n)); err == nil && p.alive() {
			names = append(names, nodeManager(n))
		}
	}
	return names
}

// UseRM stops the ResourceManager and starts another one, or the same with other settings, that does not know earlier
// applications. The NodeManagers stay and register with it. Of the options, only the fields RM, Profile, Set, Agents,
// Binary, Recovery, Site and Scheduler count. It returns what RestartRM returns.
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

// RestartRM starts the stopped ResourceManager on the state that the last one left, and returns when all live nodes are
// back. It returns the time from the start to the first answer over REST.
func (b *Testbed) RestartRM(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := b.startRM(); err != nil {
		return 0, err
	}
	return b.awaitRM(ctx)
}

// ResidentRM returns the ResourceManager's memory in RAM, in bytes.
func (b *Testbed) ResidentRM() (int64, error) {
	p, err := b.pid(resourceManager)
	if err != nil {
		return 0, err
	}
	return Resident(p.N), nil
}

// Describe returns the names of the ResourceManager and its profile, such as "heddle fair".
func (b *Testbed) Describe() string { return strings.Join([]string{b.opt.RM, b.opt.Profile}, " ") }
