package daemon

import (
	"net/netip"
	"time"

	"heddle"
	"heddle/rm"
)

// A Config is what the daemon is told beside its scheduler. Every field has YARN's property in its comment;
// the defaults are YARN's unless the comment says otherwise.
type Config struct {
	rm.Config

	// Where it listens. Port 0 takes a free one.
	Client    netip.AddrPort // yarn.resourcemanager.address
	Scheduler netip.AddrPort // yarn.resourcemanager.scheduler.address
	Tracker   netip.AddrPort // yarn.resourcemanager.resource-tracker.address
	Admin     netip.AddrPort // yarn.resourcemanager.admin.address
	Web       netip.AddrPort // yarn.resourcemanager.webapp.address
	Agents    netip.AddrPort // for node agents, which YARN does not have; zero: nowhere

	// ProxySource is the address that masters are called from: the one that the host of yarn.resourcemanager.webapp.address
	// has, whatever is listened on. Zero for the one that pages are served at.
	ProxySource netip.Addr

	Decommission   time.Duration        // yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs; below 0: as long as it takes
	ConnectRetries int                  // yarn.resourcemanager.nodemanager-connect-retries, for launching masters
	IncludeFile    string               // yarn.resourcemanager.nodes.include-path
	ExcludeFile    string               // yarn.resourcemanager.nodes.exclude-path
	Recovery       bool                 // yarn.resourcemanager.recovery.enabled; on unless said otherwise (YARN: off)
	ProxyUsers     map[string]ProxyUser // by name
	Topology       string               // net.topology.script.file.name: prints the rack of each host it is given
	TopologyTable  map[string]string
	Watchdog       time.Duration // the loop may be at one thing for so long before the process ends; 0: for ever
	Nodes          heddle.Caps   // what the site's NodeManagers can do to containers

	Memory      Memory
	CallsPer    int // calls of clients and administrators from one address that are answered at a time, on each of their ports; half of them of one user; 0 for 16
	ConnsPer    int // connections from one address to a port of RPC or that of node agents; 0 for as many as package rpc has
	WebConnsPer int // to that of the web server; 0 for as many as package httpd has
}

// Memory is how many bytes of it are used.
type Memory struct {
	Limit      int64 // by the process, as far as Go's garbage collector can see to it; 0: nothing is set
	Calls      int64 // by calls that are read, worked on and answered
	PerAddress int64 // by those of one address
}

// A ProxyUser is for whom somebody may act, whom Users or Groups name, and from where: as hadoop.proxyuser.<name>.users,
// .groups and .hosts have it. "*" stands for all users or groups.
type ProxyUser struct {
	Users, Groups []string
	From          []netip.Prefix
}
