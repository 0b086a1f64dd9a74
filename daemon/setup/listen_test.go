package setup

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
)

const openUp = `insecure_open: "I understand"`

func TestListen(t *testing.T) {
	for name, c := range map[string]struct {
		site, file string
		flags      Listen
		want       string // client, tracker and web
		host       string // for links
		open       bool
	}{
		"nothing said": {"a=b", "", Listen{}, "127.0.0.1:8032 127.0.0.1:8031 127.0.0.1:8088", "", false},
		"a name":       {"yarn.resourcemanager.hostname=localhost", "", Listen{}, "127.0.0.1:8032 127.0.0.1:8031 127.0.0.1:8088", "localhost:8088", false},
		"one port":     {"yarn.resourcemanager.address=127.0.0.2:0", "", Listen{}, "127.0.0.2:0 127.0.0.1:8031 127.0.0.1:8088", "", false},
		"bound elsewhere": {
			"yarn.resourcemanager.hostname=front.invalid\nyarn.resourcemanager.bind-host=127.0.0.3", "",
			Listen{},
			"127.0.0.3:8032 127.0.0.3:8031 127.0.0.3:8088", "front.invalid:8088", false,
		},
		"the file": {
			"yarn.resourcemanager.hostname=10.0.0.1", "listen: {host: 127.0.0.4, web: ':0', client: 127.0.0.5, tracker: 9031}",
			Listen{},
			"127.0.0.5:8032 127.0.0.4:9031 127.0.0.4:0", "", false,
		},
		"flags": {
			"a=b", "listen: {host: 127.0.0.4, web: ':1'}",
			Listen{Host: "127.0.0.6", Client: "127.0.0.7:2"},
			"127.0.0.7:2 127.0.0.6:8031 127.0.0.6:1", "", false,
		},
		"everywhere": {"yarn.resourcemanager.hostname=0.0.0.0", openUp, Listen{}, "0.0.0.0:8032 0.0.0.0:8031 0.0.0.0:8088", "HOST:8088", true},
		"everywhere, by a name": {
			"yarn.resourcemanager.hostname=127.0.0.9\nyarn.resourcemanager.bind-host=0.0.0.0", openUp,
			Listen{},
			"0.0.0.0:8032 0.0.0.0:8031 0.0.0.0:8088", "127.0.0.9:8088", true,
		},
		"another proxy": {
			"yarn.web-proxy.address=127.0.0.8:9099", "",
			Listen{},
			"127.0.0.1:8032 127.0.0.1:8031 127.0.0.1:8088", "", false,
		},
		"IPv6": {"yarn.resourcemanager.hostname=::1", "", Listen{}, "[::1]:8032 [::1]:8031 [::1]:8088", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"yarn-site.xml": props(c.site)}
			if c.file != "" {
				files[FileName] = c.file
			}
			d := load(t, Options{ConfDir: folder(t, "capacity", files), Listen: c.flags})
			if strings.HasPrefix(c.host, "HOST") {
				machine, err := os.Hostname()
				if err != nil {
					t.Fatal(err)
				}
				c.host = machine + c.host[4:]
			}
			got := fmt.Sprint(d.Config.Client, " ", d.Config.Tracker, " ", d.Config.Web)
			if got != c.want || d.Config.WebHost != c.host || d.Open != c.open {
				t.Errorf("listens on %s, links to %q, open %v; want %s, %q, %v", got, d.Config.WebHost, d.Open, c.want, c.host, c.open)
			}
			from := netip.Addr{}
			switch name {
			case "everywhere, by a name":
				from = netip.MustParseAddr("127.0.0.9")
			case "another proxy":
				from = netip.MustParseAddr("127.0.0.8")
			}
			if d.Config.ProxySource != from {
				t.Errorf("masters are called from %v, want %v", d.Config.ProxySource, from)
			}
		})
	}
}

// The daemon does not listen where others can reach it unless somebody has understood what that means.
func TestOthersAreKeptOut(t *testing.T) {
	site := func(lines string) map[string]string { return map[string]string{"yarn-site.xml": props(lines)} }
	for name, c := range map[string]struct {
		files map[string]string
		flags Listen
		want  string
	}{
		"everywhere": {site("yarn.resourcemanager.hostname=0.0.0.0"), Listen{}, "DIR/yarn-site.xml:2: yarn.resourcemanager.hostname: would listen on every address of this machine (0.0.0.0), where other machines"},
		"bind-host":  {site("yarn.resourcemanager.bind-host=::"), Listen{}, "DIR/yarn-site.xml:2: yarn.resourcemanager.bind-host: would listen on every address of this machine (::)"},
		"one port":   {site("yarn.resourcemanager.webapp.address=10.1.2.3:80"), Listen{}, "DIR/yarn-site.xml:2: yarn.resourcemanager.webapp.address: would listen on 10.1.2.3, where"},
		"the file":   {map[string]string{FileName: "listen: {admin: '10.1.2.3:1'}"}, Listen{}, "DIR/heddle.yaml:1:17: listen.admin: would listen on 10.1.2.3"},
		"a flag":     {nil, Listen{Host: "10.1.2.3"}, "--listen: would listen on 10.1.2.3"},
		"the way out": {
			nil, Listen{Host: "10.1.2.3"}, `Listen on 127.0.0.1, or write insecure_open: "I understand" into DIR/heddle.yaml if everybody`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, Options{ConfDir: folder(t, "capacity", c.files), Listen: c.flags}, c.want)
		})
	}
	alone(t)
	fails(t, Options{Listen: Listen{Host: "10.1.2.3"}}, "into heddle.yaml in a folder that --conf names")
}

