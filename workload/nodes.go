package workload

import (
	"encoding/json"
	"fmt"
	"strings"

	"heddle"
)

// A Node is a machine in a list of nodes.
type Node struct {
	Name string
	Rack string          // with a leading slash; "" = not stated
	Size heddle.Resource // zero, or of one dimension 0 = not stated
}

// MaxNodes is the maximum number of nodes in a list.
const MaxNodes = 1 << 20

// ReadNodes reads a list of nodes: the Scheduler Load Simulator's JSON (one object per rack) or Rumen's topology (a
// tree whose leaves are hosts). Every defect is an error, a *[DefectError], because a cluster with a node left out is
// another cluster.
func ReadNodes(path string) ([]Node, error) {
	im := newImporter(Options{Strict: true})
	im.file = path
	var nodes []Node
	seen := map[string]bool{}
	add := func(n Node) *fault {
		switch {
		case n.Name == "":
			return faultf("node", "a node has no name")
		case seen[n.Name]:
			return faultf("node", "%q appears twice", n.Name)
		case len(nodes) == MaxNodes:
			return faultf("node", "more than %d nodes", MaxNodes)
		}
		seen[n.Name] = true
		nodes = append(nodes, n)
		return nil
	}
	err := im.eachObject(path, func(line int, object []byte) error {
		var f fields
		if err := json.Unmarshal(object, &f); err != nil {
			return im.defect(jsonFault(line, object, err))
		}
		var bad *fault
		switch {
		case f.has("nodes"):
			bad = slsRack(f, add)
		case f.has("children"):
			var root topology
			if err := json.Unmarshal(object, &root); err != nil {
				return im.defect(jsonFault(line, object, err))
			}
			bad = root.leaves("", add)
		default:
			bad = faultf("", `has neither "nodes" (load simulator) nor "children" (Rumen topology)`)
		}
		if bad != nil {
			return im.defect(line, bad)
		}
		return nil
	})
	if err == nil && len(nodes) == 0 {
		err = fmt.Errorf("%s: holds no node", path)
	}
	if err != nil {
		return nil, err
	}
	return nodes, nil
}

func slsRack(f fields, add func(Node) *fault) *fault {
	var entries []fields
	if err := json.Unmarshal(f["nodes"], &entries); err != nil {
		return faultf("nodes", "is not a list of nodes")
	}
	for i, e := range entries {
		mem, bad := e.number("memory-mb", 0, MaxMemory)
		if bad == nil {
			var vcores int64
			vcores, bad = e.number("vcores", 0, MaxVcores)
			if bad == nil {
				bad = add(Node{Name: e.text("node"), Rack: rackName(f.text("rack")), Size: heddle.Of(mem, vcores*1000)})
			}
		}
		if bad != nil {
			bad.field = fmt.Sprintf("nodes[%d].%s", i, bad.field)
			return bad
		}
	}
	return nil
}

// topology is a tree in Rumen's format: racks above hosts.
type topology struct {
	Name     string     `json:"name"`
	Children []topology `json:"children"`
}

func (t *topology) leaves(rack string, add func(Node) *fault) *fault {
	for i := range t.Children {
		c := &t.Children[i]
		var bad *fault
		if len(c.Children) == 0 {
			bad = add(Node{Name: strings.Trim(c.Name, "/"), Rack: rackName(rack)})
		} else {
			bad = c.leaves(rack+"/"+strings.Trim(c.Name, "/"), add)
		}
		if bad != nil {
			return bad
		}
	}
	return nil
}
