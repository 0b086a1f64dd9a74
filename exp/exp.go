// Package exp puts experiments together: it turns a workload, a cluster, a configuration and profiles into simulator
// runs, and the runs into a comparison.
//
// It neither simulates nor decides: it builds runs, starts them and collects their results. A [Plan] does that for any
// workload, an [Experiment] for one of a paper, compared with what was published. The papers' experiments are in their
// own folders, which this package does not know; package catalogue lists them.
package exp

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/policy"
	"heddle/sim"
	"heddle/sim/bound"
	"heddle/sim/world"
	"heddle/workload"
)

// A Plan says what to run: every profile with every seed.
type Plan struct {
	Workload *workload.Workload
	Profiles []*policies.Profile
	Seeds    []uint64
	Conf     *conf.Hadoop

	Nodes     []world.NodeSpec
	UplinkBps float64
	Effects   world.Effects
	Faults    func(seed uint64) []sim.Fault

	// Prepare may change the policies of a run before it begins; nil = policies run as the profile has them.
	Prepare func(run int, set *policy.Set)

	// Rebuild makes the workload of another seed, if workloads are drawn by seed; nil = always the same.
	Rebuild func(seed uint64) (*workload.Workload, error)

	Stock      bool // run every profile as a stock ResourceManager would: see [sim.Options]
	PromptEnds bool // likewise
	Given      bool
	Costs      *sim.Costs // of the given world: see [sim.Options]
	Parts      []sim.JobParts
	Loads      []sim.Load
	KeepTasks  bool
	Trace      bool // keep predictions, and what tasks were given and what they used
	EveryBeat  bool
	Check      bool
	MaxTime    heddle.Time
	Workers    int // concurrent runs; 0 = one per processor

	apart bool     // jobs run one after the other: see [Plan.Alone]
	needs [][]need // by seed and job, if the orders know them: see [Plan.Clairvoyant]

	// Report is called with the progress of each run, from several goroutines but one call at a time.
	Report func(run int, p sim.Progress)
	// Done is called for every run that ended, in the order in which they end.
	Done func(run int, r *sim.Result)
	Stop func() bool
}

// Runs returns the number of runs in the plan.
func (p *Plan) Runs() int { return len(p.Profiles) * len(p.Seeds) }

// Run runs the plan. The results are indexed by profile, then by seed. If Stop ended the plan early, runs that had not
// begun are nil.
func (p *Plan) Run() ([][]*sim.Result, error) {
	out := make([][]*sim.Result, len(p.Profiles))
	for i := range out {
		out[i] = make([]*sim.Result, len(p.Seeds))
	}
	q := pool{workers: p.Workers, stop: p.Stop}
	err := q.run(p.Runs(), func(run int) (func(), error) {
		// Seeds vary slowest, so that a run cut short has every profile for the first seeds.
		seed, profile := run/len(p.Profiles), run%len(p.Profiles)
		r, err := p.one(run, p.Profiles[profile], p.Seeds[seed], &q.mu)
		if err != nil {
			err = fmt.Errorf("profile %s, seed %d: %w", p.Profiles[profile].Name, p.Seeds[seed], err)
		}
		return func() {
			out[profile][seed] = r
			if r != nil && p.Done != nil {
				p.Done(run, r)
			}
		}, err
	})
	return out, err
}