// The daemon listens for node agents if told to, and others may reach that port.
func TestListenForAgents(t *testing.T) {
	for name, c := range map[string]struct {
		site, file string
		flags      Listen
		want       string
	}{
		"nothing said": {"a=b", "", Listen{Host: "127.0.0.6"}, "invalid AddrPort"},
		"a port":       {"a=b", "listen: {agents: 9039}", Listen{}, "127.0.0.1:9039"},
		"a host":       {"a=b", "listen: {agents: 10.1.2.3}", Listen{}, "10.1.2.3:8039"},
		"both":         {"a=b", "listen: {agents: '10.1.2.3:1'}", Listen{}, "10.1.2.3:1"},
		"with the nodes": {
			"yarn.resourcemanager.resource-tracker.address=127.0.0.9:1", "listen: {agents: ':8039'}", Listen{}, "127.0.0.9:8039",
		},
		"with the rest": {"a=b", "listen: {host: 127.0.0.4, agents: 8039}", Listen{}, "127.0.0.4:8039"},
		"a flag":        {"a=b", "listen: {agents: '10.1.2.3:1'}", Listen{Agents: "127.0.0.7"}, "127.0.0.7:1"},

		"where heddle.yaml has the nodes":    {"a=b", "listen: {tracker: 127.0.0.7, agents: 8039}", Listen{}, "127.0.0.7:8039"},
		"but not at the nodes' port":         {"a=b", "listen: {tracker: '127.0.0.7:1', agents: ':9039'}", Listen{}, "127.0.0.7:9039"},
		"with the nodes, not the rest":       {"a=b", "listen: {host: 127.0.0.4, tracker: 127.0.0.7, agents: 8039}", Listen{}, "127.0.0.7:8039"},
		"where a flag has the nodes":         {"a=b", "listen: {tracker: 127.0.0.7, agents: 8039}", Listen{Host: "127.0.0.4", Tracker: "127.0.0.5"}, "127.0.0.5:8039"},
		"a host beside the nodes'":           {"a=b", "listen: {tracker: 127.0.0.7, agents: 127.0.0.8}", Listen{Tracker: "127.0.0.5"}, "127.0.0.8:8039"},
		"a flag for all":                     {"a=b", "listen: {tracker: 127.0.0.7, agents: '127.0.0.8:1'}", Listen{Host: "127.0.0.4"}, "127.0.0.4:1"},
		"a flag for all, also for the nodes": {"a=b", "listen: {tracker: 127.0.0.7, agents: 8039}", Listen{Host: "127.0.0.4"}, "127.0.0.4:8039"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"yarn-site.xml": props(c.site), FileName: c.file + "\n"}
			d := load(t, Options{ConfDir: folder(t, "capacity", files), Listen: c.flags})
			if got := d.Config.Agents.String(); got != c.want || d.Open {
				t.Errorf("listens on %s, open %v; want %s", got, d.Open, c.want)
			}
		})
	}
	fails(t, Options{ConfDir: folder(t, "capacity", map[string]string{FileName: "listen: {agents: 'nosuch.invalid:1'}"})},
		`DIR/heddle.yaml:1:18: listen.agents: "nosuch.invalid" has no address here`)
}

func TestReach(t *testing.T) {
	if got := reach("rm7", netip.MustParseAddr("10.0.0.7")); got != "would listen on rm7 (10.0.0.7)" {
		t.Error(got)
	}
}

func TestWebURL(t *testing.T) {
	for _, c := range []struct{ site, own, want string }{
		{"", "", "http://127.0.0.1:8088"},
		{"yarn.resourcemanager.hostname=rm7", "", "http://rm7:8088"},
		{"yarn.resourcemanager.webapp.address=0.0.0.0:80", "", "http://127.0.0.1:80"},
		{"yarn.resourcemanager.hostname=rm7", "listen: {web: ':9088'}", "http://rm7:9088"},
		{"", "listen: {host: '::1'}", "http://[::1]:8088"},
		{"", "listen: {host: 0.0.0.0}", "http://127.0.0.1:8088"},
		{"yarn.resourcemanager.hostname=rm7", "listen: {host: 0.0.0.0, web: 9088}", "http://rm7:9088"},
	} {
		dir := folder(t, "", map[string]string{"yarn-site.xml": props(c.site), "heddle.yaml": c.own + "\n"})
		t.Setenv("HADOOP_CONF_DIR", dir)
		if got, err := WebURL(); got != c.want || err != nil {
			t.Errorf("%s, %s: %s, %v; want %s", c.site, c.own, got, err, c.want)
		}
	}
	t.Setenv("HADOOP_CONF_DIR", "")
	if got, err := WebURL(); got != "" || err != nil {
		t.Errorf("without a configuration: %s, %v", got, err)
	}
}
