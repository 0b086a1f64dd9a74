package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"heddle"
	"heddle/daemon"
	"heddle/internal/histogram"
	"heddle/rm"
)

// RPC returns the figures of each RPC port by its name: client, scheduler, tracker, admin.
type RPC map[string]func() RPCStats

// RPCStats are the figures of an RPC port since it was opened.
type RPCStats struct {
	Conns    int    // open now
	Accepted uint64 // connections
	Calls    int    // being answered now
	BytesIn  uint64
	BytesOut uint64
	Panics   uint64
	Methods  map[string]uint64 // calls by protocol/method
	Failed   map[string]uint64 // those answered with an error
	Refused  map[string]uint64 // connections and calls, by the reason of the refusal
}

// FactStats are the figures of what was found out about the jobs of one framework from one source: their masters, or
// what clients leave beside submissions.
type FactStats struct {
	Source, Framework string
	Asked, Failed     uint64 // asks, and those of which something failed
	Requests, Bytes   uint64 // that the asks took
	Seconds           float64
}

// scrapeTimeout is how long a scrape waits for the daemon.
const scrapeTimeout = 5 * time.Second

// prometheus returns the handler of /metrics and registers the metrics.
func (s *site) prometheus() http.Handler {
	s.Registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{s: s},
	)
	return promhttp.HandlerFor(s.Registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4, Timeout: 2 * scrapeTimeout,
	})
}

// A collector asks the daemon when it is scraped: nothing is counted twice, and there is no cost between scrapes.
type collector struct{ s *site }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("heddle_"+name, help, labels, nil)
}

