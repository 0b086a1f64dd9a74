package conf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle"
)

func daemonOf(t *testing.T, d disk) *Daemon {
	t.Helper()
	h, l := d.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	return h.Daemon
}

func TestDaemonDefaults(t *testing.T) {
	at := func(port uint16) Address { return Address{Host: "127.0.0.1", Port: port} }
	want := &Daemon{
		Client: at(8032), Scheduler: at(8030), Tracker: at(8031), Admin: at(8033), Web: at(8088),
		MasterExpiry: 15 * heddle.Minute, ContainerExpiry: 10 * heddle.Minute, MaxAttempts: 2, GlobalAttempts: 2, MaxCompleted: 1000, MaxTags: 10, MaxTagLength: 100,
		KeyRolling: 24 * heddle.Hour, NodeKeyRolling: 24 * heddle.Hour, ConnectRetries: 10, Recovery: true, WorkPreserving: true, Decommission: heddle.Hour,
		SchedulingWait: 10 * heddle.Second, Admins: "*",
	}
	if d := cmp.Diff(want, DefaultDaemon()); d != "" {
		t.Error(d)
	}
}

func TestDaemonReads(t *testing.T) {
	got := daemonOf(t, disk{
		coreSite: props(`net.topology.script.file.name=racks.sh
			hadoop.user.group.static.mapping.overrides=dr.who=;ann=staff, ops;
			hadoop.proxyuser.hue.hosts=edge1, 10.0.0.0/8
			hadoop.proxyuser.hue.groups=staff
			hadoop.proxyuser.svc.oozie.users=*
			hadoop.proxyuser.svc.oozie.hosts=*
			hadoop.proxyuser.x=1
			hadoop.proxyuser.y.z=1
			hadoop.security.authentication=simple`),
		"/etc/in": "", "/etc/out": "",
		yarnSite: props(`yarn.resourcemanager.cluster-id=west
			yarn.nodemanager.resourcemanager.connect.retry-interval.ms=1000
			yarn.am.liveness-monitor.expiry-interval-ms=1000
			yarn.resourcemanager.rm.container-allocation.expiry-interval-ms=2000
			yarn.resourcemanager.am.max-attempts=3
			yarn.resourcemanager.am.global.max-attempts=5
			yarn.resourcemanager.max-completed-applications=7
			yarn.resourcemanager.application.max-tags=12
			yarn.resourcemanager.application.max-tag.length=200
			yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs=60
			yarn.resourcemanager.container-tokens.master-key-rolling-interval-secs=990
			yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs=980
			yarn.resourcemanager.nodemanager-connect-retries=4
			yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs=-1
			yarn.resourcemanager.nodes.include-path=/etc/in
			yarn.resourcemanager.nodes.exclude-path=/etc/out
			yarn.resourcemanager.recovery.enabled=false
			yarn.resourcemanager.work-preserving-recovery.enabled=false
			yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms=0
			yarn.acl.enable=true
			yarn.admin.acl= admins
			yarn.scheduler.include-port-in-node-name=true
			yarn.log-aggregation-enable=true
			yarn.log.server.url=http://h/logs
			yarn.resourcemanager.scheduler.class=x.FairScheduler`),
	})
	at := func(port uint16) Address { return Address{Host: "127.0.0.1", Port: port} }
	want := &Daemon{
		SchedulerNamed: true, ClusterID: "west",
		Client: at(8032), Scheduler: at(8030), Tracker: at(8031), Admin: at(8033), Web: at(8088),
		MasterExpiry: heddle.Second, ContainerExpiry: 2 * heddle.Second, MaxAttempts: 3, GlobalAttempts: 5, MaxCompleted: 7, MaxTags: 12, MaxTagLength: 200,
		KeyRolling: heddle.Minute, NodeKeyRolling: 980 * heddle.Second, ConnectRetries: 4, Decommission: -heddle.Second, IncludeFile: "/etc/in", ExcludeFile: "/etc/out",
		ACLs: true, Admins: " admins", PortInNodeName: true, LogAggregation: true, LogServerURL: "http://h/logs", TopologyScript: "racks.sh",
		GroupOverrides: map[string][]string{"dr.who": {}, "ann": {"staff", "ops"}},
		ProxyUsers: map[string]ProxyUser{
			"hue": {Groups: []string{"staff"}, Hosts: []string{"edge1", "10.0.0.0/8"}}, "svc.oozie": {Users: []string{"*"}, Hosts: []string{"*"}},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// YARN takes units of this time alone, of those that are read.
func TestTimesWithUnits(t *testing.T) {
	for value, want := range map[string]heddle.Span{
		"600000": 10 * heddle.Minute, "10m": 10 * heddle.Minute, "600S\n": 10 * heddle.Minute, "600000ms": 10 * heddle.Minute, "1h": heddle.Hour,
		"1999us": heddle.Millisecond, "5000000ns": 5 * heddle.Millisecond,
	} {
		if d := daemonOf(t, disk{yarnSite: props("yarn.am.liveness-monitor.expiry-interval-ms=" + value)}); d.MasterExpiry != want {
			t.Errorf("%s: %v, want %v", value, d.MasterExpiry, want)
		}
	}
}

func TestDaemonAddresses(t *testing.T) {
	for _, c := range []struct{ site, client, listens, place, web string }{
		{"", "127.0.0.1:8032", "127.0.0.1", "", "127.0.0.1:8088"},
		{"yarn.resourcemanager.hostname=rm7", "rm7:8032", "rm7", "yarn-site.xml:2: yarn.resourcemanager.hostname", "rm7:8088"},
		{"yarn.resourcemanager.hostname=\nyarn.resourcemanager.bind-host=", "127.0.0.1:8032", "127.0.0.1", "", "127.0.0.1:8088"},
		{"yarn.resourcemanager.hostname=::1", "[::1]:8032", "::1", "yarn-site.xml:2: yarn.resourcemanager.hostname", "[::1]:8088"},
		{
			"yarn.resourcemanager.hostname=rm7\nyarn.resourcemanager.bind-host=0.0.0.0", "rm7:8032", "0.0.0.0",
			"yarn-site.xml:3: yarn.resourcemanager.bind-host", "rm7:8088",
		},
		{
			"yarn.resourcemanager.hostname=rm7\nyarn.resourcemanager.address=${yarn.resourcemanager.hostname}:9032\nyarn.resourcemanager.webapp.address=web",
			"rm7:9032", "rm7", "yarn-site.xml:3: yarn.resourcemanager.address", "web:8088",
		},
		{"yarn.resourcemanager.address=${yarn.resourcemanager.hostname}:0", "127.0.0.1:0", "127.0.0.1", "yarn-site.xml:2: yarn.resourcemanager.address", "127.0.0.1:8088"},
		{"yarn.resourcemanager.address=${yarn.resourcemanager.admin.address}", "127.0.0.1:8033", "127.0.0.1", "yarn-site.xml:2: yarn.resourcemanager.address", "127.0.0.1:8088"},
		{"yarn.resourcemanager.address=[::1]:9", "[::1]:9", "::1", "yarn-site.xml:2: yarn.resourcemanager.address", "127.0.0.1:8088"},
	} {
		d := daemonOf(t, disk{yarnSite: props(c.site)})
		if a := d.Client; a.String() != c.client || a.Listens() != c.listens || a.Place != c.place || d.Web.String() != c.web {
			t.Errorf("%s: client %v listens on %s by %q, web %v", c.site, a, a.Listens(), a.Place, d.Web)
		}
	}
}

// A proxy of its own for masters' pages is remarked on. The address of the pages names none.
func TestWebProxy(t *testing.T) {
	for at, want := range map[string]string{"proxy:9099": "proxy:9099", "proxy": "proxy", "rm7:8088": "", "RM7:8088": "", "rm7": "", "rm7:80": "rm7:80", "": ""} {
		d := daemonOf(t, disk{yarnSite: props("yarn.resourcemanager.hostname=rm7\n" + RetryName + "=1\nyarn.web-proxy.address=" + at)})
		if d.WebProxy != want || len(d.Remarks) > 0 != (want != "") {
			t.Errorf("%q: %q, %v", at, d.WebProxy, d.Remarks)
		}
	}
}

func TestDaemonErrors(t *testing.T) {
	for _, c := range []struct{ core, site, want string }{
		{"", "yarn.resourcemanager.address=h:x", `yarn-site.xml:2: yarn.resourcemanager.address|"x" is not a port`},
		{"", "yarn.resourcemanager.address=h:65536", `yarn-site.xml:2: yarn.resourcemanager.address|at most 65535`},
		{"", "yarn.resourcemanager.address=h:", `yarn-site.xml:2: yarn.resourcemanager.address|expected host:port, such as 127.0.0.1:8032`},
		{"", "yarn.resourcemanager.address=:80", `yarn-site.xml:2: yarn.resourcemanager.address|not an address`},
		{"", "yarn.resourcemanager.webapp.address=http://h:80", `yarn-site.xml:2: yarn.resourcemanager.webapp.address|such as 127.0.0.1:8088`},
		{"", "yarn.resourcemanager.webapp.address=[::1", `yarn-site.xml:2: yarn.resourcemanager.webapp.address|not an address`},
		{"", "yarn.resourcemanager.webapp.address=a:b:c", `yarn-site.xml:2: yarn.resourcemanager.webapp.address|"a:b:c" is not an address; expected host:port, such as 127.0.0.1:8088`},
		{"", "yarn.resourcemanager.address=[a:b]:1", `yarn-site.xml:2: yarn.resourcemanager.address|not an address`},
		{"", "yarn.resourcemanager.hostname=a:b:c", `yarn-site.xml:2: yarn.resourcemanager.hostname|"a:b:c" is not a host name or address`},
		{"", "yarn.resourcemanager.bind-host=a b", `yarn-site.xml:2: yarn.resourcemanager.bind-host|"a b" is not a host name or address`},
		{"", "yarn.resourcemanager.hostname=h:80", `yarn-site.xml:2: yarn.resourcemanager.hostname|belongs in the individual addresses`},
		{"", "yarn.web-proxy.address=http://h:80", `yarn-site.xml:2: yarn.web-proxy.address|expected host:port`},
		{"", "yarn.resourcemanager.am.max-attempts=0", `yarn-site.xml:2: yarn.resourcemanager.am.max-attempts|at least 1`},
		{"", "yarn.am.liveness-monitor.expiry-interval-ms=5 min", `yarn-site.xml:2: yarn.am.liveness-monitor.expiry-interval-ms|"5 min" is not a time; expected a whole number of milliseconds, or one with a unit`},
		{"", "yarn.am.liveness-monitor.expiry-interval-ms=999us", `yarn-site.xml:2: yarn.am.liveness-monitor.expiry-interval-ms|"999us" is too small; at least 1 ms`},
		{"", "yarn.am.liveness-monitor.expiry-interval-ms=-5000000000000000d", `yarn-site.xml:2: yarn.am.liveness-monitor.expiry-interval-ms|too small`},
		{"", "yarn.am.liveness-monitor.expiry-interval-ms=200000d", `yarn-site.xml:2: yarn.am.liveness-monitor.expiry-interval-ms|"200000d" is too large`},
		{"", "yarn.nm.liveness-monitor.expiry-interval-ms=5m", `yarn-site.xml:2: yarn.nm.liveness-monitor.expiry-interval-ms|not a whole number`},
		{"hadoop.user.group.static.mapping.overrides==a", "", `core-site.xml:2: hadoop.user.group.static.mapping.overrides|names no user`},
		{"hadoop.proxyuser.hue.hosts=10.0.0.0/33", "", `core-site.xml:2: hadoop.proxyuser.hue.hosts|"10.0.0.0/33" is not a network; expected a form such as 10.0.0.0/8`},
		{"net.topology.node.switch.mapping.impl=x.TableMapping", "", `core-site.xml:2: net.topology.node.switch.mapping.impl|net.topology.table.file.name must name it`},
		{"net.topology.node.switch.mapping.impl=x.TableMapping\nnet.topology.table.file.name=nowhere", "", `core-site.xml:3: net.topology.table.file.name|cannot be read`},
		{"net.topology.node.switch.mapping.impl=x.TableMapping\nnet.topology.table.file.name=racks", "", `racks:3: |expected two words, such as node7 /rack2`},
	} {
		_, l := disk{coreSite: props(c.core), yarnSite: props(c.site), "racks": "# hosts\nn1 /a\nn2 b\n"}.load()
		expect(t, errorLines(l), c.want)
	}
}

func TestDaemonTopology(t *testing.T) {
	h, l := disk{
		coreSite: props("net.topology.node.switch.mapping.impl=org.apache.hadoop.net.TableMapping\nnet.topology.table.file.name=racks"),
		"racks":  "# hosts\n\nn1 /a\n  10.0.0.2\t/b/c\nn3 /a today\nn4\n",
	}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	d := h.Daemon
	if n := noticeOf(h, ""); n.File != "racks" || n.Line != 5 || n.Kind != Remark || !strings.HasSuffix(n.Text, "one of 2 such lines") {
		t.Errorf("lines are ignored without a word: %v", h.Notices)
	}
	if diff := cmp.Diff(map[string]string{"n1": "/a", "10.0.0.2": "/b/c"}, d.TopologyTable); diff != "" {
		t.Error(diff)
	}
}

// What a ResourceManager must not start with is no error for a simulation, which is told of it.
func TestDaemonRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"hadoop.security.authentication=kerberos":       "core-site.xml:2: hadoop.security.authentication: is kerberos: heddle rm has no Kerberos",
		"hadoop.rpc.protection=privacy":                 "core-site.xml:2: hadoop.rpc.protection: is privacy: heddle rm neither signs nor encrypts",
		"hadoop.rpc.protection=authentication,privacy":  "core-site.xml:2: hadoop.rpc.protection: is authentication,privacy",
		"yarn.http.policy=HTTPS_ONLY":                   "core-site.xml:2: yarn.http.policy: is HTTPS_ONLY",
		"yarn.resourcemanager.ha.enabled=true":          "core-site.xml:2: yarn.resourcemanager.ha.enabled: is true: heddle rm runs as a single instance",
		"hadoop.security.authentication=SIMPLE":         "",
		"yarn.http.policy=":                             "",
		"yarn.resourcemanager.ha.enabled=false":         "",
		"hadoop.security.authentication=${env.NOTHING}": "core-site.xml:2: hadoop.security.authentication: is ${env.NOTHING}",

		"yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs=1350":    "core-site.xml:2: yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs: keys of am-rm tokens change every 1350 s; expected more than one and a half times the 900 s of yarn.am.liveness-monitor.expiry-interval-ms",
		"yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs=5":          "core-site.xml:2: yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs: keys of nm tokens change every 5 s; expected more than one and a half times the 600 s of yarn.nm.liveness-monitor.expiry-interval-ms",
		"yarn.nm.liveness-monitor.expiry-interval-ms=60000000":                       "core-site.xml:2: yarn.nm.liveness-monitor.expiry-interval-ms: keys of container tokens change every 86400 s",
		"yarn.resourcemanager.container-tokens.master-key-rolling-interval-secs=901": "",
	} {
		h, l := disk{coreSite: props(in)}.load()
		if err := l.err(); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		got, name := "", strings.Split(in, "=")[0]
		if len(h.Daemon.Refused) > 0 {
			got = h.Daemon.Refused.Error()
		}
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: refused %q, want %q", in, got, want)
		}
		if n := noticeOf(h, name); strings.HasPrefix(n.Text, "is ") != (want != "" && !strings.Contains(want, "tokens change")) {
			t.Errorf("%s: notice %v", in, n)
		}
	}
}

