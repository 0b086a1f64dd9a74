package hadoop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// AgentsAt is where a ResourceManager with the option Agents listens for node agents.
const AgentsAt = rmHost + ":8039"

// BuildHeddle builds the heddle program of the module that contains the working folder, and returns its file. The file
// is outside the folder of the testbed, because that is emptied.
func (b *Testbed) BuildHeddle(ctx context.Context) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.Cache.Dir, "heddle")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", file, "./cmd/heddle")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/heddle: %w\n%s", err, lastLines(out, 20))
	}
	return file, nil
}

func nodeAgent(n int) string { return fmt.Sprintf("nodeagent%d", n) }

// StartAgent starts a node agent beside the NodeManager of node n. The agent is the program heddle; it asks the
// ResourceManager at a URL and creates the containers' control groups below a parent.
func (b *Testbed) StartAgent(n int, heddle, rm, parent string) error {
	return b.start(command{
		name: nodeAgent(n),
		args: []string{
			heddle, "node", "agent", "--rm", rm, "--node", b.NodeID(n), "--nm-web", "http://" + b.Addr(n) + ":8042",
			"--local-dirs", filepath.Join(b.nodeDir(n), "local"), "--parent", parent, "--run", filepath.Join(b.nodeDir(n), "agent"),
		},
		onDeath: syscall.SIGTERM,
	})
}

// StopAgent ends the agent of node n in an orderly way.
func (b *Testbed) StopAgent(n int) error {
	return b.stop(nodeAgent(n), syscall.SIGTERM, 10*time.Second)
}

// KillAgent ends the agent as a crash does: its warden stays.
func (b *Testbed) KillAgent(n int) error { return b.stop(nodeAgent(n), syscall.SIGKILL, 0) }

// NodeGroup returns the control group that holds the groups of node n's containers, below a named group.
func NodeGroup(group string, n int) string { return fmt.Sprintf("%s/node%d", group, n) }

// StartAgents starts an agent beside every NodeManager, which creates groups in that of its node. It returns when all
// agents have asked Heddle's ResourceManager.
func (b *Testbed) StartAgents(ctx context.Context, group string) error {
	for n := 1; n <= b.opt.Nodes; n++ {
		if err := b.StartAgent(n, b.opt.Binary, "http://"+AgentsAt, NodeGroup(group, n)); err != nil {
			return err
		}
	}
	asked := func(ctx context.Context) bool {
		var list struct {
			Nodes []struct {
				Agent *struct{} `json:"agent"`
			} `json:"nodes"`
		}
		err := b.Heddle(ctx, "nodes", &list)
		n := 0
		for _, node := range list.Nodes {
			if node.Agent != nil {
				n++
			}
		}
		return err == nil && n == b.opt.Nodes
	}
	return b.await(ctx, 20*time.Second, "an agent beside every NodeManager", asked, b.agents()...)
}

// StopAgents waits until agents have removed the groups of all containers, as they do when containers end, and stops
// them.
func (b *Testbed) StopAgents(ctx context.Context, group string) error {
	none := func(context.Context) bool { return len(groupsLeft(group)) == 0 }
	err := b.await(ctx, 20*time.Second, "no group of a container left", none, b.agents()...)
	for n := 1; n <= b.opt.Nodes; n++ {
		err = errors.Join(err, b.StopAgent(n))
	}
	return err
}

func (b *Testbed) agents() (names []string) {
	for n := 1; n <= b.opt.Nodes; n++ {
		names = append(names, nodeAgent(n))
	}
	return names
}

// groupsLeft returns the control groups of containers below a named group, of either cgroup version.
func groupsLeft(group string) (left []string) {
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
		found, _ := filepath.Glob(filepath.Join(root, group, "node*", "container_*"))
		left = append(left, found...)
	}
	return left
}