var (
	descBuild      = desc("build_info", "1; its labels say what runs here.", "version", "profile", "scheduler")
	descReady      = desc("ready", "1 if /readyz answers 200.")
	descApps       = desc("applications", "Applications that are not over, by state.", "state")
	descAppsTotal  = desc("applications_total", "Applications since the start, by event.", "event")
	descNodes      = desc("nodes", "NodeManagers by state.", "state")
	descMemory     = desc("memory_bytes", "Memory of the cluster.", "kind")
	descCPU        = desc("vcores", "Virtual cores of the cluster.", "kind")
	descContainers = desc("containers", "Containers: running, and of them parked and weighed; reserved, waiting.", "kind")
	descMeasured   = desc("measured_memory_bytes", "Memory in use on the nodes, as they measure it.")
	descMeasuredC  = desc("measured_vcores", "Cores in use on the nodes, as they measure it.")
	descSteps      = desc("scheduler_steps_total", "Events the scheduler took.")
	descGrants     = desc("scheduler_grants_total", "Containers the scheduler granted.")
	descUpdates    = desc("container_updates_total", "Changes of running containers that were sent to nodes, by event.", "event")
	descDeeds      = desc("container_deeds_total", "Changes that policies made to running containers, by kind.", "deed")
	descAgents     = desc("node_agents", "Nodes that have a node agent.")
	descAgentsUp   = desc("node_agents_connected_total", "Starts of node agents that the ResourceManager has seen.")
	descAgentsLost = desc("node_agents_lost_total", "Node agents that were lost because they were silent for too long.")
	descWishes     = desc("node_agent_wishes_total", "Wishes sent to node agents.")
	descAgentFails = desc("node_agent_failures_total", "Containers to which a node agent could not apply its instructions.")
	descUndone     = desc("undone_steps_total", "Changes to containers that policies wanted and nodes cannot make, by the missing capability.", "lacks")
	descBusy       = desc("loop_busy_ratio", "Share of the last seconds in which the loop was working, 0 to 1.")
	descWaiting    = desc("loop_calls_waiting", "Calls that wait for the loop.")
	descLag        = desc("loop_lag_seconds", "Time from the arrival of a call until the loop starts on it.")
	descStuck      = desc("loop_stuck_seconds", "How long the loop has been busy with one thing, if that is a second or more.")
	descStalls     = desc("loop_stalls_total", "How often the loop was busy with one thing for 5 s.")
	descViews      = desc("reads_views_total", "Views that the loop made for readers.")
	descQuestions  = desc("reads_questions_total", "Questions of readers that no view answers, by event.", "event")
	descReadsBusy  = desc("reads_loop_seconds_total", "Processor time that views and questions took in the loop.")
	descBeat       = desc("heartbeat_interval_seconds", "Heartbeat interval that nodes are told.")

	descQueueMemory = desc("queue_memory_bytes", "Memory of a queue.", "queue", "kind")
	descQueueCPU    = desc("queue_vcores", "Virtual cores of a queue.", "queue", "kind")
	descQueueApps   = desc("queue_applications", "Applications of a queue that are not over.", "queue", "state")
	descQueueTotal  = desc("queue_applications_total", "Applications of a queue since the start.", "queue", "event")
	descQueueConts  = desc("queue_containers", "Containers of a queue.", "queue", "kind")

	descRPCConns    = desc("rpc_connections", "Open connections.", "port")
	descRPCAccepted = desc("rpc_connections_total", "Connections, refused ones included.", "port")
	descRPCNow      = desc("rpc_calls_in_progress", "Calls being answered.", "port")
	descRPCBytes    = desc("rpc_bytes_total", "Bytes received and sent.", "port", "direction")
	descRPCPanics   = desc("rpc_panics_total", "Calls that ended in a panic.", "port")
	descRPCCalls    = desc("rpc_calls_total", "Calls.", "port", "protocol", "method")
	descRPCFailed   = desc("rpc_failed_calls_total", "Calls answered with an error.", "port", "protocol", "method")
	descRPCRefused  = desc("rpc_refused_total", "Connections and calls refused.", "port", "reason")

	descStoreWaiting = desc("store_commits_waiting", "Changes that are not on the disk yet.")
	descStoreBytes   = desc("store_bytes_waiting", "Bytes of the changes that are not on the disk yet.")
	descStoreOldest  = desc("store_oldest_seconds", "How long the oldest change that is not on the disk yet has waited.")
	descStoreWriting = desc("store_writing_seconds", "How long the transaction that is being written has taken so far.")
	descStoreShort   = desc("store_short", "1 while the disk is full and submissions are refused.")
	descStoreFsync   = desc("store_fsync_seconds", "Time the disk took for each transaction: to write its pages and for its fsyncs.")
	descStoreCommit  = desc("store_commit_seconds", "Time from handing changes to the store until they were on the disk.")

	descFacts         = desc("facts_asked_total", "Queries of masters, and submissions read.", "source", "framework")
	descFactsFailed   = desc("facts_failed_total", "Queries and submissions of which at least a part failed.", "source", "framework")
	descFactsRequests = desc("facts_requests_total", "Requests to masters, and files opened beside submissions.", "source", "framework")
	descFactsBytes    = desc("facts_bytes_total", "Bytes of the answers to these requests.", "source", "framework")
	descFactsSeconds  = desc("facts_seconds_total", "Time that queries and submissions took; concurrent ones are all counted.", "source", "framework")

	descHTTP        = desc("http_requests_total", "Requests answered, by class of status.", "class")
	descHTTPNow     = desc("http_requests_in_progress", "Requests being answered.")
	descHTTPRefused = desc("http_refused_total", "Requests turned away because too many were in progress.")
	descHTTPPanics  = desc("http_panics_total", "Requests that ended in a panic.")
)

// Describe sends nothing: that makes the collector an unchecked one.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends all metrics.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	m := sink{out}
	collectHealth(m, c.s.RM.Health())
	c.s.collectTraffic(m)
	c.s.collectRPC(m)
	c.s.collectFacts(m)
	cluster, err := c.s.RM.Cluster(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(descApps, err)
		return
	}
	m.gauge(descBuild, 1, c.s.Version, cluster.Profile, cluster.Scheduler)
	collectCluster(m, cluster)
	queues, err := c.s.RM.Queues(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(descQueueApps, err)
		return
	}
	for i := range queues {
		collectQueue(m, &queues[i])
	}
}

// A sink sends metrics.
type sink struct{ out chan<- prometheus.Metric }

func (m sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	m.send(d, prometheus.GaugeValue, v, labels)
}

func (m sink) counter(d *prometheus.Desc, v float64, labels ...string) {
	m.send(d, prometheus.CounterValue, v, labels)
}

// send sends a metric. Names that users choose may contain any bytes, but Prometheus accepts only UTF-8.
func (m sink) send(d *prometheus.Desc, t prometheus.ValueType, v float64, labels []string) {
	for i, l := range labels {
		labels[i] = strings.ToValidUTF8(l, "\uFFFD")
	}
	m.out <- prometheus.MustNewConstMetric(d, t, v, labels...)
}

