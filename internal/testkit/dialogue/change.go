package dialogue

import "heddle"

// found adds a running container that a node reports: found j1 n1 map size=1g,1c p=20 id=0 ref=3.
func (s *session) found(names []string, o map[string]string) error {
	if err := want(names, 3, "an application, a node and a kind"); err != nil {
		return err
	}
	a, err := s.app(names[:1])
	if err != nil {
		return err
	}
	n, err := s.nodes.known(names[1], "node")
	if err != nil {
		return err
	}
	kind, err := kindOf(names[2])
	if err != nil {
		return err
	}
	size, err := parseSize(orText(o["size"], "1g,1c"))
	if err != nil {
		return err
	}
	priority := "20"
	if kind == heddle.AM {
		priority = "0"
	}
	return s.step(heddle.Found{
		App: a, Node: heddle.NodeID(n), Kind: kind, Priority: int32(number(orText(o["p"], priority))), AllocID: number(o["id"]),
		Size: size, Ref: number(o["ref"]),
	}, "")
}

func (s *session) move(names []string, o map[string]string) error {
	a, err := s.app(names)
	if err != nil {
		return err
	}
	return s.step(heddle.Move{App: a, Queue: s.queue(o["queue"])}, "")
}

// priority sets an application's priority: priority j1 to=3.
func (s *session) priority(names []string, o map[string]string) error {
	a, err := s.app(names)
	if err != nil {
		return err
	}
	return s.step(heddle.Reprioritise{App: a, Priority: int32(number(o["to"]))}, "")
}

func (s *session) offer(names []string, _ map[string]string) error {
	a, err := s.app(names)
	if err != nil {
		return err
	}
	return s.step(heddle.Offer{App: a}, "")
}

// resizeNode changes the total of a node that is up.
func (s *session) resizeNode(names []string, o map[string]string) error {
	if err := want(names, 1, "a node"); err != nil {
		return err
	}
	id, err := s.nodes.known(names[0], "node")
	if err != nil {
		return err
	}
	size, err := parseSize(o["size"])
	if err != nil {
		return err
	}
	return s.step(heddle.NodeResized{Node: heddle.NodeID(id), Total: size}, "")
}
