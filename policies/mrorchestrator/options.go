package mrorchestrator

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

// Options are the manager's; the defaults are the paper's where it names a figure.
type Options struct {
	// Epoch is how often allocations are decided, in seconds (IV-D: 20).
	Epoch float64 `yaml:"epoch"`
	// Profile is how often use is measured, in seconds (IV-D: 5); it is the length of a window too.
	Profile float64 `yaml:"profile"`
	// Mode is what is controlled: cpu, memory or both.
	Mode string `yaml:"mode"`

	// Deficit and Hogging bound what is like one's peers: a use below Deficit or above Hogging times the
	// mean of the others. The paper has an example only: 25 % among tasks of 60 %.
	Deficit float64 `yaml:"deficit"`
	Hogging float64 `yaml:"hogging"`
	// Straggler is by what part a rate of progress must be below the mean of the peers: Hadoop 0.20's 0.2,
	// which it applies to progress scores.
	Straggler float64 `yaml:"straggler"`
	// Pressed is the part of an allocation, or of a node, whose use counts as all of it. Of processors the
	// allocation is what a task's weight alone would give it on its node.
	Pressed float64 `yaml:"pressed"`
	// PeersOnly leaves detection to peers and stragglers, the two rules the paper gives in words. They say
	// nothing of a job whose tasks are all short of the same; without it a task that uses all of its
	// memory is deficit too, whatever its peers use.
	PeersOnly bool `yaml:"peers_only"`
	// Causes has stragglers treated only where contention is the cause. Without it every straggler, and
	// every task whose use is far below its peers', counts as deficit of both resources.
	Causes bool `yaml:"causes"`

	// Scope says for whom Algorithm 1 runs: flagged, the tasks the detector named (III, step 3), or all
	// running tasks (the algorithm as printed).
	Scope string `yaml:"scope"`
	// LowerCPU and LowerMemory say whose allocation is lowered to its estimate, and when: always, everybody's
	// (Alg. 1, line 5); needed, everybody's where a task on the same node is to be raised; hogging, only that
	// of hogging tasks, where needed. Memory nobody uses can be given to others, but a limit below what a heap
	// grows to makes its task swap; processors nobody uses are used by others anyhow.
	LowerCPU    string `yaml:"lower_cpu"`
	LowerMemory string `yaml:"lower_memory"`
	// Quota also bounds the processor time of hogging tasks, to their estimates, where a task on the same node is to be
	// raised. The paper has shares alone.
	Quota bool `yaml:"quota"`
	// Room is the part of its use that a task's memory is left above it at least: a limit below what a process holds
	// stalls it.
	Room float64 `yaml:"room"`
	// InStep has only taken what the peers on other nodes can be given too.
	InStep bool `yaml:"in_step"`
	// Recent is the part of the windows of memory that is regressed over at most (III-B-1: 0.1).
	Recent float64 `yaml:"recent"`
	// Alpha bounds the resource scaling factor to 1/Alpha … Alpha, and by how much a weight changes in an epoch; the
	// paper gives no bound, but a task whose target is past has none either.
	Alpha float64 `yaml:"alpha"`
	// Tolerance is the part of an allocation below which a change is left.
	Tolerance float64 `yaml:"tolerance"`
}

// The modes, scopes and occasions of [Options].
const (
	modeCPU    = "cpu"
	modeMemory = "memory"
	modeBoth   = "both"

	scopeFlagged = "flagged"
	scopeAll     = "all"

	lowerAlways  = "always"
	lowerNeeded  = "needed"
	lowerHogging = "hogging"
)

// Default is the paper's set-up, but for what is lowered.
var Default = Options{
	Epoch: 20, Profile: 5, Mode: modeBoth,
	Deficit: 0.5, Hogging: 1.5, Straggler: 0.2, Pressed: 0.95, Causes: true,
	Scope: scopeAll, LowerCPU: lowerHogging, LowerMemory: lowerNeeded, Room: 0.2, InStep: true, Recent: 0.1, Alpha: 2, Tolerance: 0.05,
}

// check says which option is out of its range, and what the range is.
func (o *Options) check() error {
	for _, f := range []struct {
		name          string
		of, low, high float64
	}{
		{"epoch", o.Epoch, 0.1, 86400},
		{"profile", o.Profile, 0.1, 86400},
		{"deficit", o.Deficit, 0, 1},
		{"hogging", o.Hogging, 1, 1e6},
		{"straggler", o.Straggler, 0, 1},
		{"pressed", o.Pressed, 0.01, 1},
		{"room", o.Room, 0, 10},
		{"recent", o.Recent, 0, 1},
		{"alpha", o.Alpha, 1, 1e6},
		{"tolerance", o.Tolerance, 0, 1},
	} {
		if !(f.of >= f.low && f.of <= f.high) {
			return errors.New("mrorchestrator: " + f.name + " must be between " + number(f.low) + " and " + number(f.high) + ", not " + number(f.of))
		}
	}
	for _, f := range []struct {
		name, of string
		want     []string
	}{
		{"mode", o.Mode, []string{modeCPU, modeMemory, modeBoth}},
		{"scope", o.Scope, []string{scopeFlagged, scopeAll}},
		{"lower_cpu", o.LowerCPU, []string{lowerAlways, lowerNeeded, lowerHogging}},
		{"lower_memory", o.LowerMemory, []string{lowerAlways, lowerNeeded, lowerHogging}},
	} {
		if !slices.Contains(f.want, f.of) {
			return errors.New("mrorchestrator: " + f.name + " must be one of " + strings.Join(f.want, ", ") + ", not " + strconv.Quote(f.of))
		}
	}
	return nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// controls reports whether a resource is controlled.
func (o *Options) controls(d heddle.Dim) bool {
	return o.Mode == modeBoth || o.Mode == modeCPU && d == heddle.CPU || o.Mode == modeMemory && d == heddle.Memory
}
