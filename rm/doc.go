// Package rm implements YARN's ResourceManager as a state machine: the lives of applications, attempts, containers and
// nodes, around a [sched.Core].
//
// What a NodeManager, an ApplicationMaster, a client, an administrator, the store or a timer says goes in as a
// [Message]; what to do about it comes out as a list of [Effect]: an answer, a record to store, a master to start or
// stop, a line for the log. The same messages at the same times have the same effects: the machine has no clock,
// goroutine, lock, I/O or randomness of its own.
//
// A shell drives it: the daemon for a real cluster, package sim for a simulated one. The shell calls [Machine.Step]
// with a time that never goes back, carries out the effects in order, sends [Stored] and [Started] for the effects that
// want them, and sends [Tick] by [Machine.Deadline]. A lost effect is like a lost message: nothing comes of it. After a
// crash [New] continues from the stored records.
//
// It knows YARN's life cycles, but none of its bytes, tokens and sockets; it takes no scheduling decisions and knows no
// policy by name.
package rm
