package scenario

import (
	"math/rand/v2"
	"slices"
)

// defaultReplicas is HDFS's dfs.replication.
const defaultReplicas = 3

// blocks returns a function that places a job's next block of the given bytes; an empty block has no hosts. It places
// blocks as HDFS does for a client outside the cluster: the first replica on any node that holds data, the second on
// another rack, the third on the second's rack, others anywhere.
func (b *builder) blocks(entry, i int) func(bytes int64) []int32 {
	d := &b.s.jobs[entry].Data
	nodes := b.s.holders(d)
	replicas := min(d.Replicas.or(defaultReplicas), len(nodes))
	// The index separates the jobs of an entry; entries are few compared with its 32 bits.
	rng := stream(b.seed, streamBlocks, entry<<20|i)
	return func(bytes int64) []int32 {
		if bytes == 0 || replicas == 0 {
			return nil
		}
		b.placed = true
		return b.s.replicas(nodes, replicas, rng)
	}
}

// holders returns the nodes that hold a job's data: those of the named groups, or all.
func (s *Scenario) holders(d *rawData) []int32 {
	var out []int32
	for i, n := range s.nodes {
		if len(d.On) == 0 || slices.ContainsFunc(d.On, func(g text) bool { return g.value == s.Cluster[n.Group].Name }) {
			out = append(out, int32(i))
		}
	}
	return out
}

// replicas draws the nodes of one block.
func (s *Scenario) replicas(nodes []int32, n int, rng *rand.Rand) []int32 {
	out := make([]int32, 0, n)
	for len(out) < n {
		wanted := func(int32) bool { return true }
		switch len(out) {
		case 1:
			wanted = func(c int32) bool { return s.nodes[c].Rack != s.nodes[out[0]].Rack }
		case 2:
			wanted = func(c int32) bool { return s.nodes[c].Rack == s.nodes[out[1]].Rack }
		}
		out = append(out, draw(nodes, out, wanted, rng))
	}
	return out
}

// draw returns a node not taken yet, a wanted one if there is any. It first tries at random, which is usually enough on
// a large cluster, and then checks all nodes, starting from a random one.
func draw(nodes, taken []int32, wanted func(int32) bool, rng *rand.Rand) int32 {
	const tries = 16
	for range tries {
		if c := nodes[rng.IntN(len(nodes))]; wanted(c) && !slices.Contains(taken, c) {
			return c
		}
	}
	from, second := rng.IntN(len(nodes)), int32(-1)
	for i := range nodes {
		c := nodes[(from+i)%len(nodes)]
		if slices.Contains(taken, c) {
			continue
		}
		if wanted(c) {
			return c
		}
		if second < 0 {
			second = c
		}
	}
	return second
}
