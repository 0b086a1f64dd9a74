package conf

import (
	"slices"
	"strings"

	"heddle/policies/fair"
)

// ruleNames are the placement rules of the fair scheduler.
var ruleNames = []string{"specified", "user", "primaryGroup", "secondaryGroupExistingQueue", "nestedUserQueue", "default", "reject"}

// rules reads <queuePlacementPolicy>.
func (r *fairReader) rules(n *node) {
	before := len(r.errs)
	r.cfg.Rules = nil
	var nodes []*node
	for _, k := range n.kids {
		if !strings.EqualFold(k.name, "rule") {
			r.note(Unknown, r.file, k.line, k.name, "a placement policy has only <rule>")
			continue
		}
		if rule := r.rule(k, false); rule != nil {
			r.cfg.Rules = append(r.cfg.Rules, *rule)
			nodes = append(nodes, k)
		}
	}
	if len(r.errs) > before {
		return // which rule ends the list is not known
	}
	r.placing = nodes
	if len(nodes) == 0 {
		r.bad(n, "has no rule; leave it out for Hadoop's default rules")
		return
	}
	last := len(nodes) - 1
	for i := range nodes {
		switch end := terminal(&r.cfg.Rules[i]); {
		case i < last && end:
			r.bad(nodes[i], "%s places or rejects every application, so the rules after it never count", r.cfg.Rules[i].Name)
			return
		case i == last && !end:
			r.bad(nodes[i], "%s may place nowhere; the last rule must decide, such as <rule name=\"default\"/> or <rule name=\"reject\"/>", r.cfg.Rules[i].Name)
		}
	}
}

// checkTargets notes where a rule sends applications to a queue that takes none: they are refused when they come.
func (r *fairReader) checkTargets(p *FairPlacement) {
	for i, n := range r.placing {
		rule := &r.cfg.Rules[i]
		if rule.Name != "default" || !rule.Create && !p.configured(rule.Queue) {
			continue
		}
		if _, err := p.check(rule.Queue); err != nil {
			r.note(Remark, r.file, n.line, n.name, "applications that come to the rule default are refused: %v", err)
		}
	}
}

// terminal reports whether no application gets past a rule.
func terminal(rule *fair.Rule) bool {
	switch rule.Name {
	case "reject":
		return true
	case "specified", "secondaryGroupExistingQueue":
		return false
	}
	return rule.Create && (rule.Nested == nil || terminal(rule.Nested))
}

// rule reads a <rule>; nil if it is not one.
func (r *fairReader) rule(n *node, nested bool) *fair.Rule {
	name, _ := attr(n.attr, "name")
	if !slices.Contains(ruleNames, name) {
		r.bad(n, "there is no rule %q; expected one of %s", name, strings.Join(ruleNames, ", "))
		return nil
	}
	if nested && (name == "reject" || name == "nestedUserQueue") {
		r.bad(n, "%s cannot stand inside another rule", name)
		return nil
	}
	rule := &fair.Rule{Name: name, Create: true}
	if c, ok := attr(n.attr, "create"); ok && c != "" {
		rule.Create = strings.EqualFold(c, "true")
		if !rule.Create && !strings.EqualFold(c, "false") {
			r.note(Remark, r.file, n.line, "create", "%q is neither true nor false; it counts as false", c)
		}
	}
	if name == "default" {
		r.target(n, rule)
	}
	for _, k := range n.kids {
		switch {
		case !strings.EqualFold(k.name, "rule"):
			r.note(Unknown, r.file, k.line, k.name, "a rule has only <rule>")
		case nested:
			r.note(Remark, r.file, k.line, k.name, "rules nest one deep; this one is ignored")
		default:
			if rule.Nested != nil {
				r.note(Remark, r.file, k.line, k.name, "is the second inside %s; the last counts", name)
			}
			if rule.Nested = r.rule(k, true); rule.Nested == nil {
				return nil
			}
		}
	}
	r.checkNesting(n, rule)
	return rule
}

func (r *fairReader) target(n *node, rule *fair.Rule) {
	rule.Queue = "root.default"
	q, _ := attr(n.attr, "queue")
	if q == "" {
		return
	}
	if !goodPath(q) {
		r.note(Remark, r.file, n.line, "queue", "%q is not the path of a queue; root.default takes its place", q)
		return
	}
	rule.Queue = underRoot(q)
}

func (r *fairReader) checkNesting(n *node, rule *fair.Rule) {
	kind := func(name string) string { return strings.Replace(name, "nestedUserQueue", "user", 1) }
	switch {
	case rule.Nested == nil:
		if rule.Name == "nestedUserQueue" {
			r.bad(n, "nestedUserQueue needs a rule inside it that gives the parent queue")
		}
	case rule.Name == "specified" || rule.Name == "default" || rule.Name == "reject":
		r.bad(n, "%s takes no rule inside", rule.Name)
	case kind(rule.Name) == kind(rule.Nested.Name):
		r.bad(n, "%s cannot stand inside %s: both go by the same name", rule.Nested.Name, rule.Name)
	}
}
