// Package api defines the messages between a node agent and the ResourceManager: an agent posts a [Sync] to [Path] and
// gets a [Wish] in return, as JSON. The answer is delayed until there is another wish or the next request is due, unless
// the node is unknown. A wish is complete: containers that it does not name have the defaults. So a lost, late or
// repeated message does no harm. Each side ignores fields that it does not know.
package api

import (
	"fmt"
	"math"
)

// Path is where the ResourceManager answers agents.
const Path = "/heddle/v1/node/sync"

// A Sync is an agent's report on its node.
type Sync struct {
	Node    string   `json:"node"`    // host:port of its NodeManager
	Agent   string   `json:"agent"`   // different after each start of the agent
	Version string   `json:"version"` // of Heddle
	Can     []string `json:"can"`     // what it can do to containers, by the names of heddle.Caps
	Applied uint64   `json:"applied"` // the version of the wish that it has carried out; 0 for none
	// Containers are those that it has found under its NodeManager.
	Containers []Container `json:"containers"`
	// Failed lists the wants of the wish Applied that it could not carry out.
	Failed []Failure `json:"failed"`
	// Outputs are the map outputs on the node of the applications in [Wish.Outputs], in turn if they are too many for one
	// report, and Heaps the heaps of the containers in [Wish.Heaps].
	Outputs []Output `json:"outputs,omitempty"`
	Heaps   []Heap   `json:"heaps,omitempty"`
	// DiskBusy is for how many milliseconds the disks under the NodeManager's local directories were busy since the
	// machine started, as the mean over those disks; 0 if not asked for or not known.
	DiskBusy int64 `json:"disk_busy_ms,omitempty"`
}

// An Output is the output of a map, as reduces copy it.
type Output struct {
	Attempt string `json:"attempt"` // attempt_…_m_…
	Bytes   int64  `json:"bytes"`   // of all partitions
}

// A Heap is the memory of a container's Java process, in MiB.
type Heap struct {
	ID   string `json:"id"`
	Live int64  `json:"live_mib"` // of its heap: what has been in use for longer
	Used int64  `json:"used_mib"` // of its heap
	RSS  int64  `json:"rss_mib"`  // memory of all of the container's processes
}

// A Container is what an agent has found and measured of one container.
type Container struct {
	ID   string `json:"id"`             // container_…
	Task string `json:"task,omitempty"` // attempt_… or executor_…, if its arguments name it
	// CPU is the processor time of its processes since it was found, in milliseconds, and RSS the memory that they
	// hold, in MiB; both 0 if not asked for.
	CPU int64 `json:"cpu_ms"`
	RSS int64 `json:"rss_mib"`
	// What it has at the moment, if that is not the default.
	Parked bool  `json:"parked,omitempty"`
	Weight int64 `json:"weight,omitempty"` // 0 for the default
	Frozen bool  `json:"frozen,omitempty"`
}

// A Failure says which want for a container could not be carried out, and why.
type Failure struct {
	ID    string   `json:"id"`
	Error string   `json:"error"`
	Lacks []string `json:"lacks,omitempty"` // what could not be done, by the names of heddle.Caps
	// Missing says that the container has not been found: this says nothing of others, and may change.
	Missing bool `json:"missing,omitempty"`
}

// A Wish is what the ResourceManager wants of a node.
type Wish struct {
	Version uint64 `json:"version"`  // never the same for two wishes
	Every   int64  `json:"every_ms"` // the next request is due by then
	Lease   int64  `json:"lease_ms"` // everything has the defaults again so long after the request, unless another answer has come
	// Unknown says that the NodeManager has not registered: the answer was not delayed, and the next request is to wait
	// until it is due.
	Unknown bool   `json:"unknown,omitempty"`
	Want    []Want `json:"want"`
	Measure bool   `json:"measure"` // whether CPU and RSS are asked for
	// Outputs are the applications whose map outputs are asked for, and Heaps the containers whose heaps are.
	Outputs []App    `json:"outputs_of,omitempty"`
	Heaps   []string `json:"heaps_of,omitempty"`
	Disks   bool     `json:"disks,omitempty"` // whether disk busy time is asked for
}

// An App is an application that has run something on the node.
type App struct {
	ID   string `json:"id"`   // application_…
	User string `json:"user"` // who submitted it: its files are in a folder of that name
}

// A Want is how a container is to differ from the defaults.
type Want struct {
	ID     string `json:"id"`
	Park   bool   `json:"park"`   // it gets only what nobody else on the node wants
	Weight int64  `json:"weight"` // its share of busy processors, in hundredths of a virtual core; 0 for the default
	// Freeze is for how many milliseconds, counted from the answer, it does not run at all: what is left of a freeze
	// that was sent before. It is not frozen again until a wish without a freeze has come. 0 means no freeze.
	Freeze int64 `json:"freeze_ms"`
	Quota  int64 `json:"quota"`    // the most processor time, in thousandths of a core; 0 for no bound
	High   int64 `json:"high_mib"` // the memory above which its caches are written back and dropped; 0 for no bound
}

// Bounds that each side checks in what the other sends.
const (
	MaxContainers = 10_000
	MaxOutputs    = 20_000
	MaxID         = 128 // bytes
	MaxError      = 512
	MaxWeight     = 10_000 * 100
	MaxFreeze     = 255_000 // milliseconds: below every timeout of a reduce that copies
	MinQuota      = 50
	MaxQuota      = 10_000 * 1000
	MaxDiskBusy   = 1 << 40 // milliseconds
	// DefaultWeight is the weight of a container of one virtual core.
	DefaultWeight = 100
)

