// Package daemon is the shell of a [rm.Machine] for real clusters. It turns what NodeManagers, ApplicationMasters,
// clients and people say into messages to the machine, and what the machine wants done into answers, records, tokens
// and launches.
//
// One goroutine, the loop, owns the machine; all others send it functions to run. The daemon has the clock, the
// sockets, the token secrets and the store. It makes no decision that anybody could observe.
package daemon
