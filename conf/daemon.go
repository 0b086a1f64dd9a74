package conf

import (
	"fmt"
	"net/netip"
	"strings"

	"heddle"
)

// A Daemon is what core-site.xml and yarn-site.xml say to a ResourceManager beside what to schedule, with
// the defaults of YARN 3.4 but for two that [ReadDir] has of its own: it listens on 127.0.0.1, and recovery
// is on.
type Daemon struct {
	SchedulerNamed bool // yarn.resourcemanager.scheduler.class is set
	ClusterID      string

	Client, Scheduler, Tracker, Admin, Web Address
	WebProxy                               string // host:port of a proxy of its own for masters' pages; "" for none

	MasterExpiry    heddle.Span // silence after which a master counts as lost
	ContainerExpiry heddle.Span // until which a granted container must run
	MaxAttempts     int32       // of an application that does not say
	GlobalAttempts  int32       // of any application
	MaxCompleted    int         // ended applications that are kept
	MaxTags         int         // of an application
	MaxTagLength    int
	KeyRolling      heddle.Span // of keys for masters
	NodeKeyRolling  heddle.Span // of keys for nodes: the shorter of container tokens' and NodeManager tokens'
	ConnectRetries  int         // to a NodeManager that is to launch a master
	IncludeFile     string      // hosts that may register; "" for all
	ExcludeFile     string      // hosts that are to leave
	Decommission    heddle.Span // until which what runs on a node that leaves gracefully may end; below 0: as long as it takes
	Recovery        bool
	WorkPreserving  bool
	SchedulingWait  heddle.Span // after a start, before anything is granted
	ACLs            bool        // queues' and applications' access lists count
	Admins          string      // as in yarn.admin.acl: users, a blank, groups
	PortInNodeName  bool
	LogAggregation  bool
	LogServerURL    string

	TopologyScript string            // prints the racks of the hosts it is given; "" for none
	TopologyTable  map[string]string // rack by the address or name of a host; nil for none

	// Files is the file system of the cluster, without a NameNode where it is not HDFS.
	Files FileSystem

	// GroupOverrides are users' groups that come before those of the machine.
	GroupOverrides map[string][]string

	// ProxyUsers are those who may act for others, by name.
	ProxyUsers map[string]ProxyUser

	// NoScheduler says that yarn.resourcemanager.scheduler.class names a scheduler that is not here; nil where it is. A
	// ResourceManager needs a profile then.
	NoScheduler *Error

	// Refused says what a ResourceManager must not start with, because it would be less than was asked for.
	// It is no error for anybody else.
	Refused Errors

	// Remarks are for those who run a cluster alone: no simulation hears of them.
	Remarks []Notice
}

// A ProxyUser says for whom somebody may act, which needs one of the first two, and from where, which must match
// too: hadoop.proxyuser.<name>.users, .groups and .hosts. "*" stands for all.
type ProxyUser struct {
	Users, Groups []string
	Hosts         []string // names, addresses, networks as 10.0.0.0/8
}

// Defaults of YARN 3.4.
const (
	defaultClientPort, defaultSchedulerPort, defaultTrackerPort = 8032, 8030, 8031
	defaultAdminPort, defaultWebPort                            = 8033, 8088

	defaultMasterExpiry    = 900_000
	defaultContainerExpiry = 600_000
	defaultSchedulingWait  = 10_000
	defaultMaxAttempts     = 2
	defaultMaxCompleted    = 1000
	defaultMaxTags         = 10
	defaultMaxTagLength    = 100
	defaultConnectRetries  = 10
	defaultRollingSeconds  = 86_400

	defaultDecommissionSeconds = 3600
)

const rmPrefix = "yarn.resourcemanager."

// DefaultDaemon returns what a ResourceManager does without any file.
func DefaultDaemon() *Daemon {
	l := newLoader(readFile, nowhere)
	return l.daemon(newProperties(l.log, l.outside))
}

