package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"heddle"
	"heddle/daemon/serve"
	"heddle/daemon/setup"
	"heddle/policies"
	"heddle/policy"
)

// asManager is the environment variable that makes this program the ResourceManager. It holds the settings, as JSON.
const asManager = "HEDDLE_BENCH_AGENTS"

// managed are the settings of the ResourceManager.
type managed struct {
	Dir        string // used only by it
	Profile    string
	Containers int // in total
	PerRun     int // containers that the policy weighs in each run
	Every      time.Duration
}

// open holds the ports on which the ResourceManager listens and when it began, in milliseconds since 1970.
type open struct {
	Client, Scheduler, Tracker, Agents, Web string
	Began                                   int64
}

// An order is a command to the ResourceManager.
type order struct {
	Deeds   bool   // whether containers are weighed from now on
	Profile string // where to write a CPU profile, which ends with the next order; "" for none
}

// done counts what the policy has wanted so far.
type done struct {
	Weighed, Parked, Resumed int64
}

// manage is the ResourceManager: heddle rm with one additional policy. It says where it listens, and answers orders
// until its input ends.
func manage(in io.Reader, out io.Writer) error {
	var c managed
	if err := json.Unmarshal([]byte(os.Getenv(asManager)), &c); err != nil {
		return err
	}
	p := &stamper{every: heddle.Span(c.Every), perRun: c.PerRun, ids: c.Containers}
	policies.Table.Control["stamper"] = func(policy.Args) (policy.Control, error) { return p, nil }
	s, err := setup.Load(setup.Options{
		ConfDir: c.Dir, Profile: c.Profile, Sets: []string{"control=[stamper]"}, Data: filepath.Join(c.Dir, "state"),
	})
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	d, err := serve.Start(serve.Options{
		Config: s.Config, Scheduler: s.Scheduler, Refresh: s.Refresh, Facts: s.Facts, DataDir: s.DataDir, Log: log,
	})
	if err != nil {
		return err
	}
	err = obey(p, json.NewDecoder(in), json.NewEncoder(out), open{
		d.Client.String(), d.Scheduler.String(), d.Tracker.String(), d.Agents.String(), d.Web.String(), d.RM.ClusterTimestamp(),
	})
	return errors.Join(err, d.Stop())
}

// obey answers orders until its input ends.
func obey(p *stamper, in *json.Decoder, out *json.Encoder, at open) error {
	if err := out.Encode(at); err != nil {
		return err
	}
	var profile *os.File
	for {
		var o order
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if profile != nil {
			pprof.StopCPUProfile()
			if err := profile.Close(); err != nil {
				return err
			}
			profile = nil
		}
		if o.Profile != "" {
			var err error
			if profile, err = os.Create(o.Profile); err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(profile); err != nil {
				return err
			}
		}
		p.on.Store(o.Deeds)
		if err := out.Encode(done{p.weighed.Load(), p.parked.Load(), p.resumed.Load()}); err != nil {
			return err
		}
	}
}

// A stamper weighs some containers in each run, different ones each time until all had their turn. It parks every other
// container that it weighs, or resumes it. A weight says when it was wanted: see [stamp].
type stamper struct {
	every  heddle.Span
	perRun int
	ids    int // about as many as there are containers
	next   int

	on                       atomic.Bool
	weighed, parked, resumed atomic.Int64
}

// Every implements policy.Control.
func (p *stamper) Every() heddle.Span { return p.every }

// Needs implements policy.Needer: the agents' measurements are processed, as for a policy that uses them.
func (p *stamper) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Profile: 5 * heddle.Second}, Can: heddle.Weighs}
}

// stride is the distance between the ids of containers weighed one after the other, so that they are on different
// nodes. It is a prime, so that all have their turn.
const stride = 7919

// Run implements policy.Control.
func (p *stamper) Run(v policy.View, plan *policy.Plan) {
	if !p.on.Load() {
		return
	}
	weight := 10 * stamp(int64(v.Now()/heddle.Time(heddle.Millisecond)))
	for range p.perRun {
		id := heddle.ContainerID(p.next)
		p.next = (p.next + stride) % p.ids
		x := v.Container(id)
		if x == nil || x.Kind() == heddle.AM || !x.Node().Can(heddle.Weighs|heddle.Parks) {
			continue
		}
		plan.Weigh(id, weight)
		p.weighed.Add(1)
		switch {
		case id%2 == 0:
		case x.Suspended():
			plan.Resume(id)
			p.resumed.Add(1)
		default:
			plan.Suspend(id)
			p.parked.Add(1)
		}
	}
}

