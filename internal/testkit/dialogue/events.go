package dialogue

import (
	"fmt"
	"strconv"
	"strings"

	"heddle"
	"heddle/cluster"
)

// verbs are the lines of an events block: the words after the verb are names, then key=value.
var verbs = map[string]func(*session, []string, map[string]string) error{
	"submit":   (*session).submit,
	"attempt":  (*session).attempt,
	"found":    (*session).found,
	"move":     (*session).move,
	"priority": (*session).priority,
	"offer":    (*session).offer,
	"total":    (*session).resizeNode,
	"ask":      (*session).ask,
	"beat":     (*session).beats,
	"run":      (*session).run,
	"wait":     (*session).wait,
	"start":    (*session).begin,
	"progress": (*session).progress,
	"usage":    (*session).usage,
	"disks":    (*session).disks,
	"output":   (*session).output,
	"exit":     (*session).exit,
	"refused":  (*session).notResized,
	"release":  (*session).release,
	"acquire":  (*session).acquire,
	"exclude":  (*session).exclude,
	"done":     (*session).done,
	"down":     (*session).down,
	"up":       (*session).up,
	"suspend":  (*session).suspend,
	"resume":   (*session).resume,
	"resize":   (*session).resize,
	"weigh":    (*session).weigh,
	"kill":     (*session).kill,
	"wake":     (*session).wake,
}

func (s *session) event(words []string) error {
	f, ok := verbs[words[0]]
	if !ok {
		return fmt.Errorf("no event %q", words[0])
	}
	if err := s.start(); err != nil {
		return err
	}
	var names []string
	options := map[string]string{}
	for _, w := range words[1:] {
		if k, v, ok := strings.Cut(w, "="); ok {
			options[k] = v
		} else {
			names = append(names, w)
		}
	}
	return f(s, names, options)
}

// step gives the core an event and prints its answer; after it, the core's checks must find nothing broken.
func (s *session) step(ev heddle.Event, where string) error {
	decisions := s.core.Step(s.now, ev)
	for _, d := range decisions {
		s.print(d)
	}
	s.printRefusals(where)
	if broken := s.core.Check(); len(broken) > 0 {
		return fmt.Errorf("after %T: %s", ev, strings.Join(broken, "; "))
	}
	return nil
}

func (s *session) submit(names []string, o map[string]string) error {
	if err := want(names, 1, "a new application"); err != nil {
		return err
	}
	e := heddle.Submit{App: heddle.AppID(s.apps.id(names[0])), Queue: heddle.NoQueue}
	e.Queue = s.queue(orText(o["queue"], "root.default"))
	e.User = s.user(orText(o["user"], "ann"))
	e.Framework = map[string]heddle.Framework{"mapreduce": heddle.MapReduce, "spark": heddle.Spark}[o["type"]]
	e.Priority = int32(number(o["priority"]))
	e.Facts.Maps, e.Facts.Reduces = int32(number(o["maps"])), int32(number(o["reduces"]))
	var err error
	if e.Master, err = masterSize(o["am"]); err != nil {
		return err
	}
	if e.Facts.Demand, err = parseDemand(o["demand"]); err != nil {
		return err
	}
	last, err := parseDemand(o["last"])
	if err != nil {
		return err
	}
	e.Facts.Last = heddle.LastRun{First: last.Total(), Most: last.Total(), Containers: last.Containers}
	e.Facts.Name = o["name"]
	e.Past.Lost = o["past"] == "lost"
	return s.step(e, "")
}

// parseDemand reads a number of containers and their size, such as 6x1g,1c.
func parseDemand(text string) (d heddle.Demand, err error) {
	n, each, ok := strings.Cut(text, "x")
	if !ok {
		return d, nil
	}
	d.Containers = int32(number(n))
	d.Each, err = parseSize(each)
	return d, err
}

// masterSize reads the size of a master; none means a master that nobody asks a container for.
func masterSize(text string) (heddle.Resource, error) {
	if text == "none" {
		return heddle.Resource{}, nil
	}
	return parseSize(orText(text, "1g,1c"))
}

// queue returns the queue of a path, or NoQueue if there is none.
func (s *session) queue(path string) heddle.QueueID {
	for i, p := range s.built.Paths {
		if p == path {
			return heddle.QueueID(i)
		}
	}
	return heddle.NoQueue
}

// user returns the id of a user. It tells the policies the user's name before the first application.
func (s *session) user(name string) heddle.UserID {
	id, known := s.users[name]
	if !known {
		id = s.users.id(name)
		s.built.User(heddle.UserID(id), name)
	}
	return heddle.UserID(id)
}

func (s *session) attempt(names []string, o map[string]string) error {
	a, err := s.app(names)
	if err != nil {
		return err
	}
	size, err := masterSize(o["am"])
	if err != nil {
		return err
	}
	return s.step(heddle.Attempt{App: a, Master: size}, "")
}

