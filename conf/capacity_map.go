package conf

import (
	"slices"
	"strings"
)

// placement reads the queue mappings.
func (r *csReader) placement() *CapacityPlacement {
	p := NewCapacityPlacement(r.cfg)
	for i := range r.queues {
		p.queues[i].auto = r.queues[i].auto
	}
	p.override = r.flag(csPrefix+"queue-mappings-override.enable", false)
	format := csPrefix + "mapping-rule-format"
	switch r.text(format, "legacy") {
	case "legacy":
	case "json":
		q := r.m[format]
		r.log.note(Unsupported, q.file, q.line, q.name, "JSON mapping rules are not read; applications go to the queue they name")
		return p
	default:
		q := r.m[format]
		r.bad(q, "%q is not a format; expected legacy or json", q.raw)
	}
	v, prop := r.value(csPrefix + "queue-mappings")
	if prop == nil {
		return p
	}
	for rule := range strings.SplitSeq(v, ",") {
		if rule = strings.TrimSpace(rule); rule == "" {
			continue
		}
		parts := strings.Split(rule, ":")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		switch {
		case len(parts) != 3 || parts[1] == "" || parts[2] == "":
			r.bad(prop, "%q is not a mapping; expected u:user:queue or g:group:queue", rule)
		case parts[0] != "u" && parts[0] != "g":
			r.bad(prop, "%q begins with %q; expected u for a user or g for a group", rule, parts[0])
		default:
			m := mapping{parts[0] == "g", parts[1], parts[2]}
			if text := p.checkTarget(m.path); text != "" {
				r.bad(prop, "%q: %s", rule, text)
			}
			if slices.Contains(strings.Split(m.path, "."), "%application") {
				r.log.note(Unsupported, prop.file, prop.line, prop.name, "%q: mappings by application name are not supported; its applications go to root.default", rule)
			}
			p.mappings = append(p.mappings, m)
		}
	}
	return p
}

// checkTarget returns what is wrong with the path of a mapping, or "".
func (p *CapacityPlacement) checkTarget(path string) string {
	parts := strings.Split(path, ".")
	if slices.Contains(parts, "") {
		return "the queue has an empty part"
	}
	known := slices.IndexFunc(parts, variablePart)
	if known < 0 {
		if _, err := p.leaf(path); err != nil {
			return err.Error()
		}
		return ""
	}
	if known == 0 {
		return ""
	}
	i, err := p.find(strings.Join(parts[:known], "."))
	switch {
	case err != nil:
		return err.Error()
	case p.queues[i].leaf && !p.queues[i].auto:
		return "queue " + p.queues[i].path + " has no children"
	}
	return ""
}

// variablePart reports whether a part of a path stands for something else.
func variablePart(s string) bool {
	return slices.Contains([]string{"%user", "%primary_group", "%secondary_group", "%application", "%specified", "%default"}, s)
}