// Weights that say when they were wanted are in the numStamps values from firstStamp on, in the agents' units.
const (
	firstStamp = 1000 // above every weight that stands for a size here
	numStamps  = 900_000
)

// stamp returns the weight, in the agents' units, that says it was wanted at a time in milliseconds.
func stamp(at int64) int64 { return firstStamp + at%numStamps }

// since returns how long ago the weight of a stamp was wanted, if it is a stamp: less than numStamps milliseconds ago.
func since(weight, nowMicros int64) (time.Duration, bool) {
	if weight < firstStamp || weight >= firstStamp+numStamps {
		return 0, false
	}
	const all = numStamps * 1000
	ago := (nowMicros - (weight-firstStamp)*1000) % all
	return time.Duration((ago+all)%all) * time.Microsecond, true
}

// A manager is a ResourceManager in a separate process.
type manager struct {
	open
	cmd *exec.Cmd
	dir string
	log *os.File
	in  io.WriteCloser
	out *json.Decoder
}

// files is the configuration of the ResourceManager.
var files = map[string]string{
	setup.FileName: `listen: {host: 127.0.0.1, client: ":0", scheduler: ":0", tracker: ":0", admin: ":0", web: ":0", agents: "127.0.0.1:0"}
facts: {masters: false, submissions: false}
limits: {nodes_per_address: 100000}
`,
	// Masters may take everything: the first nodes hold nothing else.
	"capacity-scheduler.xml": `<configuration>
  <property><name>yarn.scheduler.capacity.root.queues</name><value>default</value></property>
  <property><name>yarn.scheduler.capacity.root.default.capacity</name><value>100</value></property>
  <property><name>yarn.scheduler.capacity.maximum-am-resource-percent</name><value>1</value></property>
  <property><name>yarn.scheduler.capacity.resource-calculator</name><value>org.apache.hadoop.yarn.util.resource.DominantResourceCalculator</value></property>
</configuration>
`,
}

// startManager starts a ResourceManager.
func startManager(s *settings) (m *manager, err error) {
	m = &manager{}
	if m.dir, err = os.MkdirTemp("", "heddle-agents-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(m.dir))
		}
	}()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	with, err := json.Marshal(managed{
		Dir: m.dir, Profile: s.profile, Containers: s.nodes*s.containers + s.masters(), PerRun: s.perRun(), Every: s.every,
	})
	if err != nil {
		return nil, err
	}
	if m.log, err = os.Create(filepath.Join(m.dir, "log")); err != nil {
		return nil, err
	}
	m.cmd = exec.Command(exe)
	m.cmd.Env = append(os.Environ(), asManager+"="+string(with))
	m.cmd.Stderr = m.log
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	m.out = json.NewDecoder(bufio.NewReader(out))
	if err := m.out.Decode(&m.open); err != nil {
		return nil, errors.Join(fmt.Errorf("it does not say where it listens: %w", err), m.stop())
	}
	return m, nil
}

// say gives an order.
func (m *manager) say(o order) (d done, err error) {
	if err := json.NewEncoder(m.in).Encode(o); err != nil {
		return d, err
	}
	return d, m.out.Decode(&d)
}

// stop ends the ResourceManager, and returns the end of its log if it failed.
func (m *manager) stop() error {
	_ = m.in.Close() // the end of its input tells it to stop
	err := m.cmd.Wait()
	if err != nil {
		const most = 4 << 10
		text, _ := os.ReadFile(m.log.Name())
		err = fmt.Errorf("the ResourceManager: %w\n%s", err, text[max(0, len(text)-most):])
	}
	return errors.Join(err, m.log.Close(), os.RemoveAll(m.dir))
}

// pid returns the number of its process.
func (m *manager) pid() string { return strconv.Itoa(m.cmd.Process.Pid) }
