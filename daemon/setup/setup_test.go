package setup

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"heddle"
	"heddle/conf"
	"heddle/daemon"
	"heddle/rm"
)

// alone isolates a test from the environment it runs in.
func alone(t *testing.T) {
	t.Helper()
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "/home/ann")
}

// folder copies a folder of testdata, or an empty one, and adds files; an empty file is removed.
func folder(t *testing.T, base string, files map[string]string) string {
	t.Helper()
	alone(t)
	dir := t.TempDir()
	if base != "" {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", base))); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, path, text)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// props converts name=value lines to a Hadoop configuration file: line n of the text is line n+1 of the file.
func props(lines string) string {
	var b strings.Builder
	b.WriteString("<configuration>\n")
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		b.WriteString("<property><name>" + name + "</name><value>" + value + "</value></property>\n")
	}
	b.WriteString("</configuration>\n")
	return b.String()
}

func load(t *testing.T, o Options) *Daemon {
	t.Helper()
	d, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fails checks that loading fails with the given words, where DIR stands for the folder.
func fails(t *testing.T, o Options, want string) {
	t.Helper()
	_, err := Load(o)
	if o.ConfDir != "" {
		want = strings.ReplaceAll(want, "DIR", o.ConfDir)
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error  %v\nwant words %s", err, want)
	}
}

func paths(queues []rm.QueueInfo) (out []string) {
	for _, q := range queues {
		out = append(out, q.Path)
	}
	return out
}

func TestNoConfiguration(t *testing.T) {
	alone(t)
	d := load(t, Options{})
	loop := func(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port) }
	want := daemon.Config{
		Client: loop(8032), Scheduler: loop(8030), Tracker: loop(8031), Admin: loop(8033), Web: loop(8088),
		Config: rm.Config{
			KeyRolling: 24 * heddle.Hour, NodeKeyRolling: 24 * heddle.Hour, NodeExpiry: 10 * heddle.Minute, MasterExpiry: 15 * heddle.Minute, ContainerExpiry: 10 * heddle.Minute,
			MaxAttempts: 2, GlobalAttempts: 2, MaxCompleted: 1000, MaxTags: 10, MaxTagLength: 100, SchedulingWait: 10 * heddle.Second, WorkPreserving: true, Admins: "*",
			Beat: heddle.Second, FastBeat: 100 * heddle.Millisecond, IdleBeat: 2 * heddle.Second, BeatLoad: 5000, ReadJobs: true, Silence: rm.DefaultSilence, Keyed: true,
			NodesPer: 1000, AppsPer: 10_000, StoredPer: 256 << 20, Stored: int(d.Config.Memory.Limit / 8),
		},
		Memory:       d.Config.Memory, // see TestMemory
		Decommission: time.Hour, ConnectRetries: 10, Recovery: true, Nodes: heddle.Stock, Watchdog: time.Minute,
	}
	if diff := cmp.Diff(want, d.Config, cmpopts.EquateComparable(netip.AddrPort{}, netip.Addr{})); diff != "" {
		t.Error(diff)
	}
	s := d.Scheduler
	if s.Profile != "heddle" || s.Type != "capacity" || s.Maximum != heddle.Of(8192, 4000) || s.Minimum != heddle.Of(1024, 1000) ||
		cmp.Diff([]string{"root", "root.default"}, paths(s.Queues)) != "" || d.Open || len(d.Notices) > 0 {
		t.Errorf("%+v, open %v, notices %v", s, d.Open, d.Notices)
	}
	if d.DataDir != "/home/ann/.local/state/heddle" {
		t.Errorf("data in %s", d.DataDir)
	}
	if got := strings.Join(d.Remarks, "\n"); !strings.Contains(got, "no configuration") || !strings.Contains(got, "profile heddle: no scheduler is configured") {
		t.Errorf("remarks:\n%s", got)
	}
	if len(s.Off) != 1 || !strings.HasPrefix(s.Off[0], "masters (control): ") || s.Set.Size[heddle.AM] == nil {
		t.Errorf("off is %q", s.Off)
	}
	if o := load(t, Options{Profile: "mrorchestrator"}).Scheduler; len(o.Off) != 1 || len(o.Set.Control) > 0 {
		t.Errorf("what needs a node agent is on; off is %q", o.Off)
	}
	if _, err := s.Place(rm.Placement{User: "ann", Queue: "prod"}); err == nil {
		t.Error("a queue that is not there takes an application")
	}
}

// The folders have what a small test cluster has: one queue, three nodes of 4 GiB.
func TestFolders(t *testing.T) {
	for name, share := range map[string]string{"capacity": "fifo", "fair": "fair"} {
		t.Run(name, func(t *testing.T) {
			d := load(t, Options{ConfDir: folder(t, name, nil)})
			s := d.Scheduler
			if s.Profile != name || s.Type != name || s.Maximum != heddle.Of(4096, 8000) || s.Minimum != heddle.Of(128, 1000) || s.Set.MemoryOnly {
				t.Errorf("%+v", s)
			}
			if len(s.Queues) != 2 || s.Queues[1].AMShare != 0.5 || s.Queues[1].Order != share || s.Queues[1].Configured != share || s.Order != name || !s.Queues[1].Leaf || s.Queues[0].Leaf {
				t.Errorf("queues %+v", s.Queues)
			}
			if len(s.Set.Queues) != 2 || s.Set.Queues[1] != 0 {
				t.Errorf("the policies know queues %v", s.Set.Queues)
			}
			if d.Config.LogServer != "http://127.0.0.1:19888/jobhistory/logs" || d.Config.WebHost != "" {
				t.Errorf("%+v", d.Config)
			}
			for _, queue := range []string{"default", "root.default"} {
				if got, err := s.Place(rm.Placement{User: "ann", Queue: queue}); got != "root.default" || err != nil {
					t.Errorf("%s goes to %q, %v", queue, got, err)
				}
			}
			if len(d.Notices) > 0 {
				t.Errorf("notices on what is no ResourceManager's: %v", d.Notices)
			}
			if d, err := d.Refresh(); err != nil || d.Profile != name {
				t.Errorf("refreshed to %+v, %v", d, err)
			}
		})
	}
}

func TestNotices(t *testing.T) {
	d := load(t, Options{ConfDir: folder(t, "capacity", map[string]string{"yarn-site.xml": props("yarn.node-labels.enabled=true\nyarn.nodemanager.address=h")})})
	if len(d.Notices) != 2 || d.Notices[1].Property != conf.RetryName || d.Notices[1].Kind != conf.Remark || d.Notices[0].Property != "yarn.node-labels.enabled" || d.Notices[0].Kind != conf.Unsupported {
		t.Errorf("%v", d.Notices)
	}
}

// A ResourceManager does not need mapred-site.xml.
func TestWrongMapReduce(t *testing.T) {
	dir := folder(t, "capacity", map[string]string{"mapred-site.xml": "<configuration>"})
	d := load(t, Options{ConfDir: dir})
	if last := d.Notices[len(d.Notices)-1]; last.File != filepath.Join(dir, "mapred-site.xml") || last.Kind != conf.Remark {
		t.Errorf("nobody is told: %v", d.Notices)
	}
	if _, err := d.Refresh(); err != nil {
		t.Error(err)
	}
	if said := checked(t, dir); strings.Contains(said, "mapred-site") {
		t.Errorf("a check says %s", said)
	}
}

func TestFolderOfTheEnvironment(t *testing.T) {
	dir := folder(t, "capacity", nil)
	t.Setenv("HADOOP_CONF_DIR", dir)
	t.Setenv("XDG_STATE_HOME", "/var/state")
	d := load(t, Options{})
	if d.Scheduler.Profile != "capacity" || d.DataDir != "/var/state/heddle" {
		t.Errorf("profile %s, data in %s", d.Scheduler.Profile, d.DataDir)
	}
	t.Setenv("HADOOP_CONF_DIR", dir+"/nowhere")
	fails(t, Options{}, "HADOOP_CONF_DIR: stat "+dir+"/nowhere")
}

func TestMissingFiles(t *testing.T) {
	for name, c := range map[string]struct {
		base    string
		files   map[string]string
		options Options
		profile string
		remark  string
	}{
		"capacity named, no file": {"capacity", map[string]string{"capacity-scheduler.xml": ""}, Options{}, "capacity", "no capacity-scheduler.xml: one queue"},
		"fair named, no file":     {"fair", map[string]string{"fair-scheduler.xml": ""}, Options{}, "fair", "no fair-scheduler.xml: one queue"},
		"fifo named":              {"capacity", map[string]string{"yarn-site.xml": props("yarn.resourcemanager.scheduler.class=x.FifoScheduler")}, Options{}, "fifo", "class names"},
		"nothing named":           {"capacity", map[string]string{"yarn-site.xml": ""}, Options{}, "capacity", "there is a capacity-scheduler.xml"},
		"only fair":               {"fair", map[string]string{"yarn-site.xml": "", "capacity-scheduler.xml": ""}, Options{}, "fair", "the only scheduler"},
		"no scheduler":            {"", map[string]string{"core-site.xml": props("a=b")}, Options{}, "heddle", "no scheduler is configured"},
		"only heddle.yaml":        {"", map[string]string{"heddle.yaml": "profile: fifo"}, Options{}, "fifo", "named in"},
		"flag":                    {"fair", nil, Options{Profile: "heddle"}, "heddle", "named by --profile"},
		"flag before the file":    {"fair", map[string]string{"heddle.yaml": "profile: fifo\nset: [place.map=any]"}, Options{Profile: "fair"}, "fair", "named by --profile"},
		"changes":                 {"fair", map[string]string{"heddle.yaml": "set: [place.map=any]"}, Options{Sets: []string{"place.reduce=any"}}, "fair (place.map=any, place.reduce=any)", "class names"},
		"file of a profile":       {"fair", map[string]string{"heddle.yaml": "profile: mine.yaml", "mine.yaml": "profile: fair"}, Options{}, "mine", "named in"},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.ConfDir = folder(t, c.base, c.files)
			d := load(t, c.options)
			if got := strings.Join(d.Remarks, "\n"); d.Scheduler.Profile != c.profile || !strings.Contains(got, c.remark) {
				t.Errorf("profile %s, want %s; remarks, want %q among\n%s", d.Scheduler.Profile, c.profile, c.remark, got)
			}
			if last := paths(d.Scheduler.Queues)[1]; last != "root.default" {
				t.Errorf("queue %s", last)
			}
		})
	}
}

