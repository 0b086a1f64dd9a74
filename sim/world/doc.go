// Package world is the physics of the simulated cluster: disks, networks, processors and memory, and how long work
// takes with the resources it gets.
//
// Work is a fluid. Each task is a sequence of stages. A stage needs a number of core-seconds, bytes of disk and bytes
// of network, and advances at one rate that all of them limit together. The stages on a node share it max-min fairly
// (share.go). Rates change only when the set of running stages does, and so every end is known exactly, to the
// nanosecond. DESIGN.md says where the model approximates.
//
// The package knows nothing of scheduling: no queue, no policy, no ask. It is told what runs where and reports when it
// ends.
package world
