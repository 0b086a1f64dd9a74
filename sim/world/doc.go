// Package world is the physics of the simulated cluster: disks, networks, processors and memory, and
// how long work takes under what it got.
//
// It knows nothing of scheduling: no queue, no policy, no ask.
package world