func TestWrongValues(t *testing.T) {
	site := func(lines string) map[string]string { return map[string]string{"yarn-site.xml": props(lines)} }
	file := func(text string) map[string]string { return map[string]string{"heddle.yaml": text} }
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a number":          {site("yarn.resourcemanager.am.max-attempts=two"), `DIR/yarn-site.xml:2: yarn.resourcemanager.am.max-attempts: "two" is not a whole number`},
		"an address":        {site("yarn.resourcemanager.address=127.0.0.1:port"), `DIR/yarn-site.xml:2: yarn.resourcemanager.address: "port" is not a port`},
		"a host":            {site("yarn.resourcemanager.hostname=no such host"), `DIR/yarn-site.xml:2: yarn.resourcemanager.hostname: "no such host" is not a host name`},
		"a name nobody has": {site("yarn.resourcemanager.hostname=rm..west"), `DIR/yarn-site.xml:2: yarn.resourcemanager.hostname: "rm..west" has no address here`},
		"a scheduler":       {site("yarn.resourcemanager.scheduler.class=x.MyScheduler"), "DIR/yarn-site.xml:2: yarn.resourcemanager.scheduler.class: there is no scheduler x.MyScheduler here; there are CapacityScheduler"},
		"kerberos":          {map[string]string{"core-site.xml": props("hadoop.security.authentication=kerberos")}, "DIR/core-site.xml:2: hadoop.security.authentication: is kerberos: heddle rm has no Kerberos"},
		"two at once":       {site("yarn.http.policy=HTTPS_ONLY\nyarn.resourcemanager.ha.enabled=true"), "heddle rm serves plain HTTP only"},
		"no include file":   {site("yarn.resourcemanager.nodes.include-path=/no/such/list"), `DIR/yarn-site.xml:2: yarn.resourcemanager.nodes.include-path: the list of hosts cannot be read: stat /no/such/list: no such file or directory: without it every host may join; create the file`},
		"no exclude file":   {site("yarn.resourcemanager.nodes.exclude-path=/no/such/list"), `DIR/yarn-site.xml:2: yarn.resourcemanager.nodes.exclude-path: the list of hosts cannot be read`},
		"a queue":           {map[string]string{"capacity-scheduler.xml": props("yarn.scheduler.capacity.root.queues=a")}, "DIR/capacity-scheduler.xml:2: yarn.scheduler.capacity.root.queues:"},
		"XML":               {map[string]string{"yarn-site.xml": "<configuration>"}, "DIR/yarn-site.xml:1: not well-formed"},

		"an unknown key":     {file("profile: fair\nprofil: x"), `DIR/heddle.yaml:2:1: unknown key "profil"; did you mean profile? There are profile, set, data, beats, nodes, listen, facts, memory, limits, watchdog, insecure_open and log`},
		"an unknown key in":  {file("beats:\n  fast: 1s\n  slow: 2s"), `DIR/heddle.yaml:3:3: unknown key "slow"; there are fast, normal, idle and load`},
		"no text":            {file("data: [a]"), "DIR/heddle.yaml:1:7: "},
		"an odd change":      {file("set: [{a: b}]"), "DIR/heddle.yaml:1:"},
		"nothing to change":  {file("set:\n  -\n"), "DIR/heddle.yaml:2:5: set[0]: \"\": want slot.kind=policy"},
		"not a mapping":      {file("- a"), "DIR/heddle.yaml:1:1: wanted a mapping with profile, set"},
		"not YAML":           {file("a: [b"), "DIR/heddle.yaml:1:"},
		"a key twice":        {file("data: a\ndata: b"), "DIR/heddle.yaml:2:1:"},
		"two documents":      {file("data: a\n---\ndata: b"), "DIR/heddle.yaml:3:"},
		"deep nesting":       {file("set: " + strings.Repeat("[", 100)), "DIR/heddle.yaml:1:70: is nested more than 64 deep"},
		"a type":             {file("set: x"), "DIR/heddle.yaml:1:6: got text; wanted a list"},
		"a time":             {file("beats: {fast: soon}"), "DIR/heddle.yaml:1:15: beats.fast: wanted a time of at least 10ms"},
		"a hasty watchdog":   {file("watchdog: 5s"), "DIR/heddle.yaml:1:11: watchdog: wanted a time of at least 10s, or 0s for never"},
		"nanoseconds":        {file("beats: {fast: 100}"), "DIR/heddle.yaml:1:15: beats.fast: wanted a time of at least 10ms"},
		"fast above normal":  {file("beats: {fast: 3s}"), "DIR/heddle.yaml:1:15: beats.fast: 3s is slower than the normal 1s"},
		"idle below normal":  {file("beats: {idle: 500ms}"), "DIR/heddle.yaml:1:15: beats.idle: 500ms is faster than the normal 1s"},
		"idle above expiry":  {file("beats: {idle: 5m}"), "beats.idle: 5m0s is too slow: a node counts as lost after 10m0s"},
		"a load":             {file("beats: {load: -1}"), "beats.load: wanted reports a second"},
		"a load in words":    {file("beats: {load: much}"), "DIR/heddle.yaml:1:15: got text; wanted a whole number"},
		"no mapping in it":   {file("beats: often"), "DIR/heddle.yaml:1:8: got text; wanted a mapping"},
		"a fact":             {file("facts: {masters: often}"), "DIR/heddle.yaml:1:18: "},
		"an amount":          {file("memory: {limit: 512}"), "DIR/heddle.yaml:1:17: memory.limit: wanted an amount such as 512MiB or 4GiB"},
		"too little memory":  {file("memory: {limit: 1MiB}"), "DIR/heddle.yaml:1:17: memory.limit: 1MiB is too little: a ResourceManager needs at least 64 MiB"},
		"calls above half":   {file("memory: {limit: 512MiB, calls: 300MiB}"), "memory.calls: 300MiB is out of range: wanted at least 16 MiB, and at most half of memory.limit, 256 MiB"},
		"above all calls":    {file("memory: {limit: 512MiB, calls: 64MiB, per_address: 65MiB}"), "memory.per_address: 65MiB is out of range: wanted at least 6 MiB, and at most memory.calls, the limit for all calls, 64 MiB"},
		"above the limit":    {file("memory: {limit: 512MiB, stored: 300MiB}"), "memory.stored: 300MiB is out of range: wanted at least 4 MiB, the size of the largest submission, and at most half of memory.limit, 256 MiB"},
		"above all stored":   {file("{memory: {limit: 512MiB, stored: 64MiB}, limits: {stored_per_user: 65MiB}}"), "limits.stored_per_user: 65MiB is too much: wanted at most memory.stored, the limit for all users, 64 MiB"},
		"a user above half":  {file("{memory: {limit: 512MiB}, limits: {stored_per_user: 300MiB}}"), "limits.stored_per_user: 300MiB is too much: wanted at most half of memory.limit, 256 MiB"},
		"no calls":           {file("limits: {calls_per_address: 0}"), "limits.calls_per_address: wanted a number of at least 1"},
		"no connections":     {file("limits: {connections_per_address: 0}"), "limits.connections_per_address: wanted a number of at least 1"},
		"fewer readers":      {file("limits: {web_connections_per_address: -1}"), "limits.web_connections_per_address: wanted a number of at least 1"},
		"fewer than none":    {file("limits: {nodes_per_address: -1}"), "limits.nodes_per_address: wanted a number of at least 1"},
		"a level":            {file("log: {level: loud}"), "DIR/heddle.yaml:1:14: log.level: wanted debug, info, warn or error"},
		"a format":           {file("log: {format: xml}"), "log.format: wanted text or json"},
		"not understood":     {file("insecure_open: true"), `DIR/heddle.yaml:1:16: insecure_open: the only value is "I understand"`},
		"too large":          {file(strings.Repeat("# a\n", maxFile/4) + "\n"), "DIR/heddle.yaml is larger than the limit of 16384 bytes"},
		"a profile":          {file("profile: nowhere"), `DIR/heddle.yaml:1:10: profile: no profile "nowhere", neither built in nor a file; there are`},
		"a change":           {file("set: [book=none, place.mop=any]"), `DIR/heddle.yaml:1:18: set[1]: place.mop: no kind "mop"`},
		"a listener":         {file("listen: {web: 'h:x'}"), `DIR/heddle.yaml:1:15: listen.web: "x" is not a port`},
		"a port for all":     {file("listen: {host: '127.0.0.1:1'}"), "DIR/heddle.yaml:1:16: listen.host: \"127.0.0.1:1\" has a port; only a host is expected"},
		"a listener nowhere": {file("listen: {host: rm..east}"), `DIR/heddle.yaml:1:16: listen.host: "rm..east" has no address here`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, "capacity", c.files)
			fails(t, Options{ConfDir: dir}, c.want)
			if strings.Contains(c.want, "has no address here") {
				return // no host is looked up
			}
			if said, want := checked(t, dir), strings.ReplaceAll(c.want, "DIR", dir); !strings.Contains(said, want) {
				t.Errorf("a check says %s\nwant words %s", said, want)
			}
		})
	}
	fails(t, Options{File: filepath.Join(folder(t, "", nil), "heddle.yaml")}, "no such file")
	fails(t, Options{ConfDir: folder(t, "", nil)}, "DIR has none of the files of a Hadoop configuration")
}

