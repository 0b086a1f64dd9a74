// Package daemon is the shell of a [rm.Machine] that serves real clusters: what NodeManagers, ApplicationMasters,
// clients and people say becomes messages to the machine, and what it wants done becomes answers, records, tokens and
// launches.
//
// One goroutine, the loop, owns the machine; everybody else sends it functions to run. It has the clock, the sockets,
// the secrets of tokens and the store, and decides nothing that anybody could see.
package daemon
