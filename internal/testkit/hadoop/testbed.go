// Package hadoop runs a real Hadoop cluster on this machine for tests: HDFS, NodeManagers at addresses of their own,
// job history, and Heddle's ResourceManager or the stock one. It runs MapReduce and Spark jobs and YARN's command line
// on it, and reads their results.
//
// It knows how the programs are configured, started and stopped, but not what a test expects of them. It fetches Hadoop
// with Maven and Spark with pip, and nothing else.
package hadoop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// The ResourceManagers that a testbed can have.
const (
	Heddle = "heddle" // this project's
	Stock  = "stock"  // Hadoop's
	None   = "none"   // started by someone else, with the testbed's configuration
)

// The addresses of the testbed's servers. They are YARN's own defaults where YARN has one.
const (
	rmHost      = "127.0.0.1"
	RMWeb       = rmHost + ":8088" // the ResourceManager's pages and REST
	nameNodeRPC = "127.0.0.1:9000"
	nameNodeWeb = "127.0.0.1:9870"
	historyRPC  = "127.0.0.1:10020"
	historyWeb  = "127.0.0.1:19888"
)

// maxNodes is the most NodeManagers and DataNodes: there are ports for that many.
const maxNodes = 9

// startWithin is how long the whole testbed may take to come up on a busy machine.
const startWithin = 3 * time.Minute

// Options configure a testbed. The zero value of a field selects its default.
type Options struct {
	Dir        string            // everything is written there; it is emptied first. Default: "run" in the cache
	RM         string            // Heddle (the default), Stock or None
	Profile    string            // capacity (the default), fair, or another profile of Heddle
	Set        []string          // changes to Heddle's profile, slot.kind=policy
	Agents     bool              // Heddle listens for node agents, at AgentsAt
	Binary     string            // the heddle program; default: a fresh build
	Nodes      int               // NodeManagers and DataNodes; default 3
	NodeMB     int               // memory of each NodeManager in MiB; default 4096
	NodeVcores int               // default 8
	Recovery   bool              // the stock ResourceManager keeps its state in files (Heddle always does)
	Site       map[string]string // properties of yarn-site.xml in addition to the testbed's own
	Scheduler  map[string]string // of capacity-scheduler.xml, likewise; its limit for masters is the FairScheduler's too
	Detached   bool              // the daemons outlive the program that starts them
	LockWait   time.Duration     // how long to wait for another testbed on this machine to stop
	Log        *slog.Logger      `json:"-"` // default: discard
}

func (o *Options) complete(c Cache) error {
	if o.Dir == "" {
		o.Dir = filepath.Join(c.Dir, "run")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	// The system reports the working folders of processes with links resolved.
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if o.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if o.RM == "" {
		o.RM = Heddle
	}
	if o.Profile == "" {
		o.Profile = "capacity"
	}
	switch {
	case o.RM != Heddle && o.RM != Stock && o.RM != None:
		return fmt.Errorf("ResourceManager %q: not %s, %s or %s", o.RM, Heddle, Stock, None)
	case o.RM == Stock && o.Profile != "capacity" && o.Profile != "fair":
		return fmt.Errorf("profile %q: the stock ResourceManager has capacity and fair", o.Profile)
	}
	if o.Nodes = orDefault(o.Nodes, 3); o.Nodes < 0 || o.Nodes > maxNodes {
		return fmt.Errorf("%d nodes: not 1 to %d", o.Nodes, maxNodes)
	}
	o.NodeMB = orDefault(o.NodeMB, 4096)
	o.NodeVcores = orDefault(o.NodeVcores, 8)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// A Testbed is a running cluster. Its methods may be called concurrently, except those that stop, start or change the
// ResourceManager, a node or the testbed itself.
type Testbed struct {
	Dir   string
	Cache Cache

	opt     Options
	user    string
	java    string
	lock    *os.File
	starter *starter
	jobs    atomic.Int64 // numbers the clients' logs
	echoOut []io.Writer
	echoErr []io.Writer
}

// Start starts a testbed and returns when all of it answers. Only one can run on a machine at a time. Nothing is left
// running after an error, nor, unless the options say so, if the program ends without Stop.
func Start(ctx context.Context, o Options) (*Testbed, error) {
	cache, err := OpenCache()
	if err != nil {
		return nil, err
	}
	if err := o.complete(cache); err != nil {
		return nil, err
	}
	lock, err := takeLock(ctx, o.Dir, o.LockWait, o.Log)
	if err != nil {
		return nil, err
	}
	b, err := newTestbed(cache, o)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	b.lock = lock
	if err := b.up(ctx); err != nil {
		return nil, errors.Join(err, b.Stop())
	}
	if o.Detached {
		err = b.lock.Close() // the daemons hold it
		b.lock = nil
	}
	return b, err
}

// Open returns the testbed that was started in a folder; it may have stopped since.
func Open(dir string) (*Testbed, error) {
	cache, err := OpenCache()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir = filepath.Join(cache.Dir, "run")
	}
	text, err := os.ReadFile(filepath.Join(dir, "testbed.json"))
	if err != nil {
		return nil, fmt.Errorf("no testbed was started in %s: %w", dir, err)
	}
	var o Options
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "testbed.json"), err)
	}
	if err := o.complete(cache); err != nil {
		return nil, err
	}
	return newTestbed(cache, o)
}