// Without a scheduler a ResourceManager needs a profile.
func TestNoScheduler(t *testing.T) {
	h, l := disk{yarnSite: props("yarn.resourcemanager.scheduler.class=x.Mine\n" + RetryName + "=1000")}.load()
	const want = "yarn-site.xml:2: yarn.resourcemanager.scheduler.class: there is no scheduler x.Mine here; there are CapacityScheduler, FairScheduler and FifoScheduler. " +
		"heddle rm needs one of them, or a profile by --profile or in heddle.yaml"
	r := &Report{Hadoop: h, Notices: l.notices}
	if got := r.Refused(); len(got) != 1 || got.Error() != want || len(r.All()) != 0 {
		t.Errorf("refused %v, noticed %v", got, r.All())
	}
	r.Profile = true
	if got, all := r.Refused(), r.All(); len(got) != 0 || len(all) != 1 || all[0].String() != want {
		t.Errorf("with a profile: refused %v, noticed %v", got, all)
	}
}

// A list of hosts that is named and is not there must not let more hosts join than the list would.
func TestHostListsMustBeThere(t *testing.T) {
	for name, want := range map[string]string{
		"include": "without it every host may join; create the file",
		"exclude": "without it excluded hosts may join; create the file",
	} {
		site := props("yarn.resourcemanager.nodes." + name + "-path=/etc/hosts.list")
		h, l := disk{yarnSite: site}.load()
		if err := l.err(); err != nil {
			t.Error(err)
		}
		place := "yarn-site.xml:2: yarn.resourcemanager.nodes." + name + "-path: the list of hosts cannot be read: "
		if len(h.Daemon.Refused) != 1 || !strings.HasPrefix(h.Daemon.Refused.Error(), place) || !strings.Contains(h.Daemon.Refused.Error(), want) {
			t.Errorf("%s: %v", name, h.Daemon.Refused)
		}
		if h, _ := (disk{yarnSite: site, "/etc/hosts.list": ""}).load(); h.Daemon.Refused != nil {
			t.Errorf("%s, which is there: %v", name, h.Daemon.Refused)
		}
	}
}