// histogram sends durations.
func (m sink) histogram(d *prometheus.Desc, s histogram.Snapshot) {
	m.out <- prometheus.MustNewConstHistogram(d, s.Count, s.Seconds, s.Up)
}

// yes sends 1 for true and 0 for false.
func (m sink) yes(d *prometheus.Desc, v bool) {
	if v {
		m.gauge(d, 1)
		return
	}
	m.gauge(d, 0)
}

// resource sends memory and vcores of one kind.
func (m sink) resource(memory, cpu *prometheus.Desc, a rm.Amount, labels ...string) {
	m.gauge(memory, float64(a.MemoryMiB)*(1<<20), labels...)
	m.gauge(cpu, a.Vcores, labels...)
}

// collectHealth sends what is known without asking the loop, which may hang.
func collectHealth(m sink, h daemon.Health) {
	m.yes(descReady, h.Unready == "")
	m.gauge(descWaiting, float64(h.Calls))
	m.histogram(descLag, h.Lag)
	m.gauge(descStuck, h.Stuck.Seconds())
	m.counter(descStalls, float64(h.Stalls))
	m.counter(descViews, float64(h.Reads.Views))
	m.counter(descQuestions, float64(h.Reads.Questions), "asked")
	m.counter(descQuestions, float64(h.Reads.Dropped), "dropped")
	m.counter(descReadsBusy, h.Reads.Busy.Seconds())
	if st := h.Store; st != nil {
		m.gauge(descStoreWaiting, float64(st.Commits))
		m.gauge(descStoreBytes, float64(st.Bytes))
		m.gauge(descStoreOldest, st.Oldest.Seconds())
		m.gauge(descStoreWriting, st.Writing.Seconds())
		m.yes(descStoreShort, st.Short != nil)
		m.histogram(descStoreFsync, st.Writes)
		m.histogram(descStoreCommit, st.Waits)
	}
}

func collectCluster(m sink, c rm.ClusterReport) {
	m.gauge(descApps, float64(c.PendingApps), "pending")
	m.gauge(descApps, float64(c.RunningApps), "running")
	m.counter(descAppsTotal, float64(c.Submitted), "submitted")
	m.counter(descAppsTotal, float64(c.Completed), "completed")
	m.counter(descAppsTotal, float64(c.FailedApps), "failed")
	m.counter(descAppsTotal, float64(c.KilledApps), "killed")
	m.gauge(descNodes, float64(c.Active), "active")
	m.gauge(descNodes, float64(c.Lost), "lost")
	m.gauge(descNodes, float64(c.Unhealthy), "unhealthy")
	m.gauge(descNodes, float64(c.Decommissioning), "decommissioning")
	m.gauge(descNodes, float64(c.Decommissioned), "decommissioned")
	m.gauge(descNodes, float64(c.Rebooted), "rebooted")
	m.gauge(descNodes, float64(c.Shutdown), "shutdown")
	m.gauge(descNodes, float64(c.New), "awaited")
	m.resource(descMemory, descCPU, rm.AmountOf(c.Total), "total")
	m.resource(descMemory, descCPU, rm.AmountOf(c.Used), "used")
	m.resource(descMemory, descCPU, rm.AmountOf(c.Reserved), "reserved")
	m.resource(descMemory, descCPU, rm.AmountOf(c.Pending), "pending")
	m.gauge(descContainers, float64(c.Containers), "running")
	m.gauge(descContainers, float64(c.Reservations), "reserved")
	m.gauge(descContainers, float64(c.Waiting), "waiting")
	m.gauge(descContainers, float64(c.Parked), "parked")
	m.gauge(descContainers, float64(c.Weighed), "weighed")
	m.gauge(descAgents, float64(c.Agented))
	m.counter(descAgentsUp, float64(c.Agents.Connected))
	m.counter(descAgentsLost, float64(c.Agents.Lost))
	m.counter(descWishes, float64(c.Agents.Wishes))
	m.counter(descAgentFails, float64(c.Agents.Failed))
	m.gauge(descMeasured, float64(c.Utilized[heddle.Memory])*(1<<20))
	m.gauge(descMeasuredC, float64(c.Utilized[heddle.CPU])/1000)
	m.counter(descSteps, float64(c.Steps))
	m.counter(descGrants, float64(c.Grants))
	m.counter(descUpdates, float64(c.Updates.Sent), "sent")
	m.counter(descUpdates, float64(c.Updates.Confirmed), "confirmed")
	m.counter(descUpdates, float64(c.Updates.Refused), "refused")
	m.counter(descDeeds, float64(c.Deeds.Resized), "resized")
	m.counter(descDeeds, float64(c.Deeds.Suspended), "suspended")
	m.counter(descDeeds, float64(c.Deeds.Frozen), "frozen")
	m.counter(descDeeds, float64(c.Deeds.Resumed), "resumed")
	m.counter(descDeeds, float64(c.Deeds.Weighed), "weighed")
	m.counter(descDeeds, float64(c.Deeds.Bounded), "bounded")
	for i, n := range c.Undone {
		m.counter(descUndone, float64(n), heddle.Caps(1<<i).String())
	}
	m.gauge(descBusy, c.BusyPercent/100)
	m.gauge(descBeat, c.BeatEvery.Seconds())
}

