// Package search looks for bugs in package rm: it simulates a small cluster around an [rm.Machine], in which everything
// that can go wrong does.
//
// One number, the seed, determines a cluster, its configuration, jobs and faults ([NewPlan]). [Run] plays them,
// compares the machine with a model of its own after every step, and returns the first rule that was broken. The same
// plan always has the same result. Half of the seeds after the first hundred have any profile, with changes, and queues
// with other limits; in these the core that went through the faults continues to the end, unless queues were reloaded.
// [Shrink] removes from a failing plan what it fails without.
//
// The machine's shell, disks, networks, NodeManagers, masters and clients are simulated as far as the machine can tell:
// what they say, when and how often, and what they know when they come back. The package is for tests.
package search