// checked returns everything a check finds that keeps a ResourceManager from starting.
func checked(t *testing.T, dir string) string {
	t.Helper()
	r, wrong, err := Check(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(r.Errors, "\n", r.Refused(), "\n", wrong)
}

// A profile makes up for an unsupported scheduler, in a check as at the start. Whatever depends on Hadoop's files uses
// those of the folder, and is not checked if they are wrong. No host is looked up; this machine's memory is irrelevant.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct{ site, file, want string }{
		"a profile for a scheduler": {"yarn.resourcemanager.scheduler.class=x.Mine", "profile: fair", ""},
		"no profile for one":        {"yarn.resourcemanager.scheduler.class=x.Mine", "set: [book=none]", "there is no scheduler x.Mine here"},
		"slower heartbeats":         {"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms=5000", "beats: {fast: 3s, idle: 6s}", ""},
		"wrong files":               {"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms=5s", "beats: {fast: 3s}", `"5s" is not a whole number`},
		"a host":                    {"a=b", "listen: {host: rm..east, agents: 8039}", ""},
		"memory":                    {"a=b", "memory: {limit: 500TiB, calls: 200TiB}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			said := checked(t, folder(t, "capacity", map[string]string{"yarn-site.xml": props(c.site), FileName: c.file}))
			if ok := said == "\n\n<nil>"; ok != (c.want == "") || !strings.Contains(said, c.want) || !ok && !strings.HasSuffix(said, "<nil>") {
				t.Errorf("%s; want %q alone", said, c.want)
			}
		})
	}
}