func newTestbed(cache Cache, o Options) (*Testbed, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, errors.New(Missing())
	}
	if java, err = filepath.EvalSymlinks(java); err != nil {
		return nil, err
	}
	return &Testbed{Dir: o.Dir, Cache: cache, opt: o, user: me.Username, java: java, starter: newStarter()}, nil
}

// Echo copies what clients print from now on to these writers too.
func (b *Testbed) Echo(stdout, stderr io.Writer) {
	b.echoOut, b.echoErr = []io.Writer{stdout}, []io.Writer{stderr}
}

// Conf returns the folder of the configuration files, the value of HADOOP_CONF_DIR.
func (b *Testbed) Conf() string { return b.dir("conf") }

// LogFile returns the file for a daemon's output. The daemon is namenode, datanode1, nodemanager1, historyserver or
// resourcemanager.
func (b *Testbed) LogFile(daemon string) string { return filepath.Join(b.dir("log"), daemon+".log") }

// Options returns the current options, with defaults filled in.
func (b *Testbed) Options() Options { return b.opt }

func (b *Testbed) dir(name string) string { return filepath.Join(b.Dir, name) }

// up empties the folder and starts everything at the same time: each daemon keeps asking for the others until they
// answer.
func (b *Testbed) up(ctx context.Context) error {
	if err := b.Cache.Fetch(ctx); err != nil {
		return err
	}
	began := time.Now()
	if err := b.clear(); err != nil {
		return err
	}
	if err := b.writeConf(); err != nil {
		return err
	}
	if err := b.prepareRM(ctx); err != nil { // it may build the program first
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	start := []func() error{b.startNameNode, b.startHistory}
	if b.opt.RM != None {
		start = append(start, b.startRM)
	}
	for n := 1; n <= b.opt.Nodes; n++ {
		start = append(start, func() error { return b.startDataNode(n) }, func() error { return b.startNodeManager(n, nil) })
	}
	if err := b.format(ctx); err != nil {
		return err
	}
	for _, f := range start {
		if err := f(); err != nil {
			return err
		}
	}
	waits := []func() error{func() error { return b.awaitHDFS(ctx) }, func() error { return b.awaitHistory(ctx) }}
	if b.opt.RM != None {
		waits = append(waits, func() error { _, err := b.awaitRM(ctx); return err })
	}
	if err := inParallel(waits...); err != nil {
		return err
	}
	b.opt.Log.Info("the testbed is up", "rm", b.opt.RM, "profile", b.opt.Profile, "seconds", time.Since(began).Seconds())
	return nil
}

// clear empties the testbed's folder and ends what an earlier testbed in it may have left running.
func (b *Testbed) clear() error {
	b.reap()
	if err := os.RemoveAll(b.Dir); err != nil {
		return err
	}
	for _, dir := range []string{"log", "pid", "tmp"} {
		if err := os.MkdirAll(b.dir(dir), 0o755); err != nil {
			return err
		}
	}
	return b.save()
}

// save keeps the options for Open.
func (b *Testbed) save() error {
	text, err := json.MarshalIndent(b.opt, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.dir("testbed.json"), append(text, '\n'), 0o644)
}

// Stop ends everything the testbed started, including containers, and leaves its folder with all logs. The
// ResourceManager gets time to end by itself. Stopping twice does no harm.
func (b *Testbed) Stop() error {
	err := b.stopRM()
	b.reap()
	b.starter.close()
	if b.lock != nil {
		err = errors.Join(err, b.lock.Truncate(0), b.lock.Close())
		b.lock = nil
	}
	return err
}

// reap kills everything that runs for the testbed, whoever started it: the data in the folder is worthless.
func (b *Testbed) reap() {
	for _, name := range b.daemons() {
		if p, err := b.pid(name); err == nil {
			p.signalGroup(syscall.SIGKILL)
			p.gone(5 * time.Second)
		}
		_ = os.Remove(b.pidFile(name)) // the folder is emptied before it is used again
	}
	// Twice: the second list has what a dying container's shell still starts.
	for range 2 {
		killIn(b.dir("tmp"))
		for n := 1; n <= maxNodes; n++ { // an earlier testbed may have had more than this one
			killIn(b.nodeDir(n))
		}
	}
}
