package main

import (
	"fmt"
	"strings"

	"heddle/conf"
	"heddle/policies"
)

// loadProfiles reads profiles from what stands on the command line: each a name, a file, or one of both
// with changes behind it. set are changes to all of them; bare leaves out of all what needs a node agent. notes say
// what was left out.
func loadProfiles(specs, set []string, bare bool) (out []*policies.Profile, notes []string, err error) {
	seen := map[string]string{}
	for _, spec := range specs {
		name, own, ownBare, err := parseSpec(spec)
		if err != nil {
			return nil, nil, err
		}
		p, err := policies.Load(name, append(own, set...))
		if err != nil {
			return nil, nil, err
		}
		if bare || ownBare {
			var off []string
			if p, off = carried(p); ownBare {
				p.Name += withoutAgent
			}
			notes = append(notes, off...)
		}
		if other, twice := seen[p.Name]; twice {
			if other == spec {
				return nil, nil, fmt.Errorf("profile %s stands twice", spec)
			}
			p.Name = spec // two files of one name in different folders
		}
		seen[p.Name] = spec
		out = append(out, p)
	}
	return out, notes, nil
}

// carried is what of a profile the ResourceManager can carry out on stock NodeManagers. notes say what it cannot.
func carried(p *policies.Profile) (left *policies.Profile, notes []string) {
	left, off := p.WithoutAgent()
	for _, mechanism := range off {
		notes = append(notes, fmt.Sprintf("%s: off without a node agent: %s", p.Name, mechanism))
	}
	return left, notes
}

// withoutAgent is what follows a profile's name where what needs a node agent is to be left out of it.
const withoutAgent = " --without-agent"

// parseSpec takes "heddle --without-agent --set place.map=delay --set …" apart.
func parseSpec(spec string) (name string, set []string, bare bool, err error) {
	const flag = "--set"
	rest := " " + spec
	for strings.Contains(rest+" ", withoutAgent+" ") {
		rest, bare = strings.TrimSuffix(strings.Replace(rest+" ", withoutAgent+" ", " ", 1), " "), true
	}
	parts := strings.Split(rest, " "+flag)
	name = strings.TrimSpace(parts[0])
	if name == "" {
		return "", nil, false, fmt.Errorf("profile %q: want a name, a YAML file, or one of them with changes, such as \"fair --set place.map=delay\"", spec)
	}
	for _, part := range parts[1:] {
		change := strings.TrimSpace(strings.TrimPrefix(part, "="))
		if change == "" || part[0] != ' ' && part[0] != '=' {
			return "", nil, false, fmt.Errorf("profile %q: want --set slot.kind=policy, such as --set place.map=delay", spec)
		}
		set = append(set, change)
	}
	return name, set, bare, nil
}

// splitList splits at commas, but not inside brackets, braces and quotes, where options of policies have
// theirs.
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

// checkProfiles builds every profile once, so that what is wrong with one is known before anything runs.
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

// defaultProfile is the one to run when none is named, and why.
func defaultProfile(h *conf.Hadoop, dir string) (name, why string) {
	switch s := h.Site.Scheduler; {
	case dir != "" && (s == "capacity" && h.Capacity != nil || s == "fair" && h.Fair != nil || s == "fifo"):
		return s, fmt.Sprintf("no profile was named: %s, the scheduler of %s", s, dir)
	case dir != "" && h.Capacity == nil && h.Fair != nil:
		return "fair", fmt.Sprintf("no profile was named: fair, the only scheduler that %s configures", dir)
	}
	return "heddle", "no profile was named: heddle, all mechanisms together"
}