func (p *Plan) one(run int, profile *policies.Profile, seed uint64, mu *sync.Mutex) (*sim.Result, error) {
	wl := p.Workload
	if p.Rebuild != nil {
		var err error
		if wl, err = p.Rebuild(seed); err != nil {
			return nil, err
		}
	}
	built, queues, users, err := route(profile, p.Conf, wl, seed)
	if err != nil {
		return nil, err
	}
	if p.Prepare != nil {
		p.Prepare(run, &built.Set)
	}
	o := sim.Options{
		Profile: profile.Name, Set: built.Set, Seed: seed, Workload: wl, Queues: queues, Users: users,
		Nodes: p.Nodes, UplinkBps: p.UplinkBps, Params: world.DefaultParams(), Effects: p.Effects,
		Given: p.Given, PromptEnds: p.PromptEnds, Costs: p.Costs, Parts: p.Parts, Loads: p.Loads, LoadSim: wl.Format == "sls", NodeBeat: p.Conf.Site.NodeHeartbeat, Expiry: p.Conf.Site.NodeExpiry, MasterBeat: p.Conf.Site.MasterHeartbeat,
		KeepTasks: p.KeepTasks, Trace: p.Trace, EveryBeat: p.EveryBeat, Check: p.Check, MaxTime: p.MaxTime, Stop: p.Stop,
	}
	if p.needs != nil {
		k := know(&o.Set, p.needs[run/len(p.Profiles)])
		o.Submit = func(job int) { k.submitting = job }
	}
	o.Stock, o.Apart = p.Stock || profile.Stock, p.apart
	o.CountCPU, o.Shrinks = p.countCPU(), slices.ContainsFunc(p.Profiles, (*policies.Profile).Shrinks)
	o.SlotMaster, o.NoAgents = profile.Masters == policies.AtOnce, profile.Agentless || profile.Agents
	if profile.Agents {
		o.NodeAgents = &sim.NodeAgents{}
	}
	if p.Faults != nil {
		o.Faults = p.Faults(seed)
	}
	if p.Report != nil {
		o.Report = func(q sim.Progress) {
			mu.Lock()
			defer mu.Unlock()
			p.Report(run, q)
		}
	}
	began := time.Now()
	r, err := sim.Run(o)
	if err != nil {
		return nil, err
	}
	r.Wall = time.Since(began).Seconds()
	return r, nil
}

// countCPU reports whether every profile counts processors.
func (p *Plan) countCPU() bool {
	for _, f := range p.Profiles {
		if f.Queues == "capacity" && p.Conf.Capacity != nil && p.Conf.Capacity.MemoryOnly {
			return false
		}
	}
	return true
}

// ScaleTo returns the factor by which the times between submissions must be multiplied for the work the jobs offer,
// with the first seed, to be the given load of what the cluster can do.
func (p *Plan) ScaleTo(load float64) (float64, error) {
	wl := p.Workload
	if p.Rebuild != nil {
		var err error
		if wl, err = p.Rebuild(p.Seeds[0]); err != nil {
			return 0, err
		}
	}
	jobs, total := sim.Offered(sim.Options{
		Workload: wl, Nodes: p.Nodes, UplinkBps: p.UplinkBps, Params: world.DefaultParams(), Effects: p.Effects,
		Given: p.Given, LoadSim: wl.Format == "sls", Seed: p.Seeds[0],
	}, p.countCPU())
	return bound.ScaleFor(load, jobs, total)
}

// Space spaces the jobs of w, which replaces the plan's workload for a seed, so that they offer a load: see
// [Plan.ScaleTo]. It returns the factor.
func (p *Plan) Space(w *workload.Workload, seed uint64, load float64) (factor float64, err error) {
	q := *p
	q.Workload, q.Rebuild, q.Seeds = w, nil, []uint64{seed}
	if factor, err = q.ScaleTo(load); err == nil {
		err = w.Scale(factor)
	}
	return factor, err
}

// route builds a profile's policies and finds every job's queue in its tree. Jobs that the configuration would turn
// away get no queue and are rejected on arrival.
func route(profile *policies.Profile, h *conf.Hadoop, wl *workload.Workload, seed uint64) (*policies.Built, []heddle.QueueID, []heddle.UserID, error) {
	env := policies.Env{Capacity: h.Capacity, Fair: h.Fair, Minimum: h.Site.Minimum, Maximum: h.Site.Maximum, Seed: seed}
	users := make([]heddle.UserID, len(wl.Jobs))
	ids := map[string]heddle.UserID{}
	for i := range wl.Jobs {
		u := wl.Jobs[i].User
		id, ok := ids[u]
		if !ok {
			id = heddle.UserID(len(ids))
			ids[u] = id
			env.Users = append(env.Users, u)
		}
		users[i] = id
	}
	paths, err := place(profile, h, wl, &env, seed)
	if err != nil {
		return nil, nil, nil, err
	}
	b, err := policies.Build(profile, env)
	if err != nil {
		return nil, nil, nil, err
	}
	byPath := map[string]heddle.QueueID{}
	for i, path := range b.Paths {
		byPath[path] = heddle.QueueID(i)
	}
	queues := make([]heddle.QueueID, len(paths))
	for i, path := range paths {
		q, ok := byPath[path]
		if !ok {
			q = heddle.NoQueue
		}
		queues[i] = q
	}
	return b, queues, users, nil
}