// NodeManagers that stay away for long after a restart are worth a word.
func TestNodeManagersComeBack(t *testing.T) {
	const own, common = "yarn.nodemanager.resourcemanager.connect.retry-interval.ms", "yarn.resourcemanager.connect.retry-interval.ms"
	for site, want := range map[string]string{
		"":                                    "yarn-site.xml: " + own + ": is not set: YARN's default keeps NodeManagers away for 30 s after a restart of the ResourceManager; set it to 1000 in their yarn-site.xml",
		own + "=30000":                        "yarn-site.xml:2: " + own + ": it keeps NodeManagers away for 30 s",
		common + "=60000":                     "yarn-site.xml:2: " + common + ": it keeps NodeManagers away for 60 s after a restart of the ResourceManager; set " + own + " to 1000",
		common + "=500\n" + own + "=20000":    "yarn-site.xml:3: " + own + ": it keeps NodeManagers away for 20 s",
		own + "=1000":                         "",
		own + "=1000\n" + common + "=30000":   "",
		common + "=2000":                      "",
		own + "=much\n" + common + "=1000":    "",
		own + "=5000\nyarn.admin.acl=whoever": "",
	} {
		h, l := disk{yarnSite: props(site)}.load()
		if err := l.err(); err != nil {
			t.Error(err)
		}
		got := ""
		if len(h.Daemon.Remarks) > 0 {
			got = h.Daemon.Remarks[0].String()
		}
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) || len(h.Daemon.Remarks) > 1 {
			t.Errorf("%q: %q, want %q", site, got, want)
		}
	}
	if h, _ := (disk{capacityFile: cs(two)}).load(); h.Daemon.Remarks != nil {
		t.Errorf("without a yarn-site.xml: %v", h.Daemon.Remarks)
	}
}

