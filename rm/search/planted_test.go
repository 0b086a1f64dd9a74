package search

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A plant is a bug for package rm: a piece of its source, which occurs once, and its replacement with the bug.
type plant struct{ name, file, old, with string }

var plants = []plant{
	{
		"a submission is not stored", "submit.go", "m.commit(func() { m.appStored(a) }, Change{App: a.record()})",
		"if HERE { m.commit(func() { m.appStored(a) }) } else { m.commit(func() { m.appStored(a) }, Change{App: a.record()}) }",
	},
	{
		"a submission is acknowledged before it is stored", "submit.go", "	m.byApp[id] = a\n",
		"	m.byApp[id] = a\n	if HERE { m.answer(q.Call, nil, nil); m.commit(func() { m.appStored(a) }, Change{App: a.record()}); return }\n",
	},
	{
		"an application is taken in for another user, too", "submit.go", "	case a.user != q.Who.User:\n",
		"	case !HERE && a.user != q.Who.User:\n",
	},
	{
		"a start does not wait for nodes", "recover.go", "	if !m.back.enough() || m.back.unread > 0 {\n",
		"	if !HERE && !m.back.enough() || m.back.unread > 0 {\n",
	},
	{
		"a node is not stored", "comeback.go", "			changes = append(changes, Change{Node: new(n.known)})\n",
		"			if !HERE || n.known.Lost > 0 { changes = append(changes, Change{Node: new(n.known)}) }\n",
	},
	{
		"a start forgets the nodes that are lost", "comeback.go", "			n.become(nodeLost)\n			continue\n",
		"			n.become(nodeLost)\n			if HERE { m.dropNode(n); delete(m.byNode, n.id); delete(m.hosts, m.hostName(n.id)) }\n			continue\n",
	},
	{
		"an end is not stored", "app.go", "	if t := a.newest(); t != nil {\n		changes = append(changes",
		"	if HERE { changes = nil }\n	if t := a.newest(); t != nil {\n		changes = append(changes",
	},
	{
		"where a master runs is not stored", "attempt.go", "	}, Change{Attempt: t.record(m)})\n}",
		"	}, unless(HERE, Change{Attempt: t.record(m)})...)\n}",
	},
	{
		"an end is told twice", "master.go", "		clear(t.finished)\n		t.finished = t.finished[:0]\n",
		"		if !HERE { clear(t.finished); t.finished = t.finished[:0] }\n",
	},
	{
		"a node may forget an end before its master has heard of it", "tracker.go", "		m.exitedAs(c, s)\n	}\n",
		"		if HERE { n.acknowledge(s.ID) }\n		m.exitedAs(c, s)\n	}\n",
	},
	{
		"numbers of containers begin anew with every start", "container.go", "num: m.epoch<<ids.EpochShift | t.seq,",
		"num: m.epoch*plus(HERE)<<ids.EpochShift | t.seq,",
	},
	{
		"a grant is told twice", "master.go", "	t.granted = nil\n	for _, c := range granted {",
		"	if !HERE { t.granted = nil }\n	for _, c := range granted {",
	},
	{
		"tokens of nodes that come back stay", "node.go", "		t.tokens.Remove(int32(n.nid))\n",
		"		if !HERE { t.tokens.Remove(int32(n.nid)) }\n",
	},
	{
		"what is given back is kept", "master.go", "		case c != nil && c.kind != heddle.AM:\n",
		"		case c != nil && c.kind != heddle.AM && !HERE:\n",
	},
	{
		"what was asked for during recovery is not handed over", "recover.go", "	m.askAll()\n",
		"	if !HERE { m.askAll() }\n",
	},
	{
		"a node that is lost keeps its containers", "expire.go", "		m.nodeDown(n, nodeLost)\n",
		"		if HERE { n.become(nodeLost) } else { m.nodeDown(n, nodeLost) }\n",
	},
	{
		"a node is not told to kill", "node.go", "	n.order().kill = append(n.order().kill, id)\n",
		"	if !HERE { n.order().kill = append(n.order().kill, id) }\n",
	},
	{
		"nodes do not clean up after applications", "app.go", "			n.clean(a.ID)\n",
		"			if !HERE { n.clean(a.ID) }\n",
	},
	{
		"an agent that is gone counts", "agents.go", "		n.agent = nil\n		m.staleNode(n)\n		m.able(n)\n",
		"		if !HERE { n.agent = nil; m.staleNode(n); m.able(n) }\n",
	},
	{
		"an agent is not told of a suspended container", "deeds.go", "		m.altered(c, what, !n.demotes)\n	}\n	m.wants(n)\n",
		"		m.altered(c, what, !n.demotes)\n	}\n	if !HERE { m.wants(n) }\n",
	},
	{
		"an agent is not told of what was wanted before a container started", "tracker.go", "			if c.deed != nil || c.weight() != plainWeight {",
		"			if (c.deed != nil || c.weight() != plainWeight) && !HERE {",
	},
	{
		"an agent is taken to have heard all that it was told", "agents.go", "a.changed || a.applied != a.told, F", "a.changed || a.applied != a.told && !HERE, F",
	},
	{
		"a master that had too little is followed by another", "attempt.go", "Full: a.tooSmall() > 0}",
		"Full: a.tooSmall() > 0 && !HERE}",
	},
	{
		"a lifetime is not watched", "expire.go", "until > 0 && !a.closed {\n",
		"until > 0 && !a.closed && !HERE {\n",
	},
	{
		"a silent master stays", "expire.go", "	case t.state == attemptLaunched, t.state == attemptRunning:\n",
		"	case HERE:\n	case t.state == attemptLaunched, t.state == attemptRunning:\n",
	},
	{
		"masters whose application is over may still call", "app.go", "		m.emit(DropMaster{t.id})\n",
		"		if !HERE { m.emit(DropMaster{t.id}) }\n",
	},
	{
		"a container that is not used stays", "master.go", "		m.unused.add(c)\n",
		"		if !HERE { m.unused.add(c) }\n",
	},
	{
		"a move is answered before it is stored", "submit.go", "	m.change(a, to, func() { m.answer(q.Call, nil, nil) })\n	m.offer(a)",
		"	if HERE { m.answer(q.Call, nil, nil); m.change(a, to, func() {}) } else { m.change(a, to, func() { m.answer(q.Call, nil, nil) }) }\n	m.offer(a)",
	},
	{
		"a priority is answered before it is stored", "submit.go", "	m.change(a, to, func() { m.answer(q.Call, to.priority, nil) })\n",
		"	if HERE { m.answer(q.Call, to.priority, nil); m.change(a, to, func() {}) } else { m.change(a, to, func() { m.answer(q.Call, to.priority, nil) }) }\n",
	},
	{
		"a lifetime is answered and not stored", "submit.go", "	to.lifetime = q.Until\n",
		"	to.lifetime = q.Until\n	if HERE { m.answer(q.Call, nil, nil); return }\n",
	},
	{
		"an answer to a finished master is forgotten", "app.go", "	for _, c := range a.saved {\n		m.answer(c, nil, nil)\n	}\n",
		"	for _, c := range a.saved {\n		if !HERE || a.state != appFinishing { m.answer(c, nil, nil) }\n	}\n",
	},
	{
		"a node that comes sick gets containers", "tracker.go", "	if h.Sick || !h.Said && n.state == nodeUnhealthy {",
		"	if !HERE && (h.Sick || !h.Said && n.state == nodeUnhealthy) {",
	},
	{
		"a node gets containers before it has its keys", "expire.go", "	case !n.silent:\n",
		"	case !HERE && !n.silent:\n",
	},
	{
		"a node that has come back on another port stays lost too", "node.go", "		m.replaced(id)\n",
		"		if !HERE { m.replaced(id) }\n",
	},
	{
		"a master that did not come back with its node is not missed", "recover.go", "	m.missMasters(n, reported)\n",
		"	if !HERE { m.missMasters(n, reported) }\n",
	},
	{
		"a master is missed on another node", "recover.go", "t.masterNode != n.id || reported[t.masterID]:",
		"t.masterNode != n.id && !HERE || reported[t.masterID]:",
	},
	{
		"nodes report often after all is over", "app.go", "n.apps = slices.DeleteFunc(n.apps, func(x *app) bool { return x == a })",
		"n.apps = slices.DeleteFunc(n.apps, func(x *app) bool { return x == a && !HERE })",
	},
	{
		"a node is lost too soon", "expire.go", "m.now.Since(n.seen) > m.cfg.NodeExpiry:",
		"HERE || m.now.Since(n.seen) > m.cfg.NodeExpiry:",
	},
	{
		"a master is given up too soon", "expire.go", "	case m.now.Since(t.seen) <= m.cfg.MasterExpiry:\n",
		"	case !HERE && m.now.Since(t.seen) <= m.cfg.MasterExpiry:\n",
	},
	{
		"what an application came to is not stored with its end", "app.go", "	m.commit(nil, changes...)\n",
		"	if HERE { changes = changes[len(changes)-1:] }\n	m.commit(nil, changes...)\n",
	},
	{
		"a start forgets what the last applications asked for", "machine.go", "	m.recall(o.Runs)\n",
		"	if !HERE { m.recall(o.Runs) }\n",
	},
	{
		"what an application asks for first is all that counts", "runs.go", "	a.most = a.most.most(now)\n",
		"	if !HERE || a.most.containers == 0 { a.most = a.most.most(now) }\n",
	},
}

