// Package rm is the daemon: what NodeManagers, ApplicationMasters, clients and people say becomes events for
// [sched.Core], and what the core decides becomes tokens, launches and answers.
//
// One goroutine, the loop, owns the core and every table here; everybody else sends it functions to run. It
// knows YARN's life cycles and wire messages. It takes no scheduling decision and knows no policy by name.
package rm