// What the daemon reads is known to the check of a configuration.
func TestDaemonPropertiesAreUsed(t *testing.T) {
	h, _ := disk{yarnSite: props(`yarn.resourcemanager.cluster-id=x
		yarn.admin.acl=*
		yarn.resourcemanager.scheduler.address=h
		yarn.resourcemanager.zk-address=h`)}.load()
	var names []string
	for _, n := range h.Notices {
		names = append(names, n.Property)
	}
	if d := cmp.Diff([]string{"yarn.resourcemanager.zk-address"}, names); d != "" {
		t.Error(d)
	}
}

func TestACLs(t *testing.T) {
	h, l := disk{
		yarnSite:     props("who=ann"),
		capacityFile: cs(two + "root.acl_submit_applications=,\nroot.acl_administer_queue=\nroot.a.acl_submit_applications=${who},bob  staff\nroot.a.acl_administer_queue=eve"),
		fairFile:     alloc(`<queue name="a"><aclSubmitApps> staff</aclSubmitApps></queue><queue name="b"/>`),
	}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]QueueACL{"root": {",", "*"}, "root.a": {"ann,bob  staff", "eve"}}, trimmed(h.CapacityACLs)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]QueueACL{"root": {"*", "*"}, "root.a": {" staff", ""}}, h.FairACLs); d != "" {
		t.Error(d)
	}
	if n := noticeOf(h, csPrefix+"root.a.acl_administer_queue"); n.Kind != Harmless || n.Text != aclText {
		t.Errorf("%v", n)
	}
}