// daemon reads what is a ResourceManager's alone.
func (l *loader) daemon(ps *properties) *Daemon {
	d := &Daemon{}
	d.readScheduler(ps)
	d.ClusterID = ps.text(rmPrefix+"cluster-id", "")
	d.readAddresses(ps)
	d.readWebProxy(ps)
	d.readTimes(ps)
	d.MaxAttempts = int32(ps.integer(rmPrefix+"am.max-attempts", defaultMaxAttempts, 1))
	d.GlobalAttempts = d.MaxAttempts
	if _, p := ps.given(rmPrefix + "am.global.max-attempts"); p != nil {
		d.GlobalAttempts = int32(ps.integer(p.name, int64(d.MaxAttempts), 1))
	}
	d.MaxCompleted = int(ps.integer(rmPrefix+"max-completed-applications", defaultMaxCompleted, 0))
	d.MaxTags = int(ps.integer(rmPrefix+"application.max-tags", defaultMaxTags, 0))
	d.MaxTagLength = int(ps.integer(rmPrefix+"application.max-tag.length", defaultMaxTagLength, 0))
	d.ConnectRetries = int(ps.integer(rmPrefix+"nodemanager-connect-retries", defaultConnectRetries, 0))
	d.IncludeFile = l.hostList(ps, d, "nodes.include-path", "without it every host may join; create the file (an empty one lets every host join)")
	d.ExcludeFile = l.hostList(ps, d, "nodes.exclude-path", "without it excluded hosts may join; create the file (an empty one excludes no host)")
	d.Decommission = heddle.Span(ps.integer(rmPrefix+"nodemanager-graceful-decommission-timeout-secs", defaultDecommissionSeconds, -1)) * heddle.Second
	d.Recovery = ps.flag(rmPrefix+"recovery.enabled", true)
	d.WorkPreserving = ps.flag(rmPrefix+"work-preserving-recovery.enabled", true)
	d.ACLs = ps.flag("yarn.acl.enable", false)
	d.Admins = "*"
	if v, p := ps.value("yarn.admin.acl"); p != nil {
		d.Admins = v // untrimmed: a list of groups alone begins with a blank
	}
	d.PortInNodeName = ps.flag("yarn.scheduler.include-port-in-node-name", false)
	d.LogAggregation = ps.flag("yarn.log-aggregation-enable", false)
	d.LogServerURL = ps.text("yarn.log.server.url", "")
	l.topology(ps, d)
	d.readGroups(ps)
	d.readProxyUsers(ps)
	d.refuse(ps)
	return d
}

func (d *Daemon) readScheduler(ps *properties) {
	class, p := ps.value(schedulerClass)
	if p == nil {
		return
	}
	class, d.SchedulerNamed = strings.TrimSpace(class), true
	if schedulerOf(class) == "" {
		d.NoScheduler = &Error{p.file, p.line, p.name, noScheduler(class)}
	}
}

// hostList reads the path of a list of hosts. Without the list, more hosts could join than somebody wanted.
func (l *loader) hostList(ps *properties, d *Daemon, name, without string) string {
	path, p := ps.given(rmPrefix + name)
	if p == nil {
		return ""
	}
	if _, err := l.open(path); err != nil {
		d.Refused = append(d.Refused, Error{p.file, p.line, p.name, fmt.Sprintf("the list of hosts cannot be read: %v: %s", err, without)})
	}
	return path
}

// How long NodeManagers wait before they try again to reach a ResourceManager, and how long they should.
const (
	RetryName   = "yarn.nodemanager.resourcemanager.connect.retry-interval.ms"
	RetryMillis = 1000

	retryDefault = 30_000
	retryMost    = 5000 // above it is worth a remark
)

// reconnect remarks on NodeManagers that stay away for long after a restart. They have their own yarn-site.xml, which
// usually is the same file.
func (l *loader) reconnect(f files, ps *properties, d *Daemon) {
	file, ok := f.path[yarnSite]
	if !ok {
		return
	}
	at := Notice{Kind: Remark, File: file, Property: RetryName}
	n, text, it := int64(retryDefault), "is not set: YARN's default", "it"
	for _, name := range []string{rmPrefix + "connect.retry-interval.ms", RetryName} { // the second comes before the first
		if v, p := ps.given(name); p != nil {
			if set, err := parseInt(v); err == nil {
				n, at.File, at.Line, at.Property, text = set, p.file, p.line, p.name, "it"
			}
		}
	}
	if n <= retryMost {
		return
	}
	if at.Property != RetryName {
		it = RetryName
	}
	at.Text = fmt.Sprintf("%s keeps NodeManagers away for %g s after a restart of the ResourceManager; set %s to %d in their %s", text, float64(n)/1000, it, RetryMillis, yarnSite)
	d.Remarks = append(d.Remarks, at)
}

// readProxyUsers reads hadoop.proxyuser.<name>.users, .groups and .hosts.
func (d *Daemon) readProxyUsers(ps *properties) {
	const prefix = "hadoop.proxyuser."
	for _, key := range ps.names(prefix) {
		rest := key[len(prefix):]
		dot := strings.LastIndexByte(rest, '.')
		if dot <= 0 {
			continue // no property of Hadoop's: it is told with what nobody reads
		}
		name, what := rest[:dot], rest[dot+1:]
		p := d.ProxyUsers[name]
		list := map[string]*[]string{"users": &p.Users, "groups": &p.Groups, "hosts": &p.Hosts}[what]
		if list == nil {
			continue
		}
		*list = split(ps.text(key, ""))
		for _, host := range *list {
			if _, err := netip.ParsePrefix(host); what == "hosts" && strings.Contains(host, "/") && err != nil {
				ps.bad(ps.m[key], "%q is not a network; expected a form such as 10.0.0.0/8", host)
			}
		}
		if d.ProxyUsers == nil {
			d.ProxyUsers = map[string]ProxyUser{}
		}
		d.ProxyUsers[name] = p
	}
}