// ask reads: ask j1 map n=4 size=1g,1c p=20 at=n1:2,r1:3 id=7 strict=any,r1. A count after a place is for that place;
// without one it is 1.
func (s *session) ask(names []string, o map[string]string) error {
	if err := want(names, 2, "an application and a kind"); err != nil {
		return err
	}
	a, err := s.app(names[:1])
	if err != nil {
		return err
	}
	kind, err := kindOf(names[1])
	if err != nil {
		return err
	}
	size, err := parseSize(orText(o["size"], "1g,1c"))
	if err != nil {
		return err
	}
	row := heddle.Anywhere(int32(number(orText(o["p"], "20"))), kind, int32(number(orText(o["n"], "1"))), size)
	row.AllocID = number(o["id"])
	strict := "," + o["strict"] + ","
	rows := []heddle.Row{row}
	rows[0].Strict = strings.Contains(strict, ",any,")
	for place := range strings.SplitSeq(o["at"], ",") {
		if place == "" {
			continue
		}
		name, count, counted := strings.Cut(place, ":")
		r := row
		r.Count = 1
		if counted {
			r.Count = int32(number(count))
		}
		if id, ok := s.racks[name]; ok {
			r.Rack, r.Strict = heddle.RackID(id), strings.Contains(strict, ","+name+",")
		} else if id, err := s.nodes.known(name, "node or rack"); err == nil {
			r.Host = heddle.NodeID(id)
		} else {
			return err
		}
		rows = append(rows, r)
	}
	return s.step(heddle.Ask{App: a, Rows: rows}, "")
}

