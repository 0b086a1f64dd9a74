package hadoop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// BuildHeddle builds the heddle program of the module that holds the working folder, and returns its file: beside the
// folder of the testbed, which is emptied.
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

// StartAgent starts a node agent beside the NodeManager of node n: the program heddle, which asks a ResourceManager at a
// URL and makes the containers' control groups below a parent.
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

// StopAgent ends the agent of node n in order.
func (b *Testbed) StopAgent(n int) error {
	return b.stop(nodeAgent(n), syscall.SIGTERM, 10*time.Second)
}

// KillAgent ends it as a crash does: its warden is left.
func (b *Testbed) KillAgent(n int) error { return b.stop(nodeAgent(n), syscall.SIGKILL, 0) }
