package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"heddle/conf"
	"heddle/daemon/serve"
	"heddle/daemon/setup"
)

// A notice is what a ResourceManager prints for people when it starts.
type notice struct {
	setup   *setup.Daemon
	daemon  *serve.Daemon
	first   bool // nothing has been kept yet
	verbose bool
}

// A listening is one port of the daemon.
type listening struct {
	who, property string
	at            netip.AddrPort
	usual         uint16 // YARN's default
}

func (n *notice) ports() []listening {
	d := n.daemon
	return []listening{
		{"applications' clients", "yarn.resourcemanager.address", d.Client, 8032},
		{"application masters", "yarn.resourcemanager.scheduler.address", d.Scheduler, 8030},
		{"NodeManagers", "yarn.resourcemanager.resource-tracker.address", d.Tracker, 8031},
		{"administrators", "yarn.resourcemanager.admin.address", d.Admin, 8033},
		{"pages and REST", "yarn.resourcemanager.webapp.address", d.Web, 8088},
	}
}

func (n *notice) text() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "Heddle's ResourceManager listens for")
	for _, p := range n.ports() {
		at := p.at.String()
		if p.at == n.daemon.Web {
			at = "http://" + at
		}
		fmt.Fprintf(t, "  %s\t%s\n", p.who, at)
	}
	agents := n.daemon.Agents
	remote := agents.IsValid() && !agents.Addr().IsLoopback()
	switch at := net.JoinHostPort(reached(agents.Addr()), strconv.Itoa(int(agents.Port()))); {
	case remote:
		fmt.Fprintf(t, "  node agents\thttps://%s\n", at)
	case agents.IsValid():
		fmt.Fprintf(t, "  node agents\thttp://%s\n", at)
	}
	_ = t.Flush() // writes to memory
	switch {
	case n.setup.Open:
		b.WriteString("other machines can reach it, and whoever does can act as any user: insecure_open allows this\n")
	case remote:
		b.WriteString("only this machine can reach it, except for node agents with a token or a certificate\n")
	default:
		b.WriteString("only this machine can reach it\n")
	}
	for _, r := range n.setup.Remarks {
		b.WriteString(r + "\n")
	}
	for _, off := range n.setup.Scheduler.Off {
		b.WriteString("off: " + off + "\n")
	}
	n.off(&b)
	if n.setup.Config.Recovery {
		b.WriteString("state: " + n.setup.DataDir + "\n")
	} else {
		b.WriteString("state: not kept (yarn.resourcemanager.recovery.enabled is false)\n")
	}
	others := slices.DeleteFunc(slices.Clone(n.setup.Notices), func(x conf.Notice) bool { return x.Kind == conf.Unsupported })
	if count := len(others); count > 0 && !n.verbose {
		fmt.Fprintf(&b, "%s on the configuration; -v shows them\n", plural(count, "remark"))
	}
	if n.verbose {
		n.details(&b)
	}
	if n.first {
		b.WriteString("\nThis is the first start. yarn-site.xml of NodeManagers and clients needs\n" + n.site() +
			"and that of NodeManagers, so that they reconnect at once after a restart,\n")
		writeProperty(&b, conf.RetryName, strconv.Itoa(conf.RetryMillis))
	}
	return b.String()
}

// off lists what the configuration asks for and does not get, each once.
func (n *notice) off(b *strings.Builder) {
	for _, same := range conf.Together(n.setup.Notices, conf.Unsupported) {
		more := ""
		if len(same) > 1 {
			more = fmt.Sprintf(", and %d more, which -v lists", len(same)-1)
		}
		fmt.Fprintf(b, "off: %s (%s%s)\n", same[0].Text, same[0].Place(), more)
	}
}

// details adds what only -v shows.
func (n *notice) details(b *strings.Builder) {
	for _, x := range n.setup.Notices {
		fmt.Fprintf(b, "configuration: %s\n", x)
	}
	for _, x := range n.setup.Deviations {
		fmt.Fprintf(b, "differs from YARN: %s is %s (YARN: %s): %s\n", x.Name, x.Ours, x.YARN, x.Why)
	}
}

// site returns the properties by which others find the daemon.
func (n *notice) site() string {
	var b strings.Builder
	property := func(name, value string) { writeProperty(&b, name, value) }
	host := reached(n.daemon.Client.Addr())
	property("yarn.resourcemanager.hostname", host)
	for _, p := range n.ports() {
		if at := reached(p.at.Addr()); at != host || p.at.Port() != p.usual {
			if p.at.Addr().Is6() && strings.Contains(at, ":") {
				at = "[" + at + "]"
			}
			property(p.property, fmt.Sprintf("%s:%d", at, p.at.Port()))
		}
	}
	return b.String()
}

func writeProperty(b *strings.Builder, name, value string) {
	fmt.Fprintf(b, "  <property><name>%s</name><value>", name)
	_ = xml.EscapeText(b, []byte(value)) // writes to memory
	b.WriteString("</value></property>\n")
}

// reached returns the name or address by which others reach what listens on an address.
func reached(a netip.Addr) string {
	if !a.IsUnspecified() {
		return a.Unmap().String()
	}
	name, _ := os.Hostname()
	return cmp.Or(name, a.String())
}