// beats reads node names, or all; times repeats the heartbeats.
func (s *session) beats(names []string, o map[string]string) error {
	if n := number(o["times"]); n > 1 {
		for range n {
			if err := s.beats(names, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if len(names) == 1 && names[0] == "all" {
		names = nil
		for _, h := range s.hosts {
			names = append(names, s.nodes.name(int(h.node)))
		}
	}
	for _, name := range names {
		id, err := s.nodes.known(name, "node")
		if err != nil {
			return err
		}
		if err := s.step(heddle.Heartbeat{Node: heddle.NodeID(id)}, name); err != nil {
			return err
		}
	}
	return nil
}

// run lets a number of seconds pass; each second begins with a heartbeat of every node, in order.
func (s *session) run(names []string, _ map[string]string) error {
	if err := want(names, 1, "a number of seconds"); err != nil {
		return err
	}
	for range number(names[0]) {
		if err := s.beats([]string{"all"}, nil); err != nil {
			return err
		}
		s.now = s.now.Plus(heddle.Second)
	}
	return nil
}

// wait lets a number of seconds pass in which nothing happens.
func (s *session) wait(names []string, _ map[string]string) error {
	if err := want(names, 1, "a number of seconds"); err != nil {
		return err
	}
	f, err := strconv.ParseFloat(names[0], 64)
	s.now = s.now.Plus(heddle.Seconds(f))
	return err
}

// exit ends containers on their nodes; unless unfetched is given, they are fetched and started first.
func (s *session) exit(names []string, o map[string]string) error {
	for _, name := range names {
		if name == "unfetched" {
			continue
		}
		x, err := s.container(name)
		if err != nil {
			return err
		}
		if names[len(names)-1] != "unfetched" {
			if err := s.fetch(x); err != nil {
				return err
			}
		}
		if err := s.step(heddle.Exit{Container: x.ID(), Status: heddle.ExitStatus(number(o["status"]))}, ""); err != nil {
			return err
		}
	}
	return nil
}

// output places a number of bytes of an application's map output on nodes.
func (s *session) output(names []string, o map[string]string) error {
	if len(names) < 2 {
		return fmt.Errorf("want an application and nodes")
	}
	a, err := s.app(names[:1])
	if err != nil {
		return err
	}
	for _, name := range names[1:] {
		id, err := s.nodes.known(name, "node")
		if err != nil {
			return err
		}
		if err := s.step(heddle.Output{App: a, Node: heddle.NodeID(id), Bytes: number(o["bytes"])}, ""); err != nil {
			return err
		}
	}
	return nil
}

// forEach calls f with each of the named containers.
func (s *session) forEach(names []string, f func(*cluster.Container) error) error {
	for _, name := range names {
		x, err := s.container(name)
		if err != nil {
			return err
		}
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// begin acquires and starts containers.
func (s *session) begin(names []string, _ map[string]string) error {
	return s.forEach(names, s.fetch)
}

// phases are the names of the phases of tasks.
var phases = map[string]heddle.Phase{
	"read": heddle.MapRead, "copy": heddle.ReduceCopy, "sort": heddle.ReduceSort, "write": heddle.ReduceWrite, "hold": heddle.Holding,
}

// progress sets how far running containers are.
func (s *session) progress(names []string, o map[string]string) error {
	phase, ok := phases[o["phase"]]
	if !ok {
		return fmt.Errorf("no phase %q; there are read, copy, sort, write and hold", o["phase"])
	}
	part, err := strconv.ParseFloat(o["part"], 64)
	if err != nil {
		return err
	}
	return s.forEach(names, func(x *cluster.Container) error {
		return s.step(heddle.Progress{Container: x.ID(), Phase: phase, Fraction: part}, "")
	})
}

// usage sets what running containers used recently, or what those of a node use together: size=512m,300mc. For a node,
// others=0m,100mc is what others use of its machine, and idle=0m,100mc what nobody uses.
func (s *session) usage(names []string, o map[string]string) error {
	size, err := parseSize(o["size"])
	if err != nil {
		return err
	}
	others, idle := heddle.Resource{}, heddle.Of(0, -1)
	if o["others"] != "" || o["idle"] != "" {
		if others, err = parseSize(o["others"]); err != nil {
			return fmt.Errorf("others: %w", err)
		}
		if idle, err = parseSize(o["idle"]); err != nil {
			return fmt.Errorf("idle: %w", err)
		}
	}
	for len(names) > 0 {
		id, err := s.nodes.known(names[0], "node")
		if err != nil {
			break
		}
		if err := s.step(heddle.NodeUsed{Node: heddle.NodeID(id), CPU: size[heddle.CPU], Others: others[heddle.CPU], Idle: idle[heddle.CPU]}, ""); err != nil {
			return err
		}
		names = names[1:]
	}
	return s.forEach(names, func(x *cluster.Container) error {
		return s.step(heddle.Profile{Container: x.ID(), CPU: size[heddle.CPU], Memory: size[heddle.Memory]}, "")
	})
}

// disks sets the fraction of time, 0 to 1, that the disks of nodes were busy recently: busy=0.5; below 0 it is unknown.
func (s *session) disks(names []string, o map[string]string) error {
	busy, err := strconv.ParseFloat(o["busy"], 64)
	if err != nil {
		return err
	}
	for _, name := range names {
		id, err := s.nodes.known(name, "node")
		if err != nil {
			return err
		}
		if err := s.step(heddle.NodeDisks{Node: heddle.NodeID(id), Busy: int64(busy * 1000)}, ""); err != nil {
			return err
		}
	}
	return nil
}

// fetch acquires and starts a container.
func (s *session) fetch(x *cluster.Container) error {
	if err := s.step(heddle.Acquire{App: x.App().ID()}, ""); err != nil {
		return err
	}
	return s.step(heddle.Started{Container: x.ID()}, "")
}

func (s *session) release(names []string, _ map[string]string) error {
	return s.forEach(names, func(x *cluster.Container) error {
		return s.step(heddle.Release{App: x.App().ID(), Container: x.ID()}, "")
	})
}

func (s *session) acquire(names []string, _ map[string]string) error {
	a, err := s.app(names)
	if err != nil {
		return err
	}
	return s.step(heddle.Acquire{App: a}, "")
}

func (s *session) exclude(names []string, _ map[string]string) error {
	if len(names) == 0 {
		return fmt.Errorf("want an application and nodes")
	}
	a, err := s.app(names[:1])
	if err != nil {
		return err
	}
	var nodes []heddle.NodeID
	for _, name := range names[1:] {
		id, err := s.nodes.known(name, "node")
		if err != nil {
			return err
		}
		nodes = append(nodes, heddle.NodeID(id))
	}
	return s.step(heddle.Exclude{App: a, Nodes: nodes}, "")
}

func (s *session) done(names []string, _ map[string]string) error {
	a, err := s.app(names)
	if err != nil {
		return err
	}
	return s.step(heddle.AppDone{App: a}, "")
}

func (s *session) down(names []string, _ map[string]string) error {
	for _, name := range names {
		id, err := s.nodes.known(name, "node")
		if err != nil {
			return err
		}
		if err := s.step(heddle.NodeDown{Node: heddle.NodeID(id)}, ""); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) up(names []string, o map[string]string) error {
	if err := want(names, 1, "a node"); err != nil {
		return err
	}
	for i, h := range s.hosts {
		if s.nodes.name(int(h.node)) != names[0] {
			continue
		}
		if o["size"] != "" {
			var err error
			if s.hosts[i].size, err = parseSize(o["size"]); err != nil {
				return err
			}
		}
		return s.step(heddle.NodeUp{Node: h.node, Rack: h.rack, Total: s.hosts[i].size, Can: heddle.AllCaps}, "")
	}
	return fmt.Errorf("no node %q", names[0])
}
