package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"heddle"
	"heddle/internal/plain"
	"heddle/workload"
)

// Read reads a scenario file and the trace it names. If something is wrong with the file, the error is an [*Error] with
// line and column; if something is wrong with the trace, the error names the trace.
func Read(path string) (*Scenario, error) { return ReadWith(path, workload.Options{}) }

// ReadWith is like Read, with options for the trace. The file's format and block size take precedence over theirs.
func ReadWith(path string, o workload.Options) (*Scenario, error) {
	data, err := plain.ReadFile(path, maxFileBytes)
	if err != nil {
		return nil, err
	}
	return parseFile(path, data, o)
}

// Parse reads the text of a scenario. Errors name path, and a trace is looked up relative to the folder of path.
func Parse(path string, data []byte) (*Scenario, error) {
	return parseFile(path, data, workload.Options{})
}

func parseFile(path string, data []byte, o workload.Options) (*Scenario, error) {
	s, err := read(path, data, o)
	var own *Error
	if errors.As(err, &own) && own.Path == "" {
		own.Path = path
	}
	return s, err
}

// IsScenario reports whether a file is meant to be one: its name ends in .yaml or .yml.
func IsScenario(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}

func read(path string, data []byte, o workload.Options) (*Scenario, error) {
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	var raw rawScenario
	if err := decode(doc, &raw); err != nil {
		return nil, err
	}
	s := &Scenario{
		Path: path, Name: raw.Name.value, About: raw.About.value, World: raw.World.value, Seeds: raw.Seeds.value,
		Effects: raw.Effects.effects(), faults: raw.Faults, jobs: raw.Workload.Jobs, factor: 1,
		effectsSet: raw.Effects.position != (position{}),
	}
	if s.Name == "" {
		s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if w := raw.World; !slices.Contains([]string{"", "full", "given"}, w.value) {
		return nil, w.errorf("%s: wanted full or given", clip(w.value))
	}
	if raw.Seeds.set && s.Seeds == 0 {
		return nil, raw.Seeds.errorf("0: wanted 1 seed or more")
	}
	if err := s.cluster(&raw); err != nil {
		return nil, err
	}
	if s.Queues, err = queues(raw.Queues); err != nil {
		return nil, err
	}
	if err := s.profile(&raw.Profile); err != nil {
		return nil, err
	}
	if err := s.readWorkload(&raw, o); err != nil {
		return nil, err
	}
	return s, s.check()
}

// profile keeps what the file has under profile, and where.
func (s *Scenario) profile(r *rawProfile) error {
	switch r.node.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.StringNode, *ast.MappingNode, *ast.MappingValueNode:
	default:
		return r.errorf("profile: wanted a name or a mapping")
	}
	if err := yaml.NodeToValue(r.node, &s.Profile); err != nil {
		return yamlError(err)
	}
	s.ProfileNode = r.node
	return nil
}

func (s *Scenario) readWorkload(raw *rawScenario, o workload.Options) error {
	w := &raw.Workload
	if w.Trace.value == "" {
		for _, alone := range []struct {
			position
			key string
			set bool
		}{
			{w.Format.position, "format", w.Format.value != ""}, {w.Block.position, "block", w.Block.set}, {w.Gaps.position, "gaps", w.Gaps.set},
		} {
			if alone.set {
				return alone.errorf("%s without trace", alone.key)
			}
		}
		if len(w.Jobs) == 0 {
			at := w.position
			if at == (position{}) {
				at = raw.position
			}
			return at.errorf("workload: wanted trace, jobs or both")
		}
		return nil
	}
	if w.Format.value != "" {
		o.Format = w.Format.value
	}
	if w.Block.set {
		if o.BlockSize = w.Block.bytes; o.BlockSize == 0 {
			return w.Block.errorf("0: wanted a block of 1 byte or more")
		}
	}
	if w.Gaps.set {
		s.factor = w.Gaps.value
	}
	path := w.Trace.value
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(s.Path), path)
	}
	var err error
	if s.trace, err = workload.Read(path, o); err != nil {
		at := w.Trace.position
		return fmt.Errorf("%s:%d:%d: trace: %w", s.Path, at.line, at.column, err)
	}
	return nil
}