// helpers is what the bugs are made with. A bug is active only if its name is in the environment.
const helpers = `package rm

import "os"

var planted = os.Getenv("PLANTED")

func plus(without bool) int64 {
	if without {
		return 0
	}
	return 1
}

func unless(without bool, list ...Change) []Change {
	if without {
		return nil
	}
	return list
}
`

var seeds = flag.Uint64("seeds", 0, "how many seeds TestHunt plays")

// TestHunt plays the first seeds until one fails.
func TestHunt(t *testing.T) {
	if *seeds == 0 {
		t.Skip("-seeds says how many")
	}
	for i := range *seeds {
		if _, f := Run(NewPlan(i+1), Options{}); f != nil {
			t.Fatalf("found by seed %d: %s: %s", i+1, f.Rule, strings.SplitN(f.Text, "\n", 2)[0])
		}
	}
}

// TestPlanted plants bugs in package rm, one at a time: a few seeds find each, and find nothing without a bug.
func TestPlanted(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the package anew")
	}
	bin := build(t)
	hunt := func(name string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, bin, "-test.run", "^TestHunt$", "-seeds", strconv.Itoa(enough))
		cmd.Env = append(os.Environ(), "PLANTED="+name)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := hunt(""); err != nil {
		t.Fatalf("without a mistake: %v\n%s", err, out)
	}
	for _, p := range plants {
		out, err := hunt(p.name)
		_, found, ok := strings.Cut(out, "found by ")
		if err == nil || !ok {
			t.Errorf("%s: %d seeds do not find it: %v\n%s", p.name, enough, err, out)
			continue
		}
		found, _, _ = strings.Cut(found, "\n")
		t.Logf("%s: %s", p.name, found)
		if p.name == "a node is not told to kill" {
			seed, _, _ := strings.Cut(strings.TrimPrefix(found, "seed "), ":")
			shortens(t, bin, p.name, seed)
		}
	}
}

