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

// Addr returns the host address of node n, counted from 1.
func (b *Testbed) Addr(n int) string { return fmt.Sprintf("127.0.0.%d", n+1) }

// NodeID returns YARN's id of the NodeManager of node n.
func (b *Testbed) NodeID(n int) string { return b.Addr(n) + ":8041" }

// NodeNumber returns the n of a YARN host or node id, or 0 if it is not the testbed's.
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

// ContainerLogs returns the folder of the output of node n's containers: application, container, file.
func (b *Testbed) ContainerLogs(n int) string { return filepath.Join(b.nodeDir(n), "logs") }

// startNodeManager starts the NodeManager of node n, with properties in addition to the testbed's own.
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
		// Its containers are left for the next testbed that starts in this folder to end: asked to end them, the
		// NodeManager would wait for the ResourceManager, and a frozen one would keep the machine's lock.
		onDeath: syscall.SIGKILL,
	})
}

// flagsD returns the properties as arguments of Hadoop's programs.
func flagsD(p Properties) []string {
	var args []string
	for name, value := range p {
		args = append(args, "-D", name+"="+value)
	}
	return args
}

// KillNode ends a NodeManager as a crash does. Its containers go on until something ends them.
func (b *Testbed) KillNode(n int) error { return b.stop(nodeManager(n), syscall.SIGKILL, 0) }

// StopNode ends a NodeManager in an orderly way: it tells the ResourceManager and ends its containers.
func (b *Testbed) StopNode(n int) error {
	return b.stop(nodeManager(n), syscall.SIGTERM, 20*time.Second)
}

// KillContainers ends the processes of all containers of a node whose NodeManager is gone, as the crash of a machine
// does.
func (b *Testbed) KillContainers(n int) { killIn(b.nodeDir(n)) }

// StartNode starts a NodeManager that was stopped, with properties in addition to the testbed's. It does not wait for
// anything.
func (b *Testbed) StartNode(n int, more Properties) error {
	if p, err := b.pid(nodeManager(n)); err == nil && p.alive() {
		return errors.New(nodeManager(n) + " runs already")
	}
	return b.startNodeManager(n, more)
}

// Freeze makes a NodeManager stop answering with its connections open; Thaw lets it continue.
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

// A NodeContainer is a container as its NodeManager reports it.
type NodeContainer struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	MemoryMB int    `json:"totalMemoryNeededMB"`
	Vcores   int    `json:"totalVCoresNeeded"`
}

// NodeContainers returns the containers of node n from its NodeManager's REST API.
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

// AwaitLiveNodes waits until all live NodeManagers are active.
func (b *Testbed) AwaitLiveNodes(ctx context.Context) error {
	return b.awaitNodes(ctx, 2*time.Minute, b.liveNodes())
}

// awaitNodes waits until as many NodeManagers are active as there are names.
func (b *Testbed) awaitNodes(ctx context.Context, within time.Duration, names []string) error {
	yes := func(ctx context.Context) bool {
		m, err := b.Metrics(ctx)
		return err == nil && m.ActiveNodes == len(names)
	}
	return b.await(ctx, within, fmt.Sprintf("%d active nodes", len(names)), yes, append(names, b.ownRM()...)...)
}

// ownRM returns the name of the ResourceManager if the testbed started it.
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

// ContainerCommands returns the command lines of one container's processes.
func (b *Testbed) ContainerCommands(app, container string) []string {
	var all []string
	for _, p := range b.processesOf(app, container) {
		if line, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.N), "cmdline")); err == nil {
			all = append(all, strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " "))
		}
	}
	return all
}

// ContainerCPU returns the processor time used by the live processes of one container.
func (b *Testbed) ContainerCPU(app, container string) (took time.Duration) {
	for _, p := range b.processesOf(app, container) {
		took += p.cpu()
	}
	return took
}

// SignalContainer sends a signal to the processes of one container and returns how many there were. SIGKILL ends them
// as a crash does.
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
