// Package rm is YARN's ResourceManager as a machine: the lives of applications, attempts, containers and nodes, around
// a [sched.Core].
//
// What a NodeManager, an ApplicationMaster, a client, an administrator, the store or a timer says goes in as a
// [Message]; what is to be done about it comes out as a list of [Effect]: an answer, a record to store, a master to
// start or stop, a line for the log. The same messages at the same times bring the same effects: the machine has no
// clock, no goroutine, no lock, no I/O and no randomness of its own.
//
// Whoever drives it is a shell: the daemon for a real cluster, package sim for a simulated one. It calls
// [Machine.Step] with a time that never goes back, does what the effects say in their order, says [Stored] and
// [Started] about those that want it, and says [Tick] by [Machine.Deadline]. What becomes of a lost effect is what
// becomes of a lost message: nothing. After a crash [New] goes on from the records that were stored.
//
// It knows YARN's life cycles, and nothing of its bytes, tokens and sockets; it takes no scheduling decision and knows no
// policy by name.
package rm