// split returns what stands between commas, without blanks around it; what is empty is left out.
func split(list string) []string {
	out := []string{}
	for s := range strings.SplitSeq(list, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// readTimes reads the intervals.
func (d *Daemon) readTimes(ps *properties) {
	d.MasterExpiry = ps.duration("yarn.am.liveness-monitor.expiry-interval-ms", defaultMasterExpiry, 1)
	d.ContainerExpiry = ps.millis(rmPrefix+"rm.container-allocation.expiry-interval-ms", defaultContainerExpiry, 1)
	d.SchedulingWait = ps.millis(rmPrefix+"work-preserving-recovery.scheduling-wait-ms", defaultSchedulingWait, 0)
	rolling := func(kind string) heddle.Span { return ps.seconds(rollingName(kind), defaultRollingSeconds) }
	d.KeyRolling = rolling("am-rm")
	d.NodeKeyRolling = min(rolling("container"), rolling("nm"))
}

func rollingName(kind string) string {
	return rmPrefix + kind + "-tokens.master-key-rolling-interval-secs"
}

// checkKeys refuses keys that change before everybody who lives has the next one, with which nothing is signed until then.
func (d *Daemon) checkKeys(ps *properties, nodeExpiry heddle.Span) {
	for _, k := range []struct {
		kind, of string
		expiry   heddle.Span
	}{
		{"am-rm", "yarn.am.liveness-monitor.expiry-interval-ms", d.MasterExpiry},
		{"container", "yarn.nm.liveness-monitor.expiry-interval-ms", nodeExpiry},
		{"nm", "yarn.nm.liveness-monitor.expiry-interval-ms", nodeExpiry},
	} {
		every := ps.seconds(rollingName(k.kind), defaultRollingSeconds)
		if every > k.expiry*3/2 {
			continue
		}
		p := ps.first(rollingName(k.kind), k.of) // one of them is set: the defaults do
		d.Refused = append(d.Refused, Error{p.file, p.line, p.name, fmt.Sprintf("keys of %s tokens change every %g s; expected more than one and a half times the %g s of %s",
			k.kind, every.Seconds(), k.expiry.Seconds(), k.of)})
	}
}

// readGroups reads hadoop.user.group.static.mapping.overrides: user=group,group;user=.
func (d *Daemon) readGroups(ps *properties) {
	switch class, p := ps.given("hadoop.security.group.mapping"); class[strings.LastIndex(class, ".")+1:] {
	case "", "JniBasedUnixGroupsMappingWithFallback", "JniBasedUnixGroupsMapping", "ShellBasedUnixGroupsMapping":
	default:
		ps.log.note(Unsupported, p.file, p.line, p.name, "users' groups are those of this machine's user database and of hadoop.user.group.static.mapping.overrides")
	}
	v, p := ps.value("hadoop.user.group.static.mapping.overrides")
	if p == nil {
		return
	}
	d.GroupOverrides = map[string][]string{}
	for entry := range strings.SplitSeq(v, ";") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		user, list, _ := strings.Cut(entry, "=")
		if user = strings.TrimSpace(user); user == "" || strings.Contains(list, "=") {
			ps.bad(p, "%q names no user; expected user=group,group;user=group", entry)
			continue
		}
		d.GroupOverrides[user] = split(list)
	}
}

// refusal is a value that a ResourceManager must not start with.
type refusal struct {
	name string
	off  string // the value that asks for nothing
	text string
}

var refusals = []refusal{
	{
		"hadoop.security.authentication",
		"simple",
		"heddle rm has no Kerberos: callers would not be authenticated. Set it to simple, and protect the ports from untrusted users",
	},
	{
		"hadoop.rpc.protection",
		"authentication",
		"heddle rm neither signs nor encrypts calls. Set it to authentication, or use a private network",
	},
	{
		"yarn.http.policy",
		"HTTP_ONLY",
		"heddle rm serves plain HTTP only. Set it to HTTP_ONLY, or put a proxy with TLS in front, one that adds X-Forwarded-For",
	},
	{
		rmPrefix + "ha.enabled",
		"false",
		"heddle rm runs as a single instance: others would look for it at addresses by ha.rm-ids. Set it to false, and " + rmPrefix + "hostname to its host, for all",
	},
}

// refuse collects what a ResourceManager must not start with; others only hear of it.
func (d *Daemon) refuse(ps *properties) {
	for _, r := range refusals {
		v, p := ps.given(r.name)
		if p != nil && !strings.EqualFold(v, r.off) {
			text := fmt.Sprintf("is %s: %s", v, r.text)
			d.Refused = append(d.Refused, Error{p.file, p.line, p.name, text})
			ps.log.note(Unsupported, p.file, p.line, p.name, "%s", text)
		}
	}
}
