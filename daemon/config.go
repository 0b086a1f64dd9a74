package daemon

import (
	"net/netip"
	"time"

	"heddle"
	"heddle/rm"
)

// A Config is the daemon's configuration apart from its scheduler. The comment of each field names YARN's property; the
// defaults are YARN's unless the comment says otherwise.
type Config struct {
	rm.Config

	// Addresses to listen on. Port 0 takes a free port.
	Client    netip.AddrPort // yarn.resourcemanager.address
	Scheduler netip.AddrPort // yarn.resourcemanager.scheduler.address
	Tracker   netip.AddrPort // yarn.resourcemanager.resource-tracker.address
	Admin     netip.AddrPort // yarn.resourcemanager.admin.address
	Web       netip.AddrPort // yarn.resourcemanager.webapp.address
	Agents    netip.AddrPort // for node agents, which YARN does not have; zero: do not listen

	// ProxySource is the address that masters are called from: that of the host in yarn.web-proxy.address, or else in
	// yarn.resourcemanager.webapp.address, whatever address is listened on. Zero means the address that serves the pages.
	ProxySource netip.Addr

	Decommission   time.Duration        // yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs; below 0: no limit
	ConnectRetries int                  // yarn.resourcemanager.nodemanager-connect-retries, for launching masters
	IncludeFile    string               // yarn.resourcemanager.nodes.include-path
	ExcludeFile    string               // yarn.resourcemanager.nodes.exclude-path
	Recovery       bool                 // yarn.resourcemanager.recovery.enabled; on by default (YARN: off)
	ProxyUsers     map[string]ProxyUser // by name
	Topology       string               // net.topology.script.file.name: a script that prints the rack of each host it is given
	TopologyTable  map[string]string    // net.topology.table.file.name: racks by the addresses or names of hosts
	Watchdog       time.Duration        // how long the loop may spend on one thing before the process ends; 0: no limit
	Nodes          heddle.Caps          // what the site's NodeManagers can do to containers

	Memory      Memory
	CallsPer    int // how many calls of clients and administrators from one address are answered at a time, on each of their ports; half of that for one user; 0 for 16
	ConnsPer    int // connections from one address to an RPC port or the port of node agents; 0 for package rpc's default
	WebConnsPer int // connections from one address to the web server; 0 for package httpd's default
}

// Memory limits how many bytes of memory are used.
type Memory struct {
	Limit      int64 // by the process, as far as Go's garbage collector can enforce it; 0: no limit is set
	Calls      int64 // by calls that are being read, processed and answered
	PerAddress int64 // by the calls of one address
}

// A ProxyUser says for whom a user may act, named by Users or Groups, and from which addresses: as in
// hadoop.proxyuser.<name>.users, .groups and .hosts. "*" stands for all users or groups.
type ProxyUser struct {
	Users, Groups []string
	From          []netip.Prefix
}
