package hadoop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Addr is the address that node n, from 1 on, has as a host.
func (b *Testbed) Addr(n int) string { return fmt.Sprintf("127.0.0.%d", n+1) }

// NodeID is what YARN calls the NodeManager of node n.
func (b *Testbed) NodeID(n int) string { return b.Addr(n) + ":8041" }

// NodeNumber is the n of a host or node id of YARN, 0 if it is none of the testbed's.
func (b *Testbed) NodeNumber(id string) int {
	host, _, _ := strings.Cut(id, ":")
	for n := 1; n <= b.opt.Nodes; n++ {
		if b.Addr(n) == host {
			return n
		}
	}
	return 0
}

func nodeManager(n int) string { return fmt.Sprintf("nodemanager%d", n) }

func (b *Testbed) nodeDir(n int) string { return b.dir(fmt.Sprintf("node%d", n)) }

// ContainerLogs is the folder of what containers of node n printed: application, container, file.
func (b *Testbed) ContainerLogs(n int) string { return filepath.Join(b.nodeDir(n), "logs") }

// startNodeManager starts the NodeManager of node n, with properties beside the testbed's own.
func (b *Testbed) startNodeManager(n int, more Properties) error {
	local := filepath.Join(b.nodeDir(n), "local")
	for _, dir := range []string{local, b.ContainerLogs(n)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	p := Properties{
		"yarn.nodemanager.hostname":          b.Addr(n),
		"yarn.nodemanager.address":           b.NodeID(n),
		"yarn.nodemanager.localizer.address": b.Addr(n) + ":8040",
		"yarn.nodemanager.webapp.address":    b.Addr(n) + ":8042",
		"yarn.nodemanager.local-dirs":        local,
		"yarn.nodemanager.log-dirs":          b.ContainerLogs(n),
		"mapreduce.shuffle.port":             fmt.Sprint(13560 + n),
	}
	maps.Copy(p, more)
	args := flagsD(p)
	return b.start(command{
		name: nodeManager(n),
		args: b.jvm(256, strings.Fields(thrifty), "org.apache.hadoop.yarn.server.nodemanager.NodeManager", args...),
		// Its containers are left to who starts the next testbed in this folder: asked to end them, it would wait for
		// the ResourceManager, and one that is frozen would keep the machine's lock.
		onDeath: syscall.SIGKILL,
	})
}

// flagsD are the properties as arguments of Hadoop's programs.
func flagsD(p Properties) []string {
	var args []string
	for name, value := range p {
		args = append(args, "-D", name+"="+value)
	}
	return args
}

// KillNode ends a NodeManager as a crash does. Its containers go on until somebody ends them.
func (b *Testbed) KillNode(n int) error { return b.stop(nodeManager(n), syscall.SIGKILL, 0) }

// StopNode ends a NodeManager in order: it tells the ResourceManager and ends its containers.
func (b *Testbed) StopNode(n int) error {
	return b.stop(nodeManager(n), syscall.SIGTERM, 20*time.Second)
}

// KillContainers ends the processes of all containers of a node that has no NodeManager any more, which
// is what the crash of a machine does.
func (b *Testbed) KillContainers(n int) { killIn(b.nodeDir(n)) }

// StartNode starts a NodeManager that was stopped, with properties of its own beside the testbed's. It returns without
// waiting for anything.
func (b *Testbed) StartNode(n int, more Properties) error {
	if p, err := b.pid(nodeManager(n)); err == nil && p.alive() {
		return errors.New(nodeManager(n) + " runs already")
	}
	return b.startNodeManager(n, more)
}

// Freeze makes a NodeManager stop answering, with its connections open; Thaw lets it go on.
func (b *Testbed) Freeze(n int) error { return b.signal(nodeManager(n), syscall.SIGSTOP) }

// Thaw undoes Freeze.
func (b *Testbed) Thaw(n int) error { return b.signal(nodeManager(n), syscall.SIGCONT) }

func (b *Testbed) signal(name string, sig syscall.Signal) error {
	p, err := b.pid(name)
	if err != nil {
		return err
	}
	p.signalGroup(sig)
	return nil
}

// A NodeContainer is a container as its NodeManager has it.
type NodeContainer struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	MemoryMB int    `json:"totalMemoryNeededMB"`
	Vcores   int    `json:"totalVCoresNeeded"`
}

