// Package measure defines how a benchmark program passes its figures to the one that compares: as one line of JSON on
// standard output, with the peak memory of the process.
package measure

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// Figures are a program's results by name; the name ends in the unit.
type Figures map[string]float64

// PeakMemory is the name under which [Print] adds the process's peak memory.
const PeakMemory = "peak_rss_mib"

// Print writes the figures and the process's peak memory so far as one line.
func Print(f Figures) error {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return fmt.Errorf("read the peak of memory: %w", err)
	}
	f[PeakMemory] = float64(u.Maxrss) / 1024
	return json.NewEncoder(os.Stdout).Encode(f)
}

// Parse reads the last line of a program's output.
func Parse(out []byte) (Figures, error) {
	end := len(out)
	for end > 0 && out[end-1] == '\n' {
		end--
	}
	start := end
	for start > 0 && out[start-1] != '\n' {
		start--
	}
	var f Figures
	if err := json.Unmarshal(out[start:end], &f); err != nil {
		return nil, fmt.Errorf("the last line of output is %q, want figures as JSON: %w", out[start:end], err)
	}
	return f, nil
}

// A Shape is a cluster and what is asked of it.
type Shape struct {
	Name                      string
	Nodes, Asks, Queues, Apps int
}

// Shapes are the shapes at which schedulers are compared, smallest first.
var Shapes = []Shape{
	{"A", 1_000, 10_000, 10, 100},
	{"B", 5_000, 50_000, 10, 100},
	{"C", 10_000, 100_000, 10, 1_000},
}

// Crowd is the largest shape with five times the applications, all of which wait.
var Crowd = Shape{"D", 10_000, 100_000, 10, 5_000}

// Slots returns how many containers a node of the shape has room for: its part of what is asked for, and one more.
func (s Shape) Slots() int { return (s.Asks+s.Nodes-1)/s.Nodes + 1 }

// ShapeNamed returns the shape with a name, or an error that lists the names.
func ShapeNamed(name string) (Shape, error) {
	for _, s := range append(slices.Clip(Shapes), Crowd) {
		if s.Name == name {
			return s, nil
		}
	}
	return Shape{}, fmt.Errorf("no shape %q; want A, B, C or D", name)
}
