package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"heddle/conf"
	"heddle/policies"
)

// A manner is how profiles are simulated: as heddle rm runs them or as a stock ResourceManager does, and with a node
// agent beside every NodeManager or without.
type manner struct {
	stock bool
	agent string
}

// The kinds of node agent that a profile can have, named as their flags; "" for none.
const (
	agentAsIs  = "agent"
	agentIdeal = "ideal-agent"
)

// loadProfiles reads profiles from the command line. Each spec is a name or a file, optionally followed by changes. The
// changes in set apply to all, and how is the manner of specs that do not state one. notes say what was left out.
func loadProfiles(specs, set []string, how manner) (out []*policies.Profile, notes []string, err error) {
	seen := map[string]string{}
	for _, text := range specs {
		own, err := parseSpec(text)
		if err != nil {
			return nil, nil, err
		}
		p, err := policies.Load(own.name, append(own.set, set...))
		if err != nil {
			return nil, nil, err
		}
		p, off := own.in(how).apply(p)
		p.Name += own.manner
		for _, note := range off {
			if !slices.Contains(notes, note) { // the same profile in two manners
				notes = append(notes, note)
			}
		}
		if other, twice := seen[p.Name]; twice {
			if other == text {
				return nil, nil, fmt.Errorf("profile %s is listed twice", text)
			}
			p.Name = text // two files of the same name in different folders
		}
		seen[p.Name] = text
		out = append(out, p)
	}
	return out, notes, nil
}

// apply returns the part of a profile that has an effect in a manner. notes say what has none.
func (m manner) apply(p *policies.Profile) (left *policies.Profile, notes []string) {
	left = p
	if m.agent == "" {
		var off []string
		if left, off = p.WithoutAgent(); len(off) > 0 {
			for i, mechanism := range off {
				off[i], _, _ = strings.Cut(mechanism, ":")
			}
			notes = []string{fmt.Sprintf("%s: off without a node agent: %s", p.Name, strings.Join(off, ", "))}
		}
	}
	left.Stock, left.Agents = m.stock, m.agent == agentAsIs
	return left, notes
}

// A spec is a profile as written on the command line.
type spec struct {
	name   string
	set    []string
	agent  string // as in manner
	as     string // "" if not stated
	manner string // as written
}

// in returns the manner of a profile, given the manner of profiles that do not state one.
func (s *spec) in(how manner) manner {
	if s.as != "" {
		how.stock = s.as == asStock
	}
	how.agent = cmp.Or(s.agent, how.agent)
	return how
}

// The values of --as.
const (
	asHeddle = "heddle"
	asStock  = "stock"
)

var manners = regexp.MustCompile(` --((?:ideal-)?agent|as[ =](\S*))( |$)`)

// parseSpec parses "heddle --agent --as stock --set place.map=delay --set …".
func parseSpec(text string) (spec, error) {
	const flag = "--set"
	var s spec
	rest := " " + text
	for m := manners.FindStringSubmatchIndex(rest); m != nil; m = manners.FindStringSubmatchIndex(rest) {
		said := strings.TrimSpace(rest[m[0]:m[1]])
		if strings.HasSuffix(said, agentAsIs) {
			if own := said[2:]; s.agent != "" && s.agent != own {
				return spec{}, fmt.Errorf("profile %q: --agent and --ideal-agent; want one of them", text)
			}
			s.agent = said[2:]
		} else if s.as = rest[m[4]:m[5]]; s.as != asHeddle && s.as != asStock {
			return spec{}, fmt.Errorf("profile %q: --as %s; want heddle or stock", text, s.as)
		}
		s.manner += " " + said
		rest = rest[:m[0]] + " " + strings.TrimLeft(rest[m[1]:], " ")
	}
	parts := strings.Split(strings.TrimRight(rest, " "), " "+flag)
	s.name = strings.TrimSpace(parts[0])
	if s.name == "" || strings.Contains(s.name, "--") {
		return spec{}, fmt.Errorf("profile %q: want a name, a YAML file, or one of them with changes, such as \"fair --set place.map=delay\"", text)
	}
	for _, part := range parts[1:] {
		change := strings.TrimSpace(strings.TrimPrefix(part, "="))
		if change == "" || part[0] != ' ' && part[0] != '=' {
			return spec{}, fmt.Errorf("profile %q: want --set slot.kind=policy, such as --set place.map=delay", text)
		}
		s.set = append(s.set, change)
	}
	return s, nil
}

// splitList splits at commas, except inside brackets, braces and quotes, where options of policies have their own
// commas.
func splitList(s string) []string {
	var out []string
	depth, from, quote := 0, 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth <= 0:
			out = append(out, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[from:]))
}

// checkProfiles builds every profile once, so that errors in them are found before anything runs.
func checkProfiles(profiles []*policies.Profile, h *conf.Hadoop, dir string) error {
	for _, p := range profiles {
		for _, need := range []struct {
			tree, file string
			there      bool
		}{
			{"capacity", "capacity-scheduler.xml", h.Capacity != nil},
			{"fair", "fair-scheduler.xml", h.Fair != nil},
		} {
			if p.Queues == need.tree && !need.there {
				return fmt.Errorf("%s: holds no %s, which profile %s needs", dir, need.file, p.Name)
			}
		}
		env := policies.Env{Capacity: h.Capacity, Fair: h.Fair, Minimum: h.Site.Minimum, Maximum: h.Site.Maximum}
		if _, err := policies.Build(p, env); err != nil {
			return err
		}
	}
	return nil
}

// addMissing adds the one queue that a scheduler has whose file is missing, for those that profiles need, and returns the
// missing files. A folder that neither names the scheduler nor lacks the other one's file is left as it is: its queues
// are meant for the other one.
func addMissing(h *conf.Hadoop, profiles []*policies.Profile) (missing []string) {
	whole, alone := h.Complete(), h.Capacity == nil && h.Fair == nil
	needs := func(tree string) bool {
		return (alone || namedScheduler(h) == tree) && slices.ContainsFunc(profiles, func(p *policies.Profile) bool { return p.Queues == tree })
	}
	if h.Capacity == nil && needs("capacity") {
		h.Capacity, h.CapacityPlacement, h.CapacityACLs = whole.Capacity, whole.CapacityPlacement, whole.CapacityACLs
		missing = append(missing, "capacity-scheduler.xml")
	}
	if h.Fair == nil && needs("fair") {
		h.Fair, h.FairPlacement, h.FairACLs = whole.Fair, whole.FairPlacement, whole.FairACLs
		missing = append(missing, "fair-scheduler.xml")
	}
	return missing
}

// namedScheduler returns the scheduler that the configuration names; "" if it names none, or one that is not here.
func namedScheduler(h *conf.Hadoop) string {
	if !h.Daemon.SchedulerNamed {
		return ""
	}
	return h.Site.Scheduler
}

// defaultProfile returns the profile to run if none is named, and the reason.
func defaultProfile(h *conf.Hadoop, dir string) (name, why string) {
	switch s := h.Site.Scheduler; {
	case dir != "" && (namedScheduler(h) != "" || s == "capacity" && h.Capacity != nil):
		return s, fmt.Sprintf("no profile was named: %s, the scheduler of %s", s, dir)
	case dir != "" && h.Capacity == nil && h.Fair != nil:
		return "fair", fmt.Sprintf("no profile was named: fair, the only scheduler that %s configures", dir)
	}
	return "heddle", "no profile was named: heddle, the mechanisms that gain together"
}
