// Package search looks for mistakes in package rm: a simulation of a small cluster around an [rm.Machine], in which
// everything that can go wrong does.
//
// One number, the seed, makes a cluster, its configuration, jobs and faults ([NewPlan]); [Run] plays them, looks at the
// machine after every step beside a model of its own, and returns the first rule that was broken. The same plan always
// goes the same way. Of the seeds after the first hundred half have any profile, with changes, and queues with other limits; there
// the core that went through the faults goes on to the end, unless queues were read anew.
// [Shrink] leaves out of a plan that fails what it fails without.
//
// The shell of the machine, disks, networks, NodeManagers, masters and clients are simulated as far as the machine can
// tell: what they say, when, how often, and what they know when they come back. It is for tests.
package search