// Check returns what is wrong with a request.
func (s *Sync) Check() error {
	switch {
	case s.Node == "" || len(s.Node) > MaxID*3:
		return fmt.Errorf("node: want host:port of the NodeManager, got %d bytes", len(s.Node))
	case s.Agent == "" || len(s.Agent) > MaxID:
		return fmt.Errorf("agent: want a name of 1 to %d bytes, got %d", MaxID, len(s.Agent))
	case len(s.Version) > MaxID:
		return fmt.Errorf("version: want at most %d bytes, got %d", MaxID, len(s.Version))
	case len(s.Can) > MaxID:
		return fmt.Errorf("can: want at most %d names, got %d", MaxID, len(s.Can))
	case len(s.Containers) > MaxContainers || len(s.Failed) > MaxContainers:
		return fmt.Errorf("containers: want at most %d, got %d and %d that failed", MaxContainers, len(s.Containers), len(s.Failed))
	case s.DiskBusy < 0 || s.DiskBusy > MaxDiskBusy:
		return fmt.Errorf("disk_busy_ms: want 0 to %d, got %d", int64(MaxDiskBusy), s.DiskBusy)
	}
	for i := range s.Containers {
		c := &s.Containers[i]
		if len(c.ID) > MaxID || c.CPU < 0 || c.RSS < 0 || c.CPU > math.MaxInt64/2 || c.RSS > math.MaxInt32 {
			return fmt.Errorf("containers[%d]: want an id of at most %d bytes and figures from 0 up, got %.40q, %d ms and %d MiB", i, MaxID, c.ID, c.CPU, c.RSS)
		}
		if len(c.Task) > MaxID {
			return fmt.Errorf("containers[%d].task: want at most %d bytes, got %d", i, MaxID, len(c.Task))
		}
	}
	if len(s.Outputs) > MaxOutputs || len(s.Heaps) > MaxContainers {
		return fmt.Errorf("outputs: want at most %d and %d heaps, got %d and %d", MaxOutputs, MaxContainers, len(s.Outputs), len(s.Heaps))
	}
	for i, o := range s.Outputs {
		if len(o.Attempt) > MaxID || o.Bytes < 0 {
			return fmt.Errorf("outputs[%d]: want an attempt of at most %d bytes and a size from 0 up, got %.40q and %d", i, MaxID, o.Attempt, o.Bytes)
		}
	}
	for i, h := range s.Heaps {
		if len(h.ID) > MaxID || min(h.Live, h.Used, h.RSS) < 0 || max(h.Live, h.Used, h.RSS) > math.MaxInt32 {
			return fmt.Errorf("heaps[%d]: want an id of at most %d bytes and sizes from 0 up, got %.40q, %d, %d and %d", i, MaxID, h.ID, h.Live, h.Used, h.RSS)
		}
	}
	for i := range s.Failed {
		if f := &s.Failed[i]; len(f.ID) > MaxID || len(f.Error) > MaxError || len(f.Lacks) > MaxID {
			return fmt.Errorf("failed[%d]: want an id of at most %d bytes, an error of at most %d and at most %d names", i, MaxID, MaxError, MaxID)
		}
	}
	return nil
}

// Check returns what is wrong with an answer.
func (w *Wish) Check() error {
	switch {
	case w.Version == 0:
		return fmt.Errorf("version: want a number from 1 up, got 0")
	case w.Every < 1 || w.Every > 600_000:
		return fmt.Errorf("every_ms: want 1 to 600000, got %d", w.Every)
	case w.Lease < w.Every || w.Lease > 3_600_000:
		return fmt.Errorf("lease_ms: want %d to 3600000, got %d", w.Every, w.Lease)
	case len(w.Want) > MaxContainers:
		return fmt.Errorf("want: want at most %d containers, got %d", MaxContainers, len(w.Want))
	case len(w.Outputs) > MaxContainers || len(w.Heaps) > MaxContainers:
		return fmt.Errorf("outputs_of: want at most %d applications, and as many heaps, got %d and %d", MaxContainers, len(w.Outputs), len(w.Heaps))
	}
	for i, c := range w.Want {
		if c.ID == "" || len(c.ID) > MaxID {
			return fmt.Errorf("want[%d].id: want 1 to %d bytes, got %d", i, MaxID, len(c.ID))
		}
		if c.Weight < 0 || c.Weight > MaxWeight {
			return fmt.Errorf("want[%d].weight: want 0 to %d, got %d", i, MaxWeight, c.Weight)
		}
		if c.Freeze < 0 || c.Freeze > MaxFreeze {
			return fmt.Errorf("want[%d].freeze_ms: want 0 to %d, got %d", i, MaxFreeze, c.Freeze)
		}
		if c.Quota != 0 && (c.Quota < MinQuota || c.Quota > MaxQuota) {
			return fmt.Errorf("want[%d].quota: want 0 or %d to %d, got %d", i, MinQuota, MaxQuota, c.Quota)
		}
		if c.High < 0 || c.High > math.MaxInt32 {
			return fmt.Errorf("want[%d].high_mib: want 0 to %d, got %d", i, math.MaxInt32, c.High)
		}
	}
	return nil
}
