package mrorchestrator

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

// Options are the manager's options; the defaults are the paper's where it gives a figure.
type Options struct {
	// Epoch is how often allocations are decided, in seconds (IV-D: 20).
	Epoch float64 `yaml:"epoch"`
	// Profile is how often use is measured, in seconds (IV-D: 5); it is also the length of a window.
	Profile float64 `yaml:"profile"`
	// Mode is what is controlled: cpu, memory or both.
	Mode string `yaml:"mode"`

	// Deficit and Hogging limit what counts as like the peers: a task is not, if its use is below Deficit or above
	// Hogging times the mean of the others. The paper has only an example: 25 % among tasks of 60 %.
	Deficit float64 `yaml:"deficit"`
	Hogging float64 `yaml:"hogging"`
	// Straggler is the part by which a straggler's rate of progress is below the mean of the peers: Hadoop 0.20's 0.2,
	// which it applies to progress scores.
	Straggler float64 `yaml:"straggler"`
	// Pressed is the part of an allocation, or of a node, whose use counts as use of all of it. For processors, the
	// allocation is what a task's weight alone would give it on its node.
	Pressed float64 `yaml:"pressed"`
	// PeersOnly limits detection to peers and stragglers, the two rules that the paper gives in words. They do not
	// cover a job whose tasks all lack the same resource. Without PeersOnly, a task that uses all of its memory is in
	// deficit too, whatever its peers use.
	PeersOnly bool `yaml:"peers_only"`
	// Causes treats stragglers only if contention is the cause. Without it, every straggler, and every task whose use
	// is far below its peers', counts as in deficit of both resources.
	Causes bool `yaml:"causes"`

	// Scope says for which tasks Algorithm 1 runs: flagged, those that the detector named (III, step 3), or all, all
	// running tasks (the algorithm as printed).
	Scope string `yaml:"scope"`
	// LowerCPU and LowerMemory say which allocations are lowered to their estimates, and when: always, those of all
	// tasks (Alg. 1, line 5); needed, those of all tasks if a task on the same node is to be raised; hogging, only
	// those of hogging tasks, if needed. Unused memory can be given to other tasks, but a limit below what a heap grows
	// to makes its task swap; unused processors are used by other tasks in any case.
	LowerCPU    string `yaml:"lower_cpu"`
	LowerMemory string `yaml:"lower_memory"`
	// Quota also bounds the processor time of hogging tasks to their estimates, if a task on the same node is to be
	// raised. The paper has only shares.
	Quota bool `yaml:"quota"`
	// Room is the part of its use that a task's memory keeps at least above the use: a limit below what a process holds
	// stalls it.
	Room float64 `yaml:"room"`
	// InStep takes only as much as the peers on other nodes can be given too.
	InStep bool `yaml:"in_step"`
	// Recent is the largest part of the memory windows that the regression uses (III-B-1: 0.1).
	Recent float64 `yaml:"recent"`
	// Alpha bounds the resource scaling factor to 1/Alpha … Alpha, and the change of a weight in an epoch. The paper
	// gives no bound, but without one the factor of a task whose target is past has none either.
	Alpha float64 `yaml:"alpha"`
	// Tolerance is the part of an allocation below which a change is not made.
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

// Default is the paper's set-up, except for what is lowered.
var Default = Options{
	Epoch: 20, Profile: 5, Mode: modeBoth,
	Deficit: 0.5, Hogging: 1.5, Straggler: 0.2, Pressed: 0.95, Causes: true,
	Scope: scopeAll, LowerCPU: lowerHogging, LowerMemory: lowerNeeded, Room: 0.2, InStep: true, Recent: 0.1, Alpha: 2, Tolerance: 0.05,
}

// check reports which option is out of its range, and what the range is.
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
