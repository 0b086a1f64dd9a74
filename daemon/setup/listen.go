package setup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"heddle/conf"
	"heddle/daemon"
	"heddle/internal/plain"
)

// lookupTime is how long looking up a host name may take.
const lookupTime = 5 * time.Second

// agentsPort is the default port for node agents.
const agentsPort = 8039

// A port is one of the ports that the daemon listens on.
type port struct {
	flag, key string // from the command line and heddle.yaml
	name      string // in heddle.yaml
	conf      conf.Address
	into      *netip.AddrPort
	with      string // the host of another port, for one that stays there unless it has its own; "" for any other
}

// ports returns the ports that the daemon always listens on.
func (s *source) ports(c *daemon.Config) []port {
	d, flag, key := s.hadoop.Daemon, s.Options.Listen, s.file.Listen
	return []port{
		{flag: flag.Client, key: key.Client, name: "client", conf: d.Client, into: &c.Client},
		{flag: flag.Scheduler, key: key.Scheduler, name: "scheduler", conf: d.Scheduler, into: &c.Scheduler},
		{flag: flag.Tracker, key: key.Tracker, name: "tracker", conf: d.Tracker, into: &c.Tracker},
		{flag: flag.Admin, key: key.Admin, name: "admin", conf: d.Admin, into: &c.Admin},
		{flag: flag.Web, key: key.Web, name: "web", conf: d.Web, into: &c.Web},
	}
}

// agentAddress returns where to listen for node agents. The default host is the one for NodeManagers.
func (s *source) agentAddress() (conf.Address, error) {
	flag, key, a := s.Options.Listen, s.file.Listen, s.hadoop.Daemon.Tracker
	if err := s.overrides(&a, port{flag: flag.Tracker, key: key.Tracker, name: "tracker"}); err != nil {
		return a, err
	}
	a.Port = agentsPort
	err := s.overrides(&a, port{flag: flag.Agents, key: key.Agents, name: "agents", with: a.Listens()})
	return a, err
}

// checkListen checks where to listen, as far as that is possible without looking up hosts.
func (s *source) checkListen() error {
	for _, p := range s.ports(&daemon.Config{}) {
		if err := s.overrides(&p.conf, p); err != nil {
			return err
		}
	}
	_, err := s.agentAddress()
	return err
}

// listen sets where the daemon listens. open reports whether others may reach it, and were meant to.
func (s *source) listen(c *daemon.Config) (open bool, err error) {
	found := map[string]netip.Addr{}
	var exposed []string
	for _, p := range s.ports(c) {
		a := p.conf
		if err := s.overrides(&a, p); err != nil {
			return false, err
		}
		host := a.Listens()
		if _, known := found[host]; !known {
			if found[host], err = lookup(host); err != nil {
				return false, fmt.Errorf("%s: %w", a.Place, err)
			}
			if !found[host].IsLoopback() {
				exposed = append(exposed, fmt.Sprintf("%s: %s", a.Place, reach(host, found[host])))
			}
		}
		*p.into = netip.AddrPortFrom(found[host], a.Port)
		if p.into == &c.Web {
			c.WebHost, c.ProxySource = webHost(a, found[host]), s.proxySource(a)
		}
	}
	if err := s.listenAgents(c); err != nil {
		return false, err
	}
	if len(exposed) > 0 && s.file.InsecureOpen != understood {
		return false, fmt.Errorf(`%s, where other machines can reach it, and callers are not authenticated: they could run programs as any user.
Listen on %s, or write insecure_open: %q into %s if everybody who can reach the ports may do so`,
			strings.Join(exposed, "\n"), conf.Loopback, understood, s.fileHint())
	}
	return len(exposed) > 0, nil
}

// listenAgents sets where the daemon listens for node agents, if at all. Others may reach that port, because it
// requires a certificate.
func (s *source) listenAgents(c *daemon.Config) error {
	if !s.agents() {
		return nil
	}
	a, err := s.agentAddress()
	if err != nil {
		return err
	}
	host, err := lookup(a.Listens())
	if err != nil {
		return fmt.Errorf("%s: %w", a.Place, err)
	}
	c.Agents = netip.AddrPortFrom(host, a.Port)
	return nil
}

// agents reports whether the daemon listens for node agents.
func (s *source) agents() bool { return s.Options.Listen.Agents != "" || s.file.Listen.Agents != "" }

// fileHint returns the path of the heddle.yaml that is, or would be, read.
func (s *source) fileHint() string {
	switch {
	case s.File != "":
		return s.File
	case s.ConfDir != "":
		return s.ConfDir + string(os.PathSeparator) + FileName
	}
	return FileName + " in a folder that --conf names"
}

