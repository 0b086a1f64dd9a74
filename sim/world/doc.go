// Package world is the physics of the simulated cluster: disks, networks, processors and memory, and
// how long work takes under what it got.
//
// Work is a fluid. Each task is a sequence of stages; a stage needs so many core-seconds, bytes of disk
// and bytes of network, and advances at one rate that all of them limit together. What runs on a node
// shares it max-min fairly (share.go), rates change only when the set of running stages does, and so
// every end is known exactly, to the nanosecond. DESIGN.md says where the model approximates.
//
// It knows nothing of scheduling: no queue, no policy, no ask. It is told what runs where and answers
// when it ends.
package world