// place finds the path of every job's queue. For the fair scheduler it also creates the queues that its rules create.
func place(profile *policies.Profile, h *conf.Hadoop, wl *workload.Workload, env *policies.Env, seed uint64) ([]string, error) {
	paths := make([]string, len(wl.Jobs))
	switch profile.Queues {
	case "capacity":
		if h.Capacity == nil {
			return nil, fmt.Errorf("the configuration folder holds no capacity-scheduler.xml")
		}
		for i := range wl.Jobs {
			j := &wl.Jobs[i]
			if path, _, err := h.CapacityPlacement.Place(j.Queue, j.User, nil); err == nil {
				paths[i] = path
			}
		}
	case "fair":
		if h.Fair == nil {
			return nil, fmt.Errorf("the configuration folder holds no fair-scheduler.xml")
		}
		rules, cfg := h.FairPlacement.Clone() // every run creates its own queues
		for i := range wl.Jobs {
			j := &wl.Jobs[i]
			path, isNew, err := rules.Place(j.Queue, j.User, nil)
			if err != nil {
				continue
			}
			if isNew {
				if err := rules.Create(path); err != nil {
					return nil, err
				}
			}
			paths[i] = path
		}
		cfg.SortQueues()
		cfg.UpdatePhase = phase(seed, cfg.UpdateInterval)
		env.Fair = cfg
	default:
		for i := range paths {
			paths[i] = "root.default"
		}
	}
	return paths, nil
}

// phase returns when within its interval the fair scheduler updates demand. Nothing else in a cluster is synchronised
// with that, so it differs by seed; multiples of the golden ratio spread a few seeds evenly.
func phase(seed uint64, interval heddle.Span) heddle.Span {
	_, part := math.Modf(float64(seed%1024) * math.Phi)
	return heddle.Span(part * float64(interval))
}

// Cluster returns n nodes of the given size in racks racks of equal size.
func Cluster(n, racks int, size heddle.Resource) []world.NodeSpec {
	nodes := make([]world.NodeSpec, n)
	for i := range nodes {
		nodes[i] = world.NodeSpec{Name: fmt.Sprintf("node%d", i+1), Rack: heddle.RackID(i * racks / n), Total: size}
	}
	return nodes
}

// FromList turns a list of nodes into a cluster; size applies to nodes that state none. A node that states only its
// memory or only its processors has the other from size.
func FromList(list []workload.Node, size heddle.Resource) ([]world.NodeSpec, error) {
	racks := map[string]heddle.RackID{}
	var nodes []world.NodeSpec
	for _, n := range list {
		total := n.Size
		if total.IsZero() {
			total = size
		}
		for _, d := range [...]heddle.Dim{heddle.Memory, heddle.CPU} {
			if total[d] == 0 {
				total[d] = size[d]
			}
		}
		if total[heddle.Memory] == 0 || total[heddle.CPU] == 0 {
			return nil, fmt.Errorf("node %s states no size; give one with --node", n.Name)
		}
		r, ok := racks[n.Rack]
		if !ok {
			r = heddle.RackID(len(racks))
			racks[n.Rack] = r
		}
		nodes = append(nodes, world.NodeSpec{Name: n.Name[strings.LastIndexByte(n.Name, '/')+1:], Rack: r, Total: total})
	}
	return nodes, nil
}
