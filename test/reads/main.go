// Command reads measures what readers cost the nodes of a ResourceManager: hollow NodeManagers report to a heddle rm
// with many applications, in a separate process, while clients list the applications.
//
// It measures several steps: the NodeManagers alone, then with lists of the newest applications at a steady rate beside
// them, and then with monitors that ask for the whole list every second. The time of a node's report lasts until its
// answer. Readers have a separate process that gets the processor time that the others leave: they stand for clients on
// other machines.
//
// The rest of their cost comes from the machine: its processors and network serve all readers, wherever they are. So
// both steps are repeated with readers of another ResourceManager on the same machine. Only what reports take longer
// than in those steps is due to lists from their own ResourceManager.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protowire"

	"heddle/daemon/serve"
	"heddle/daemon/setup"
	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

const (
	// asManager is the environment variable that makes this program the ResourceManager: the folder of its
	// configuration.
	asManager = "HEDDLE_BENCH_READS"
	// asReaders is the environment variable that makes this program the readers.
	asReaders = "HEDDLE_BENCH_READERS"
)

// settings are the settings of the command line.
type settings struct {
	nodes, apps, lists, limit, monitors int
	every, measured                     time.Duration
}

func main() {
	if dir := os.Getenv(asManager); dir != "" {
		if err := manage(dir); err != nil {
			fmt.Fprintln(os.Stderr, "the ResourceManager:", err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(asReaders) != "" {
		if err := readAll(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "the readers:", err)
			os.Exit(1)
		}
		return
	}
	var s settings
	flag.IntVar(&s.nodes, "nodes", 100, "NodeManagers")
	flag.DurationVar(&s.every, "every", 100*time.Millisecond, "how often each reports")
	flag.IntVar(&s.apps, "apps", 10_000, "applications, of which the most wait")
	flag.IntVar(&s.lists, "lists", 1000, "lists a second")
	flag.IntVar(&s.limit, "limit", 50, "applications on a list")
	flag.IntVar(&s.monitors, "monitors", 10, "monitors that ask for all applications every second")
	flag.DurationVar(&s.measured, "for", 15*time.Second, "how long each step is measured")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := s.run(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "reads:", err)
		os.Exit(1)
	}
}

// files is the configuration of the ResourceManager.
var files = map[string]string{
	setup.FileName: `listen: {host: 127.0.0.1, client: ":0", scheduler: ":0", tracker: ":0", admin: ":0", web: ":0"}
facts: {masters: false, submissions: false}
`,
	"capacity-scheduler.xml": `<configuration>
  <property><name>yarn.scheduler.capacity.root.queues</name><value>default</value></property>
  <property><name>yarn.scheduler.capacity.root.default.capacity</name><value>100</value></property>
  <property><name>yarn.scheduler.capacity.maximum-applications</name><value>1000000</value></property>
</configuration>
`,
}

// open holds the ports on which the ResourceManager listens.
type open struct{ Client, Tracker string }

// manage is the ResourceManager. It says where it listens, and ends when its input ends.
func manage(dir string) error {
	s, err := setup.Load(setup.Options{ConfDir: dir, Profile: "capacity", Data: filepath.Join(dir, "state")})
	if err != nil {
		return err
	}
	d, err := serve.Start(serve.Options{
		Config: s.Config, Scheduler: s.Scheduler, Refresh: s.Refresh, Facts: s.Facts, DataDir: s.DataDir, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	err = json.NewEncoder(os.Stdout).Encode(open{d.Client.String(), d.Tracker.String()})
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, d.Stop())
}

// run measures one step after the other.
func (s *settings) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "heddle-reads-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var both [2]*cluster
	for i := range both {
		c := &cluster{settings: s}
		stop, failed := c.start(dir, i)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, stop()) }()
		if err := c.fill(ctx); err != nil {
			return err
		}
		both[i] = c
	}
	return both[0].measureAll(ctx, both[1])
}

// A cluster is a ResourceManager and its callers.
type cluster struct {
	*settings
	at    open
	nodes []*node
}