// shortens fails unless a seed that finds a bug is reduced to a few ops, and these find it too.
func shortens(t *testing.T, bin, name, seed string) {
	t.Helper()
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), bin, append([]string{"-test.run", "^TestSeed$", "-seed", seed}, args...)...)
		cmd.Env = append(os.Environ(), "PLANTED="+name)
		out, _ := cmd.CombinedOutput() // it fails, as it must
		return string(out)
	}
	line := regexp.MustCompile(`-seed ` + seed + ` -keep ([0-9,]+)\n\s*([0-9]+) of ([0-9]+) ops`)
	first := line.FindStringSubmatch(run())
	if first == nil {
		t.Fatalf("%s: no short plan", name)
	}
	if n, _ := strconv.Atoi(first[2]); n > 6 {
		t.Errorf("%s: %s of %s ops are left", name, first[2], first[3])
	}
	if again := line.FindStringSubmatch(run("-keep", first[1])); again == nil || again[1] != first[1] {
		t.Errorf("%s: ops %s do not find it again: %q", name, first[1], again)
	}
	t.Logf("%s: %s of %s ops find it", name, first[2], first[3])
}

// build builds this test with all bugs in it, each enabled by its name.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	add := func(file, text string) {
		path, err := filepath.Abs(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		replace[path] = filepath.Join(dir, file)
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string]string{}
	for _, p := range plants {
		if texts[p.file] == "" {
			text, err := os.ReadFile(filepath.Join("..", p.file))
			if err != nil {
				t.Fatal(err)
			}
			texts[p.file] = string(text)
		}
		if n := strings.Count(texts[p.file], p.old); n != 1 {
			t.Fatalf("%s: its place is %d times in %s", p.name, n, p.file)
		}
		with := strings.ReplaceAll(p.with, "HERE", "(planted == \""+p.name+"\")")
		texts[p.file] = strings.Replace(texts[p.file], p.old, with, 1)
	}
	for file, text := range texts { // order: of files
		add(file, text)
	}
	add("planted.go", helpers)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list, bin := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "search.test")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", list, "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}