// MaxNodes is the maximum number of nodes in a cluster.
const MaxNodes = workload.MaxNodes

func (s *Scenario) cluster(raw *rawScenario) error {
	c := &raw.Cluster
	if len(c.Nodes) == 0 {
		at := c.position
		if at == (position{}) {
			at = raw.position
		}
		return at.errorf("cluster: wanted nodes: a list with one group of count, memory and vcores at least")
	}
	s.Uplink = c.Uplink.bps
	var racks []string
	for i := range c.Racks.or(1) {
		racks = append(racks, fmt.Sprintf("/rack%d", i))
	}
	if len(racks) == 0 {
		return c.Racks.errorf("0: wanted 1 rack or more")
	}
	names := map[string]bool{}
	dealt := 0 // nodes dealt to the cluster's racks so far, counted across groups
	for i := range c.Nodes {
		g, err := c.Nodes[i].group()
		if err != nil {
			return err
		}
		if g.Name != "" && names[g.Name] {
			return c.Nodes[i].Name.errorf("%s: two groups have this name", clip(g.Name))
		}
		names[g.Name] = true
		if len(s.nodes)+g.Count > MaxNodes {
			return c.Nodes[i].Count.errorf("more than %d nodes", MaxNodes)
		}
		shared := len(g.Racks) == 0
		if shared {
			for k := range racks {
				g.Racks = append(g.Racks, racks[(dealt+k)%len(racks)])
			}
			dealt += g.Count
		}
		s.Cluster = append(s.Cluster, g)
		for k := range g.Count {
			s.nodes = append(s.nodes, Node{Name: fmt.Sprintf("n%d", len(s.nodes)+1), Rack: g.Racks[k%len(g.Racks)], Group: i})
		}
	}
	s.indexes = make(map[string]int, len(s.nodes))
	for i, n := range s.nodes {
		s.indexes[n.Name] = i
	}
	return nil
}

func (r *rawNodes) group() (g NodeGroup, err error) {
	g = NodeGroup{
		Name: r.Name.value, Count: r.Count.or(1), Size: heddle.Of(r.Memory.mib, int64(r.Vcores.value)*1000),
		Cores: r.Cores.value, RAM: r.RAM.mib, Disk: r.Disk.bps, Seek: r.Seek.value, Run: r.Run.bytes, NIC: r.NIC.bps, Speed: r.Speed.value,
	}
	switch {
	case g.Count == 0:
		return g, r.Count.errorf("0: wanted 1 node or more")
	case r.Memory.mib == 0:
		return g, r.errorf("a group of nodes states no memory: wanted memory: 8GiB or the like")
	case r.Vcores.value == 0:
		return g, r.errorf("a group of nodes states no vcores: wanted vcores: 8 or the like")
	case r.Cores.set && g.Cores == 0:
		return g, r.Cores.errorf("0: wanted the number of physical cores")
	case r.RAM.set && g.RAM < g.Size[heddle.Memory]:
		return g, r.RAM.errorf("%d MiB: wanted at least the memory that the node offers, %d MiB", g.RAM, g.Size[heddle.Memory])
	case r.Speed.set && g.Speed == 0:
		return g, r.Speed.errorf("0: wanted a speed above 0; 1 is the reference core's")
	case r.Rack.value != "" && len(r.Racks) > 0:
		return g, r.Rack.errorf("rack and racks: wanted only one of them")
	}
	if r.Rack.value != "" {
		r.Racks = []text{r.Rack}
	}
	for _, name := range r.Racks {
		trimmed := strings.Trim(name.value, "/")
		if trimmed == "" {
			return g, name.errorf("a rack without a name")
		}
		g.Racks = append(g.Racks, "/"+trimmed)
	}
	return g, nil
}

func (r *rawEffects) effects() Effects {
	on := func(f flag) bool { return !f.set || f.value }
	return Effects{
		Locality: on(r.Locality), Contention: on(r.Contention), Skew: on(r.Skew), Noise: on(r.Noise), Memory: on(r.Memory),
		LaunchDelay: on(r.LaunchDelay), SlowNodes: on(r.SlowNodes), MemoryKill: r.MemoryKill.value, PageCache: r.PageCache.value,
	}
}
