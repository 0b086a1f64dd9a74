package dialogue

import (
	"fmt"
	"strconv"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// size prints a resource in the form that parseSize reads.
func size(r heddle.Resource) string {
	mem := fmt.Sprintf("%dm", r[heddle.Memory])
	if r[heddle.Memory]%1024 == 0 {
		mem = fmt.Sprintf("%dg", r[heddle.Memory]/1024)
	}
	if r[heddle.CPU]%1000 == 0 {
		return fmt.Sprintf("%s,%dc", mem, r[heddle.CPU]/1000)
	}
	return fmt.Sprintf("%s,%dmc", mem, r[heddle.CPU])
}

func (s *session) printf(format string, args ...any) {
	fmt.Fprintf(&s.out, "%gs ", float64(s.now)/1e9)
	fmt.Fprintf(&s.out, format+"\n", args...)
}

func (s *session) appName(id heddle.AppID) string   { return s.apps.name(int(id)) }
func (s *session) nodeName(id heddle.NodeID) string { return s.nodes.name(int(id)) }

func (s *session) print(d heddle.Decision) {
	switch d := d.(type) {
	case *heddle.Admit:
		s.printf("admit %s", s.appName(d.App))
	case *heddle.Reject:
		s.printf("reject %s: %s", s.appName(d.App), d.Why)
	case *heddle.Launch:
		limit := ""
		if d.Limit != d.Told {
			limit = " limit " + size(d.Limit)
		}
		s.printf("%s launch c%d %s %s %s at %s%s", s.nodeName(d.Node), d.Container, s.appName(d.App), d.Kind, size(d.Told), d.At, limit)
	case *heddle.Adopt:
		x := s.core.View().Container(d.Container)
		s.printf("%s adopt c%d %s %s %s as %d", s.nodeName(x.Node().ID()), d.Container, s.appName(x.App().ID()), x.Kind(), size(x.Limit()), d.Ref)
	case *heddle.Book:
		s.printf("%s reserve c%d %s", s.nodeName(d.Node), d.Container, s.appName(d.App))
	case *heddle.Unbook:
		s.printf("%s unreserve c%d %s", s.nodeName(d.Node), d.Container, s.appName(d.App))
	case *heddle.Resize:
		s.printf("resize c%d to %s", d.Container, size(d.Limit))
	case *heddle.Weigh:
		s.printf("weigh c%d %d", d.Container, d.Weight)
	case *heddle.Suspend:
		frozen := ""
		if d.Freeze > 0 {
			frozen = fmt.Sprintf(" frozen %gs", d.Freeze.Seconds())
		}
		s.printf("suspend c%d%s", d.Container, frozen)
	case *heddle.Resume:
		s.printf("resume c%d", d.Container)
	case *heddle.Kill:
		s.printf("kill c%d status %d", d.Container, d.Status)
	}
}

// printRefusals prints the reasons counted since it last ran.
func (s *session) printRefusals(where string) {
	for id := range len(s.apps) {
		app := heddle.AppID(id)
		now, was := s.core.Refusals(app), s.refused[app]
		for why := range now {
			if now[why] > was[why] {
				if where == "" {
					where = "-"
				}
				s.printf("%s refuse %s: %s", where, s.appName(app), heddle.Why(why))
			}
		}
		s.refused[app] = now
	}
}

// explain prints what an application waits for.
func (s *session) explain(name string) error {
	id, err := s.apps.known(name, "application")
	if err != nil {
		return err
	}
	e, ok := s.core.Explain(heddle.AppID(id))
	if !ok {
		return fmt.Errorf("application %s is over", name)
	}
	if len(e.Pending) == 0 {
		fmt.Fprintf(&s.out, "%s waits for nothing\n", name)
	}
	for _, p := range e.Pending {
		fmt.Fprintf(&s.out, "%s waits for %d %s of %s: %s, have %s, short %s\n", name, p.Count, p.Kind, size(p.Size), p.Why, size(p.Have), size(p.Short))
		if p.Policy != "" {
			fmt.Fprintf(&s.out, "  by %s%s\n", p.Policy, s.limit(p.Limit))
		}
		for _, h := range p.Holders {
			fmt.Fprintf(&s.out, "  %s holds %s\n", s.appName(h.App), size(h.Used))
		}
		for _, g := range p.Nodes {
			by := ""
			if g.Policy != "" {
				by = " by " + g.Policy
			}
			if g.Until > 0 {
				by += fmt.Sprintf(", let in what is gone by %gs", g.Until.Seconds())
			}
			fmt.Fprintf(&s.out, "  %d nodes: %s%s, most free %s\n", g.Nodes, g.Why, by, size(g.Most))
		}
	}
	return nil
}

// limit prints the figures behind a refusal.
func (s *session) limit(l *policy.Limit) string {
	if l == nil {
		return ""
	}
	used, most := size(l.Used), size(l.Most)
	if l.Counted {
		used, most = strconv.Itoa(l.UsedN), strconv.Itoa(l.MostN)
	}
	text := fmt.Sprintf(": %s of %s %s", used, most, l.What)
	if l.Queue != heddle.NoQueue {
		text += " in " + s.built.Paths[l.Queue]
	}
	if l.Line > 0 {
		text += fmt.Sprintf(", %d of %d in line", l.Place, l.Line)
	}
	for _, by := range l.By {
		text += "; " + by
	}
	if l.Note != "" {
		text += ". " + l.Note
	}
	return text
}

// show prints nodes, queues, apps or headroom.
func (s *session) show(what string) error {
	v := s.core.View()
	switch what {
	case "nodes":
		for _, h := range s.hosts {
			n := v.Node(h.node)
			if !n.Up() {
				fmt.Fprintf(&s.out, "%s down\n", s.nodeName(h.node))
				continue
			}
			fmt.Fprintf(&s.out, "%s used %s free %s%s%s\n", s.nodeName(h.node), size(n.Used()), size(n.Free()), booked(n), s.held(n))
		}
	case "queues":
		for i, path := range s.built.Paths {
			q := v.Queue(heddle.QueueID(i))
			fmt.Fprintf(&s.out, "%s used %s reserved %s pending %s\n", path, size(q.Used()), size(q.Booked()), size(q.Pending()))
		}
	case "apps":
		for id := range len(s.apps) {
			if a := v.App(heddle.AppID(id)); a != nil {
				fmt.Fprintf(&s.out, "%s used %s pending %s\n", s.appName(a.ID()), size(a.Used()), size(a.Pending()))
			}
		}
	case "headroom":
		for id := range len(s.apps) {
			if a := v.App(heddle.AppID(id)); a != nil {
				fmt.Fprintf(&s.out, "%s %s\n", s.appName(a.ID()), size(s.core.Headroom(a.ID())))
			}
		}
	default:
		return fmt.Errorf("no view %q; there are nodes, queues, apps and headroom", what)
	}
	return nil
}

func booked(n *cluster.Node) string {
	if x := n.Booked(); x != nil {
		return fmt.Sprintf(" reserved c%d", x.ID())
	}
	return ""
}

func (s *session) held(n *cluster.Node) (text string) {
	n.Each(func(x *cluster.Container) bool {
		what := ""
		if x.Suspended() {
			what = "(suspended)"
		}
		text = fmt.Sprintf(" c%d%s", x.ID(), what) + text
		return true
	})
	if text != "" {
		text = ":" + text
	}
	return text
}