// Everything is found out about jobs, unless heddle.yaml says otherwise.
func TestFacts(t *testing.T) {
	for text, want := range map[string][2]bool{
		"# nothing":                       {true, true},
		"facts: {masters: false}":         {false, true},
		"facts: {submissions: false}":     {true, false},
		"facts:\n  masters: true":         {true, true},
		"data: x\nfacts: {masters: true}": {true, true},
	} {
		dir := folder(t, "capacity", map[string]string{FileName: text, "core-site.xml": props("fs.defaultFS=hdfs://nn1")})
		f := load(t, Options{ConfDir: dir}).Facts
		if got := [2]bool{f.Masters, f.Submissions}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if diff := cmp.Diff([]string{"nn1:8020"}, f.Files.NameNodes); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRefresh(t *testing.T) {
	dir := folder(t, "capacity", nil)
	d := load(t, Options{ConfDir: dir})
	const prefix = "yarn.scheduler.capacity."
	write(t, filepath.Join(dir, "capacity-scheduler.xml"),
		props(prefix+"root.queues=a,b\n"+prefix+"root.a.capacity=25\n"+prefix+"root.b.capacity=75\n"+prefix+"queue-mappings=u:ann:a"))
	s, err := d.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"root", "root.a", "root.b"}, paths(s.Queues)); diff != "" || s.Queues[2].Absolute != 0.75 || len(s.Set.Queues) != 3 {
		t.Errorf("%s %+v", diff, s.Queues)
	}
	if got, err := s.Place(rm.Placement{User: "ann", Queue: "default"}); got != "root.a" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, _ := d.Scheduler.Place(rm.Placement{User: "ann", Queue: "default"}); got != "root.default" {
		t.Errorf("what was there before now sends to %s", got)
	}
	write(t, filepath.Join(dir, "capacity-scheduler.xml"), props(prefix+"root.queues=a\n"+prefix+"root.a.capacity=25"))
	if _, err := d.Refresh(); err == nil || !strings.Contains(err.Error(), "capacity-scheduler.xml:2: ") {
		t.Errorf("a wrong file is taken: %v", err)
	}
	write(t, filepath.Join(dir, "capacity-scheduler.xml"), props(prefix+"root.queues=default\n"+prefix+"root.default.capacity=100"))
	write(t, filepath.Join(dir, FileName), "profile: heddle")
	if s, err := d.Refresh(); err != nil || s.Profile != "heddle" {
		t.Errorf("another profile in %s: %+v, %v", FileName, s, err)
	}
}