// trimmed makes a list that lets nobody in comparable: files write it as a blank.
func trimmed(acls map[string]QueueACL) map[string]QueueACL {
	for path, a := range acls {
		if strings.TrimSpace(a.Submit) == "" {
			a.Submit = ""
		}
		acls[path] = a
	}
	return acls
}

func TestComplete(t *testing.T) {
	h, l := disk{yarnSite: props(`yarn.scheduler.maximum-allocation-mb=4096
		yarn.scheduler.fair.assignmultiple=true`)}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	if h.Capacity != nil || h.Fair != nil {
		t.Fatal("there is a scheduler without a file")
	}
	h = h.Complete()
	if h.Capacity.Maximum != heddle.Of(4096, 4000) || h.Capacity.MemoryOnly || len(h.Capacity.Queues) != 2 {
		t.Errorf("capacity: %+v", h.Capacity)
	}
	if h.Fair.Maximum != heddle.Of(4096, 4000) || !h.Fair.AssignMultiple || len(h.Fair.Queues) != 2 {
		t.Errorf("fair: %+v", h.Fair)
	}
	if path, _, err := h.CapacityPlacement.Place("", "ann", nil); path != "root.default" || err != nil {
		t.Errorf("%s, %v", path, err)
	}
	if _, _, err := h.CapacityPlacement.Place("prod", "ann", nil); err == nil {
		t.Error("a queue that is not there takes an application")
	}
	if path, created, err := h.FairPlacement.Place("prod", "ann", nil); path != "root.default" || created || err != nil {
		t.Errorf("%s, %v, %v", path, created, err)
	}
	if b := Bare(); b.Capacity != nil || b.Site.Maximum != heddle.Of(8192, 4000) || b.Daemon.SchedulerNamed {
		t.Errorf("%+v", b)
	}
}
