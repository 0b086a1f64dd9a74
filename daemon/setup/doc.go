// Package setup turns a Hadoop configuration folder, heddle.yaml and flags into what package daemon is made of:
// its settings, its scheduler, and a function that reads all of it again.
//
// It knows YARN's properties through package conf and policies by name. It opens no port and no store, and it
// knows nothing of what runs.
package setup
