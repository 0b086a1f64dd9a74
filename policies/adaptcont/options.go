package adaptcont

import (
	"errors"
	"fmt"

	"heddle"
	"heddle/policy"
)

// Options are AdaptCont's. The defaults are the paper's figures (4.2).
type Options struct {
	// Queue is the discipline by which the scheduler serves jobs: fifo, fair or capacity. It determines how the queue's
	// waves are simulated and has no default.
	Queue string `yaml:"queue"`

	UnitWave   int   `yaml:"unit_wave"`   // Ω_min: workers that the smallest master can manage at once; 100
	UnitMemory int64 `yaml:"unit_memory"` // MiB of the smallest master; 256

	// UnitTasks is how many tasks in all, at once or not, a master of UnitMemory can keep in memory; more count like
	// further waves. The paper sizes by the wave alone, which 0 stands for. The default, 5000, is what was measured to
	// fit into the 256 MiB of an MRAppMaster: 179 MiB without tasks, and 15.5 kB for each that has run. None of the
	// paper's jobs has half as many.
	UnitTasks int `yaml:"unit_tasks"`

	// Least is the least MiB of a master whose Java heap is cut to fit its container, as on real clusters, as long as
	// its need has not been measured; 384. Of that 208 are heap, which is more than 5000 tasks were measured to take.
	Least int64 `yaml:"least"`

	Container Container `yaml:"container"` // of a worker; 1024 MiB and 1 vcore
	PerNode   int       `yaml:"per_node"`  // most workers on a node, if lanes bound them; 0 = what fits
	Users     int       `yaml:"users"`     // among whom a fair queue is divided; 0 = its leaf queues, or the jobs of known size if there is one leaf
	Limit     int       `yaml:"limit"`     // workers a user may have at once; 0 = no limit
	SplitSize int64     `yaml:"split"`     // MiB of input per map, if a job does not say how many maps it has; 64

	// Predict simulates the queue's waves. Without it the wave is the largest that could ever be: all of a job's maps,
	// as far as there are containers.
	Predict bool `yaml:"predict"`

	// Feedback decides again when a constraint changes: nodes come or go, jobs come or end.
	Feedback bool `yaml:"feedback"`
	// Shrink lets feedback also make running masters smaller if a planned wave will not come, but never smaller than
	// the largest wave so far needs. Their memory is a Java heap that keeps the size it was started with, so the
	// default is no.
	Shrink bool    `yaml:"shrink"`
	Every  float64 `yaml:"every"` // seconds between checks of running masters; 1

	Pool      []Predefined `yaml:"pool"`      // from small to big; small 512/1/250, medium 1024/2/500, big 2048/4
	Threshold int64        `yaml:"threshold"` // MiB: a predefined master that differs by less is used; 512
}

// A Container is a size in a profile.
type Container struct {
	Memory int64 `yaml:"memory"` // MiB
	Vcores int64 `yaml:"vcores"`
}

func (c Container) resource() heddle.Resource { return heddle.Of(c.Memory, c.Vcores*1000) }

// A Predefined is one master of the pool.
type Predefined struct {
	Memory int64 `yaml:"memory"` // MiB
	Vcores int64 `yaml:"vcores"`
	Serves int   `yaml:"serves"` // the largest wave it is meant for; 0 = any
}

// Default is the paper's set-up.
var Default = Options{
	UnitWave: 100, UnitMemory: 256, UnitTasks: 5000, Least: 384, Container: Container{Memory: 1024, Vcores: 1},
	SplitSize: 64, Predict: true, Feedback: true, Every: 1, Threshold: 512,
	Pool: []Predefined{{Memory: 512, Vcores: 1, Serves: 250}, {Memory: 1024, Vcores: 2, Serves: 500}, {Memory: 2048, Vcores: 4}},
}

func (o *Options) check() error {
	if o.Queue != fifoQueue && o.Queue != fairQueue && o.Queue != capacityQueue {
		return fmt.Errorf("adaptcont: queue %q: say by which discipline jobs are served: fifo, fair or capacity", o.Queue)
	}
	for _, n := range []struct {
		key   string
		value int64
		least int64
	}{
		{"unit_wave", int64(o.UnitWave), 1},
		{"unit_memory", o.UnitMemory, 1},
		{"unit_tasks", int64(o.UnitTasks), 0},
		{"least", o.Least, 1},
		{"container.memory", o.Container.Memory, 1},
		{"container.vcores", o.Container.Vcores, 1},
		{"per_node", int64(o.PerNode), 0},
		{"users", int64(o.Users), 0},
		{"limit", int64(o.Limit), 0},
		{"split", o.SplitSize, 1},
		{"threshold", o.Threshold, 0},
	} {
		if n.value < n.least || n.value > most {
			return fmt.Errorf("adaptcont: %s: %d: want a number from %d to %d", n.key, n.value, n.least, most)
		}
	}
	if !(o.Every > 0 && o.Every <= most) {
		return fmt.Errorf("adaptcont: every: want seconds above 0 and at most %d", most)
	}
	return checkPool(o.Pool)
}

// most limits every number of the options, so that no product of two of them overflows.
const most = 1 << 30

func checkPool(pool []Predefined) error {
	if len(pool) == 0 {
		return errors.New("adaptcont: pool: want one master at least")
	}
	for i, p := range pool {
		last := i == len(pool)-1
		switch {
		case p.Memory < 1 || p.Memory > most || p.Vcores < 1 || p.Vcores > most || p.Serves < 0 || p.Serves > most:
			return fmt.Errorf("adaptcont: pool[%d]: want memory (MiB) and vcores from 1 to %d, and serves from 0", i, most)
		case p.Serves == 0 && !last:
			return fmt.Errorf("adaptcont: pool[%d]: serves: only the last may serve any wave", i)
		case i > 0 && (p.Memory <= pool[i-1].Memory || p.Serves > 0 && p.Serves <= pool[i-1].Serves):
			return fmt.Errorf("adaptcont: pool[%d]: want more memory, and a larger wave served, than pool[%d]", i, i-1)
		}
	}
	return nil
}

// NewDynamic returns Dynamic AdaptCont, which makes every master as large as it needs to be.
func NewDynamic(a policy.Args) (policy.Size, error) { return fromArgs(a, false) }

// NewPool returns Pool AdaptCont, which uses masters of a few predefined sizes.
func NewPool(a policy.Args) (policy.Size, error) { return fromArgs(a, true) }

func fromArgs(a policy.Args, pool bool) (policy.Size, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Sizer{o: o, pool: pool}, nil
}