// start starts the nth ResourceManager, with its folder in dir, and returns a function that stops it.
func (c *cluster) start(dir string, nth int) (stop func() error, err error) {
	dir = filepath.Join(dir, strconv.Itoa(nth))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	cmd.Env, cmd.Stderr = append(os.Environ(), asManager+"="+dir), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() error { return errors.Join(in.Close(), cmd.Wait()) }
	if err := json.NewDecoder(out).Decode(&c.at); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// A node is a hollow NodeManager.
type node struct {
	peer *hollow.Peer
	id   ids.Node
	last int32
}

// fill registers the nodes, which report once, and submits the applications.
func (c *cluster) fill(ctx context.Context) error {
	for i := range c.settings.nodes {
		n := &node{peer: hollow.NewPeer(c.at.Tracker, hollow.AsNode()), id: ids.Node{Host: hollow.Address(i), Port: 8041}}
		if err := n.peer.Call(ctx, "registerNodeManager", hollow.Joining(n.id, 8, nil), &wire.RegisterNodeManagerResponse{}); err != nil {
			return err
		}
		if err := n.beat(ctx); err != nil {
			return err
		}
		c.nodes = append(c.nodes, n)
	}
	g, all := errgroup.WithContext(ctx)
	const clients = 32
	for part := range clients {
		g.Go(func() error {
			p := hollow.NewPeer(c.at.Client, hollow.AsClient(fmt.Sprint("user", part)))
			defer p.Close()
			for i := part; i < c.apps; i += clients {
				var id wire.GetNewApplicationResponse
				if err := p.Call(all, "getNewApplication", &wire.GetNewApplicationRequest{}, &id); err != nil {
					return err
				}
				q := hollow.Submission(id.GetApplicationId(), fmt.Sprint("job", i), "default")
				if err := p.Call(all, "submitApplication", q, &wire.SubmitApplicationResponse{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// beat sends one report of a node.
func (n *node) beat(ctx context.Context) error {
	st := &wire.NodeStatus{NodeId: conv.WireNode(n.id), ResponseId: &n.last, NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)}}
	var p wire.NodeHeartbeatResponse
	if err := n.peer.Call(ctx, "nodeHeartbeat", &wire.NodeHeartbeatRequest{NodeStatus: st}, &p); err != nil {
		return err
	}
	n.last = p.GetResponseId()
	return nil
}

// took collects how long calls took.
type took struct {
	mu   sync.Mutex
	list []time.Duration
}

func (t *took) add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, d)
}

// of returns a quantile: a fraction part of the calls took at most that long.
func (t *took) of(part float64) time.Duration {
	if len(t.list) == 0 {
		return 0
	}
	slices.Sort(t.list)
	return t.list[int(part*float64(len(t.list)-1))].Round(10 * time.Microsecond)
}

// measureAll measures each step, and the steps with readers also with readers of another cluster, and prints a table.
func (c *cluster) measureAll(ctx context.Context, other *cluster) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d applications, %d nodes that report every %v\treports\tmedian\tp99\tmost\tlists a second\tmedian\tp99\n", c.apps, len(c.nodes), c.every)
	for _, step := range []struct {
		what             string
		of               *cluster
		readers, a, size int // readers, lists per second in total, applications per list
	}{
		{"nodes alone", c, 0, 0, 0},
		{fmt.Sprintf("%d lists a second of %d", c.lists, c.limit), c, 32, c.lists, c.limit},
		{"… from the other one", other, 32, c.lists, c.limit},
		{fmt.Sprintf("%d monitors of all", c.monitors), c, c.monitors, c.monitors, 0},
		{"… from the other one", other, c.monitors, c.monitors, 0},
		{"nodes alone", c, 0, 0, 0},
	} {
		beats, lists, err := c.measure(ctx, step.of.at.Client, step.readers, step.a, step.size)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%d\t%v\t%v\t%v\t%.0f\t%v\t%v\n", step.what, len(beats.list), beats.of(0.5), beats.of(0.99), beats.of(1),
			float64(len(lists.list))/c.measured.Seconds(), lists.of(0.5), lists.of(0.99))
	}
	return w.Flush()
}

// measure lets nodes report while readers list size applications from the ResourceManager at from, rate times per
// second in total.
func (c *cluster) measure(ctx context.Context, from string, readers, rate, size int) (beats, lists *took, err error) {
	beats, lists = &took{}, &took{}
	g, all := errgroup.WithContext(ctx)
	began := time.Now()
	for i, n := range c.nodes {
		phase := c.every * time.Duration(i) / time.Duration(len(c.nodes))
		g.Go(func() error { return pace(all, c.measured, began.Add(phase), c.every, beats, n.beat) })
	}
	if readers > 0 {
		g.Go(func() error {
			return hollow.Elsewhere(all, asReaders, 19, reading{from, readers, rate, size, c.apps, c.measured}, &lists.list)
		})
	}
	return beats, lists, g.Wait()
}

// A reading is the readers' task: Readers list Size applications each time, or all if Size is 0, Rate times per second
// in total.
type reading struct {
	Client                    string
	Readers, Rate, Size, Apps int
	Measured                  time.Duration
}

// readAll does the reading that it gets from in, and writes how long each list took.
func readAll(in io.Reader, out io.Writer) error {
	var r reading
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return err
	}
	lists := &took{}
	g, all := errgroup.WithContext(context.Background())
	began := time.Now()
	for i := range r.Readers {
		p := hollow.NewPeer(r.Client, hollow.AsClient(fmt.Sprint("reader", i)))
		q := &wire.GetApplicationsRequest{}
		if r.Size > 0 {
			q.Limit = new(int64(r.Size))
		}
		every := time.Second * time.Duration(r.Readers) / time.Duration(r.Rate)
		phase := every * time.Duration(i) / time.Duration(r.Readers)
		g.Go(func() error {
			defer p.Close()
			return pace(all, r.Measured, began.Add(phase), every, lists, func(ctx context.Context) error {
				var a wire.GetClusterMetricsRequest // a type that knows none of a list's fields, so that decoding it is not measured
				if err := p.Call(ctx, "getApplications", q, &a); err != nil {
					return err
				}
				return listed(a.ProtoReflect().GetUnknown(), cmp.Or(r.Size, r.Apps))
			})
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(lists.list)
}

// listed returns an error unless a list has want applications.
func listed(list []byte, want int) error {
	n := 0
	for ; len(list) > 0; n++ {
		_, _, size := protowire.ConsumeField(list)
		if size < 0 {
			return protowire.ParseError(size)
		}
		list = list[size:]
	}
	if n != want {
		return fmt.Errorf("a list has %d applications, want %d", n, want)
	}
	return nil
}

// pace calls at intervals until the step is over, but not again before the last call is answered. The first fifth is
// not counted.
func pace(ctx context.Context, measured time.Duration, from time.Time, every time.Duration, t *took, call func(context.Context) error) error {
	const warm = 5
	began := time.Now()
	counts, end := began.Add(measured/warm), began.Add(measured+measured/warm)
	for at := from; at.Before(end); at = at.Add(every) {
		if late := time.Since(at); late > every {
			at = at.Add(late.Truncate(every))
		}
		select {
		case <-time.After(time.Until(at)):
		case <-ctx.Done():
			return ctx.Err()
		}
		said := time.Now()
		if err := call(ctx); err != nil {
			return err
		}
		if now := time.Now(); said.After(counts) && now.Before(end) {
			t.add(now.Sub(said))
		}
	}
	return nil
}