func reach(host string, a netip.Addr) string {
	if a.IsUnspecified() {
		return "would listen on every address of this machine (" + host + ")"
	}
	if host == a.String() {
		return "would listen on " + host
	}
	return fmt.Sprintf("would listen on %s (%s)", host, a)
}

// WebURL returns the URL, as clients reach it, of the web pages of the ResourceManager that HADOOP_CONF_DIR describes;
// "" if that is not set. It looks up no hosts.
func WebURL() (string, error) {
	dir := os.Getenv("HADOOP_CONF_DIR")
	if dir == "" {
		return "", nil
	}
	s, err := read(Options{ConfDir: dir})
	if errors.Is(err, conf.ErrNoFiles) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("HADOOP_CONF_DIR: %w", err)
	}
	a := s.hadoop.Daemon.Web
	told := a.Host
	if err := s.overrides(&a, port{key: s.file.Listen.Web, name: "web"}); err != nil {
		return "", err
	}
	for _, host := range []string{told, conf.Loopback} { // a ResourceManager that listens everywhere listens there too
		if at, err := netip.ParseAddr(a.Host); err == nil && at.IsUnspecified() {
			a.Host = host
		}
	}
	return "http://" + net.JoinHostPort(a.Host, fmt.Sprint(a.Port)), nil
}

// overrides applies heddle.yaml and the command line on top of Hadoop's files.
func (s *source) overrides(a *conf.Address, p port) error {
	for _, o := range []struct {
		text  string
		place plain.Place
		all   bool
	}{
		{s.file.Listen.Host, s.file.placeOf("listen.host"), true},
		{p.key, s.file.placeOf("listen." + p.name), false},
		{s.Options.Listen.Host, plain.Place{Key: "--listen"}, true},
		{p.flag, plain.Place{Key: "--listen " + p.name}, false},
	} {
		if o.text == "" || o.all && p.with != "" && p.with == a.Listens() {
			continue
		}
		host, number, err := hostPort(o.text, a.Listens(), a.Port)
		if err == nil && o.all && number != a.Port {
			err = fmt.Errorf(
				"%q has a port; only a host is expected, and ports belong to client, scheduler, tracker, admin, web and agents", o.text)
		}
		if err != nil {
			return &plain.Fault{Place: o.place, Err: err}
		}
		if host != a.Listens() {
			a.Host, a.Bind, a.Place = host, "", o.place.String()
		}
		a.Port = number
	}
	return nil
}

// hostPort parses host:port, a host, :port or a port. Missing parts come from the parameters.
func hostPort(text, host string, number uint16) (string, uint16, error) {
	if digits := strings.TrimPrefix(text, ":"); digits != "" && strings.Trim(digits, "0123456789") == "" {
		text = net.JoinHostPort(host, digits)
	}
	return conf.SplitAddress(text, number)
}

// lookup returns the address of a host. If there are several, it is the first IPv4 one, as Hadoop's daemons listen on.
func lookup(host string) (netip.Addr, error) {
	all, err := addresses(host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%q has no address here (%w); give an address, or a name that this machine knows", host, err)
	}
	return all[max(0, slices.IndexFunc(all, netip.Addr.Is4))], nil
}

// addresses returns the addresses of a host, at least one.
func addresses(host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(all) == 0 {
		err = errors.New("no answer")
	}
	for i := range all {
		all[i] = all[i].Unmap()
	}
	return all, err
}

// proxySource returns the address from which masters expect calls for their pages: that of the host by which they know
// the pages, or of another proxy, if it has an address here. It is zero if that is the address listened on.
func (s *source) proxySource(a conf.Address) netip.Addr {
	host := a.Host
	if at := s.hadoop.Daemon.WebProxy; at != "" {
		host, _, _ = conf.SplitAddress(at, a.Port) // already checked
	}
	if host == a.Listens() {
		return netip.Addr{}
	}
	from, _ := lookup(host) // a host behind another machine's address has none here
	return from
}

// webHost returns host:port for links to the pages; "" if the address listened on is as good.
func webHost(a conf.Address, at netip.Addr) string {
	host := a.Host
	switch addr, err := netip.ParseAddr(host); {
	case a.Port == 0:
		return "" // known once it listens
	case err == nil && addr == at && !at.IsUnspecified():
		return ""
	case err == nil && addr.IsUnspecified():
		if host, err = os.Hostname(); err != nil {
			return ""
		}
	}
	return net.JoinHostPort(host, fmt.Sprint(a.Port))
}