func collectQueue(m sink, q *rm.QueueReport) {
	m.resource(descQueueMemory, descQueueCPU, q.Used, q.Path, "used")
	m.resource(descQueueMemory, descQueueCPU, q.Reserved, q.Path, "reserved")
	m.resource(descQueueMemory, descQueueCPU, q.Masters, q.Path, "masters")
	m.resource(descQueueMemory, descQueueCPU, q.Pending, q.Path, "pending")
	m.gauge(descQueueApps, float64(q.Active), q.Path, "active")
	m.gauge(descQueueApps, float64(q.Inactive), q.Path, "pending")
	m.counter(descQueueTotal, float64(q.Submitted), q.Path, "submitted")
	m.counter(descQueueTotal, float64(q.Completed), q.Path, "completed")
	m.counter(descQueueTotal, float64(q.Failed), q.Path, "failed")
	m.counter(descQueueTotal, float64(q.Killed), q.Path, "killed")
	m.gauge(descQueueConts, float64(q.Containers), q.Path, "running")
	m.gauge(descQueueConts, float64(q.Reservations), q.Path, "reserved")
	m.gauge(descQueueConts, float64(q.Waiting), q.Path, "waiting")
}

func (s *site) collectRPC(m sink) {
	for port, stats := range s.RPC {
		st := stats()
		m.gauge(descRPCConns, float64(st.Conns), port)
		m.counter(descRPCAccepted, float64(st.Accepted), port)
		m.gauge(descRPCNow, float64(st.Calls), port)
		m.counter(descRPCBytes, float64(st.BytesIn), port, "in")
		m.counter(descRPCBytes, float64(st.BytesOut), port, "out")
		m.counter(descRPCPanics, float64(st.Panics), port)
		for name, n := range st.Methods {
			protocol, method := methodName(name)
			m.counter(descRPCCalls, float64(n), port, protocol, method)
			m.counter(descRPCFailed, float64(st.Failed[name]), port, protocol, method)
		}
		for why, n := range st.Refused {
			m.counter(descRPCRefused, float64(n), port, why)
		}
	}
}

func (s *site) collectFacts(m sink) {
	if s.Facts == nil {
		return
	}
	for _, f := range s.Facts() {
		m.counter(descFacts, float64(f.Asked), f.Source, f.Framework)
		m.counter(descFactsFailed, float64(f.Failed), f.Source, f.Framework)
		m.counter(descFactsRequests, float64(f.Requests), f.Source, f.Framework)
		m.counter(descFactsBytes, float64(f.Bytes), f.Source, f.Framework)
		m.counter(descFactsSeconds, f.Seconds, f.Source, f.Framework)
	}
}

// methodName splits protocol/method and removes the protocol's package.
func methodName(name string) (protocol, method string) {
	protocol, method, _ = strings.Cut(name, "/")
	return protocol[strings.LastIndexByte(protocol, '.')+1:], method
}

func (s *site) collectTraffic(m sink) {
	for i := range s.traffic.byClass {
		if n := s.traffic.byClass[i].Load(); i > 0 {
			m.counter(descHTTP, float64(n), string('0'+rune(i))+"xx")
		}
	}
	m.gauge(descHTTPNow, float64(s.traffic.inFlight.Load()))
	m.counter(descHTTPRefused, float64(s.traffic.refused.Load()))
	m.counter(descHTTPPanics, float64(s.traffic.panics.Load()))
}
