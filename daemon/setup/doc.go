// Package setup turns a Hadoop configuration folder, heddle.yaml and flags into the inputs of package daemon: its
// settings, its scheduler, and a function that reads everything again.
//
// It knows YARN's properties through package conf, and policies by name. It opens no port and no store, and knows
// nothing about what runs.
package setup