// NodeContainers are the containers of node n, by its NodeManager's REST.
func (b *Testbed) NodeContainers(ctx context.Context, n int) ([]NodeContainer, error) {
	var answer struct {
		Containers struct {
			Container []NodeContainer `json:"container"`
		} `json:"containers"`
	}
	err := getJSON(ctx, "http://"+b.Addr(n)+":8042/ws/v1/node/containers", &answer)
	return answer.Containers.Container, err
}

// AwaitNodes waits until all NodeManagers are active.
func (b *Testbed) AwaitNodes(ctx context.Context) error {
	var all []string
	for n := 1; n <= b.opt.Nodes; n++ {
		all = append(all, nodeManager(n))
	}
	return b.awaitNodes(ctx, 2*time.Minute, all)
}

// AwaitLiveNodes waits until all NodeManagers that live are active.
func (b *Testbed) AwaitLiveNodes(ctx context.Context) error {
	return b.awaitNodes(ctx, 2*time.Minute, b.liveNodes())
}

// awaitNodes waits until so many NodeManagers are active.
func (b *Testbed) awaitNodes(ctx context.Context, within time.Duration, names []string) error {
	yes := func(ctx context.Context) bool {
		m, err := b.Metrics(ctx)
		return err == nil && m.ActiveNodes == len(names)
	}
	return b.await(ctx, within, fmt.Sprintf("%d active nodes", len(names)), yes, append(names, b.ownRM()...)...)
}

// ownRM names the ResourceManager that the testbed started, if it did.
func (b *Testbed) ownRM() []string {
	if b.opt.RM == None {
		return nil
	}
	return []string{resourceManager}
}

// processesOf returns the processes of an application's containers on all nodes, or of one container.
func (b *Testbed) processesOf(app string, container ...string) (all []pid) {
	for n := 1; n <= b.opt.Nodes; n++ {
		dir := filepath.Join(b.nodeDir(n), "local", "usercache", b.user, "appcache", app, filepath.Join(container...))
		all = append(all, processesIn(dir)...)
	}
	return all
}

// ContainerProcesses counts the processes of an application's containers on all nodes.
func (b *Testbed) ContainerProcesses(app string) int { return len(b.processesOf(app)) }

// ContainerCommands are the command lines of one container's processes.
func (b *Testbed) ContainerCommands(app, container string) []string {
	var all []string
	for _, p := range b.processesOf(app, container) {
		if line, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.N), "cmdline")); err == nil {
			all = append(all, strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " "))
		}
	}
	return all
}

// ContainerCPU is how much processor time the processes of one container that live have taken.
func (b *Testbed) ContainerCPU(app, container string) (took time.Duration) {
	for _, p := range b.processesOf(app, container) {
		took += p.cpu()
	}
	return took
}

// SignalContainer sends a signal to the processes of one container, and returns how many there were. SIGKILL ends them as a
// crash does.
func (b *Testbed) SignalContainer(app, container string, s syscall.Signal) int {
	all := b.processesOf(app, container)
	for _, p := range all {
		_ = syscall.Kill(p.N, s) // it may have ended by itself
	}
	return len(all)
}

func (b *Testbed) startHistory() error {
	return b.start(command{
		name:    "historyserver",
		args:    b.jvm(256, strings.Fields(thrifty), "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer"),
		onDeath: syscall.SIGKILL,
	})
}

func (b *Testbed) awaitHistory(ctx context.Context) error {
	answers := func(ctx context.Context) bool {
		return getJSON(ctx, "http://"+historyWeb+"/ws/v1/history/info", nil) == nil
	}
	return b.await(ctx, startWithin, "the history server's answer", answers, "historyserver")
}