// Users are in the groups they were in, also if the directory does not answer after a refresh. What the configuration says
// of groups is read only at the start.
func TestRefreshKeepsGroups(t *testing.T) {
	const overrides = "hadoop.user.group.static.mapping.overrides="
	dir, bin := folder(t, "capacity", map[string]string{"core-site.xml": props(overrides + "ann=staff")}), t.TempDir()
	t.Setenv("PATH", bin)
	id := func(script string) {
		if err := os.WriteFile(filepath.Join(bin, "id"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	id("echo ops")
	d := load(t, Options{ConfDir: dir})
	if got, err := d.Scheduler.Groups("bob"); !slices.Equal(got, []string{"ops"}) || err != nil {
		t.Fatalf("bob is in %v, %v", got, err)
	}
	id("kill -9 $$")
	write(t, filepath.Join(dir, "core-site.xml"), props(overrides+"ann=guests"))
	s, err := d.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]string{"ann": "staff", "bob": "ops"} {
		if got, err := s.Groups(user); !slices.Equal(got, []string{want}) || err != nil {
			t.Errorf("%s is in %v, %v after a refresh, want %s", user, got, err, want)
		}
	}
	if got, err := s.Groups("eve"); len(got) > 0 || !errors.Is(err, daemon.ErrNoGroups) {
		t.Errorf("eve, of whom nothing is known, is in %v, %v", got, err)
	}
}

// What is read only at the start and changes nevertheless keeps everything else from being read again, until it is
// changed back.
func TestRefreshNeedsRestart(t *testing.T) {
	const types = "resource-types.xml"
	dir := folder(t, "capacity", nil)
	reset := func() {
		write(t, filepath.Join(dir, types), props("yarn.resource-types=gpu,fpga\nyarn.resource-types.gpu.units=Gi"))
		write(t, filepath.Join(dir, FileName), "listen: {agents: 8039}\n")
	}
	reset()
	d := load(t, Options{ConfDir: dir})
	for _, c := range []struct{ file, text, want string }{
		{types, props("yarn.resource-types=fpga,gpu\nyarn.resource-types.gpu.units=Gi"), `DIR/resource-types.xml: yarn.resource-types: was "gpu,fpga" at the start and is "fpga,gpu" now: restart`},
		{types, props("a=b"), `yarn.resource-types: was "gpu,fpga" at the start and is "" now: restart`},
		{types, props("yarn.resource-types=gpu,fpga\nyarn.resource-types.gpu.units=Mi"), `DIR/resource-types.xml: yarn.resource-types.gpu.units: was "Gi" at the start and is "Mi" now: restart`},
		{FileName, "# nothing\n", `DIR/heddle.yaml: listen.agents: was "8039" at the start and is "" now: restart`},
		{FileName, "listen: {agents: 9039}\n", ""},
		{types, props("yarn.resource-types=memory-mb,gpu,fpga\nyarn.resource-types.gpu.units=Gi\nyarn.resource-types.fpga.maximum-allocation=4"), ""},
	} {
		reset()
		write(t, filepath.Join(dir, c.file), c.text)
		want := strings.ReplaceAll(c.want, "DIR", dir)
		if _, err := d.Refresh(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %s: %v; want %q", c.file, c.text, err, want)
		}
	}
	reset()
	if _, err := d.Refresh(); err != nil {
		t.Errorf("changed back: %v", err)
	}

	dir = folder(t, "capacity", nil)
	d = load(t, Options{ConfDir: dir})
	write(t, filepath.Join(dir, FileName), "listen:\n  agents: 8039\n")
	if _, err := d.Refresh(); err == nil || !strings.Contains(err.Error(), dir+`/heddle.yaml:2:11: listen.agents: was "" at the start and is "8039" now: restart`) {
		t.Errorf("agents come later: %v", err)
	}
}

func TestSettings(t *testing.T) {
	dir := folder(t, "capacity", map[string]string{
		"heddle.yaml": "data: state\nbeats: {fast: 50ms, normal: 2s, idle: 5s, load: 100}\nlog: {level: debug, format: json}",
		"yarn-site.xml": props(`yarn.admin.acl=ann,bob ops,staff
			yarn.acl.enable=true
			yarn.resource-types=gpu
			yarn.nm.liveness-monitor.expiry-interval-ms=30000
			yarn.cluster.max-application-priority=9`),
	})
	d := load(t, Options{ConfDir: dir})
	c := d.Config
	if c.FastBeat != 50*heddle.Millisecond || c.Beat != 2*heddle.Second || c.IdleBeat != 5*heddle.Second || c.BeatLoad != 100 || c.NodeExpiry != 30*heddle.Second {
		t.Errorf("beats %+v", c)
	}
	if d.DataDir != filepath.Join(dir, "state") || !d.Log.JSON || d.Log.Level.String() != "DEBUG" {
		t.Errorf("data in %s, log %+v", d.DataDir, d.Log)
	}
	if c.Admins != "ann,bob ops,staff" || !c.ACLs {
		t.Errorf("admins %q, checked %v", c.Admins, c.ACLs)
	}
	if cmp.Diff([]string{"gpu"}, c.ExtraResources) != "" || c.MaxPriority != 9 {
		t.Errorf("%+v", c)
	}
	if d = load(t, Options{ConfDir: dir, Data: "/flag"}); d.DataDir != "/flag" {
		t.Errorf("data in %s", d.DataDir)
	}
}

// A store that is named can be looked at whatever is wrong with the configuration.
func TestNamedDataDir(t *testing.T) {
	dir := folder(t, "", map[string]string{"yarn-site.xml": "<configuration>"})
	if got, err := DataDir(Options{ConfDir: dir, Data: "/flag"}); got != "/flag" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := DataDir(Options{ConfDir: dir}); err == nil {
		t.Errorf("%q of a configuration that cannot be read", got)
	}
}

// Intervals that were configured for other daemons never make heddle's own an error.
func TestBeatsFollowYARNs(t *testing.T) {
	for site, want := range map[string][3]heddle.Span{
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms=50":   {50 * heddle.Millisecond, 50 * heddle.Millisecond, 2 * heddle.Second},
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms=3000": {100 * heddle.Millisecond, 3 * heddle.Second, 3 * heddle.Second},
		"yarn.nm.liveness-monitor.expiry-interval-ms=3000":             {100 * heddle.Millisecond, heddle.Second, heddle.Second},
	} {
		c := load(t, Options{ConfDir: folder(t, "capacity", map[string]string{"yarn-site.xml": props(site)})}).Config
		if got := [3]heddle.Span{c.FastBeat, c.Beat, c.IdleBeat}; got != want {
			t.Errorf("%s: %v, want %v", site, got, want)
		}
	}
}

func TestDeviationsAreDocumented(t *testing.T) {
	for _, d := range Deviations() {
		if d.Name == "" || d.YARN == "" || d.Ours == "" || d.Why == "" {
			t.Errorf("%+v", d)
		}
	}
	docs, err := os.ReadFile("../../docs/daemon.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Deviations() {
		for _, text := range []string{d.Name, d.YARN, d.Ours, d.Why} {
			if !strings.Contains(string(docs), text) {
				t.Errorf("docs/daemon.md lacks %q", text)
			}
		}
	}
	if conf.Loopback != Deviations()[0].Ours {
		t.Errorf("%s is not what is listed", conf.Loopback)
	}
}

// Users who may act for others come with addresses; an unknown host admits nobody.
func TestProxyUsers(t *testing.T) {
	d := load(t, Options{ConfDir: folder(t, "capacity", map[string]string{"core-site.xml": props(`hadoop.proxyuser.hue.users=ann
		hadoop.proxyuser.hue.hosts=10.0.0.0/8,192.168.1.9,no-such-host.invalid
		hadoop.proxyuser.root.groups=*
		hadoop.proxyuser.root.hosts=*`)})})
	networks := func(list ...string) (out []netip.Prefix) {
		for _, n := range list {
			out = append(out, netip.MustParsePrefix(n))
		}
		return out
	}
	want := map[string]daemon.ProxyUser{
		"hue":  {Users: []string{"ann"}, From: networks("10.0.0.0/8", "192.168.1.9/32")},
		"root": {Groups: []string{"*"}, From: networks("0.0.0.0/0", "::/0")},
	}
	if diff := cmp.Diff(want, d.Config.ProxyUsers, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(d.Remarks, "\n"); !strings.Contains(got, "the addresses of these hosts are not known: no-such-host.invalid; proxy users cannot act for others from there") {
		t.Errorf("remarks:\n%s", got)
	}
	if !slices.ContainsFunc(d.Properties, func(p conf.Property) bool { return p.Name == "hadoop.proxyuser.hue.users" && p.Value == "ann" }) {
		t.Errorf("what is set is not told: %v", d.Properties)
	}
}

// TestAgents checks that mechanisms that need node agents are on if the daemon listens for agents, and off otherwise.
func TestAgents(t *testing.T) {
	for agents, off := range map[string]bool{"": true, "127.0.0.1:0": false} {
		d, err := Load(Options{Profile: "mrorchestrator", Data: t.TempDir(), Listen: Listen{Agents: agents}})
		if err != nil {
			t.Fatal(err)
		}
		if set := d.Scheduler.Set; (len(d.Scheduler.Off) > 0) != off || (len(set.Control) == 0) != off || (set.Feeds.Profile == 0) != off {
			t.Errorf("agents at %q: off %q, %d controls, profiles every %v", agents, d.Scheduler.Off, len(set.Control), set.Feeds.Profile)
		}
	}
}

// The process ends by itself when its loop hangs, unless that is switched off.
func TestWatchdog(t *testing.T) {
	alone(t)
	for text, want := range map[string]time.Duration{"\ufeffprofile: fair": time.Minute, "watchdog: 0s": 0, "watchdog: 10s": 10 * time.Second} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Load(Options{ConfDir: dir})
		if err != nil || d.Config.Watchdog != want {
			t.Errorf("%q: %v, %v; want %v", text, d.Config.Watchdog, err, want)
		}
	}
}
