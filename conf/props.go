package conf

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

// maxSubstitutions is how many ${…} one value may need, as in Hadoop; it also ends loops.
const maxSubstitutions = 20

// Properties are what a stack of files says, later files over earlier ones unless final.
type properties struct {
	m       map[string]*property
	sorted  []string                    // the names, once somebody asked for them
	outside func(string) (string, bool) // see outside
	log     *log
}

func newProperties(l *log, outside func(string) (string, bool)) *properties {
	return &properties{m: map[string]*property{}, outside: outside, log: l}
}

// over returns ps with more properties on top. Properties of both are the same objects, so that what
// is used in one is used in the other.
func (ps *properties) over(more []*property) *properties {
	n := &properties{m: maps.Clone(ps.m), outside: ps.outside, log: ps.log}
	for _, p := range more {
		old := n.m[p.name]
		switch {
		case old == nil:
		case old.final:
			if old.raw != p.raw {
				ps.log.note(Remark, p.file, p.line, p.name, "is final in %s:%d and stays %q", old.file, old.line, old.raw)
			}
			continue
		case old.file == p.file && old.raw != p.raw:
			ps.log.note(Remark, p.file, p.line, p.name, "is set twice; this one counts, not line %d", old.line)
		}
		n.m[p.name] = p
	}
	return n
}

// join adds the properties of another stack of files on the same base. Of a property in both stacks, the one that is
// used counts, and if neither is, the one that a file set over base.
func (ps *properties) join(other, base *properties) {
	for name, p := range other.m {
		if own := ps.m[name]; own == nil || !own.used && p != base.m[name] {
			ps.m[name] = p
		}
	}
}

// names returns the names with the prefix, sorted.
func (ps *properties) names(prefix string) []string {
	if ps.sorted == nil {
		ps.sorted = slices.Sorted(maps.Keys(ps.m))
	}
	from, _ := slices.BinarySearch(ps.sorted, prefix)
	to := from
	for to < len(ps.sorted) && strings.HasPrefix(ps.sorted[to], prefix) {
		to++
	}
	return ps.sorted[from:to]
}

// value returns a property's value with every ${…} replaced; p is nil when it is unset, or when its
// substitution fails, which is then logged.
func (ps *properties) value(name string) (v string, p *property) {
	if p = ps.m[name]; p == nil {
		return "", nil
	}
	p.used = true
	v, err := ps.substitute(p.raw)
	if err != nil {
		ps.log.fail(p.file, p.line, name, "%v", err)
		return "", nil
	}
	return v, p
}

// substitute returns a value with every ${…} replaced. As in Hadoop, what refers to itself stays as it is, and so does the
// rest of a value from the first ${…} on that stands for nothing.
func (ps *properties) substitute(raw string) (string, error) {
	s := raw
	for range maxSubstitutions {
		from, to := variable(s)
		if from < 0 {
			return s, nil
		}
		val, ok := ps.lookup(s[from+2 : to-1])
		switch {
		case !ok:
			return s, nil
		case strings.Contains(val, s[from:to]):
			return raw, nil
		}
		if s = s[:from] + val + s[to:]; len(s) > maxValue {
			return "", fmt.Errorf("the value grows beyond a mebibyte")
		}
	}
	if from, to := variable(s); from >= 0 {
		return "", fmt.Errorf("%s needs more than %d substitutions; does it refer to itself?", s[from:to], maxSubstitutions)
	}
	return s, nil
}

// lookup returns what ${name} stands for.
func (ps *properties) lookup(name string) (string, bool) {
	if env, ok := strings.CutPrefix(name, "env."); ok {
		for i := range len(env) {
			if env[i] == '-' {
				if v, ok := ps.outside("env." + env[:i]); ok {
					return v, true
				}
				return env[i+1:], true
			}
			if strings.HasPrefix(env[i:], ":-") {
				if v, _ := ps.outside("env." + env[:i]); v != "" {
					return v, true
				}
				return env[i+2:], true
			}
		}
	}
	if v, ok := ps.outside(name); ok {
		return v, true
	}
	if now, old := renamed[name]; old {
		name = now
	}
	if p := ps.m[name]; p != nil {
		p.used = true
		return p.raw, true
	}
	v, ok := defaults[name]
	return v, ok
}

// variable returns where the first innermost ${name} stands, or −1.
func variable(s string) (from, to int) {
	from = -1
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			from = i
			i++
		case s[i] == '$' || s[i] == ' ':
			from = -1
		case s[i] == '}' && from >= 0:
			if i > from+2 {
				return from, i + 1
			}
			from = -1
		}
	}
	return -1, -1
}

// list returns all properties by name; where a ${…} cannot be replaced the value is as it was written.
func (ps *properties) list() []Property {
	out := make([]Property, 0, len(ps.m))
	for name, p := range ps.m {
		v, err := ps.substitute(p.raw)
		if err != nil {
			v = p.raw
		}
		out = append(out, Property{name, v, p.final, p.file})
	}
	slices.SortFunc(out, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// first returns the first of the properties that is set.
func (ps *properties) first(names ...string) *property {
	for _, n := range names {
		if p := ps.m[n]; p != nil {
			return p
		}
	}
	return nil
}

// bad logs that a property's value cannot be used.
func (ps *properties) bad(p *property, format string, args ...any) {
	ps.log.fail(p.file, p.line, p.name, format, args...)
}

// text returns a trimmed value, or the default.
func (ps *properties) text(name, def string) string {
	if v, p := ps.value(name); p != nil {
		return strings.TrimSpace(v)
	}
	return def
}

// given returns a trimmed value; p is nil where the property is unset or blank, which YARN's own defaults
// use for unset.
func (ps *properties) given(name string) (v string, p *property) {
	if v, p = ps.value(name); p == nil || strings.TrimSpace(v) == "" {
		return "", nil
	}
	return strings.TrimSpace(v), p
}

// flag returns a boolean. What is neither true nor false is the default, as in Hadoop, and noted.
func (ps *properties) flag(name string, def bool) bool {
	v, p := ps.value(name)
	if p == nil {
		return def
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		return true
	case "false":
		return false
	}
	ps.log.note(Remark, p.file, p.line, name, "%q is neither true nor false; it counts as %v", v, def)
	return def
}

// integer returns a whole number of at least low.
func (ps *properties) integer(name string, def, low int64) int64 {
	v, p := ps.value(name)
	if p == nil {
		return def
	}
	n, err := parseInt(v)
	switch {
	case err != nil:
		ps.bad(p, "%q is not a whole number", strings.TrimSpace(v))
	case n < low:
		ps.bad(p, "%d is too small; at least %d is expected", n, low)
	case n > math.MaxInt32:
		ps.bad(p, "%d is too large; at most %d is expected", n, math.MaxInt32)
	default:
		return n
	}
	return def
}

// number returns a float of at least low, in Hadoop's 32 bits.
func (ps *properties) number(name string, def, low float64) float64 {
	v, p := ps.value(name)
	if p == nil {
		return float64(float32(def))
	}
	f, err := parseFloat(v)
	switch {
	case err != nil:
		ps.bad(p, "%q is not a number", strings.TrimSpace(v))
	case f < low:
		ps.bad(p, "%v is too small; at least %v is expected", f, low)
	default:
		return f
	}
	return float64(float32(def))
}

// millis returns a span given in milliseconds.
func (ps *properties) millis(name string, def, low int64) heddle.Span {
	return heddle.Span(ps.integer(name, def, low)) * heddle.Millisecond
}

// timeUnits are the units of a time in Hadoop.
var timeUnits = []struct {
	suffix string
	span   heddle.Span
}{{"ns", 1}, {"us", 1000}, {"ms", heddle.Millisecond}, {"s", heddle.Second}, {"m", heddle.Minute}, {"h", heddle.Hour}, {"d", 24 * heddle.Hour}}

// duration returns a span of whole milliseconds, which is given in milliseconds or with a unit.
func (ps *properties) duration(name string, def, low int64) heddle.Span {
	v, p := ps.value(name)
	if p == nil {
		return heddle.Span(def) * heddle.Millisecond
	}
	digits, in := strings.ToLower(strings.TrimSpace(v)), heddle.Millisecond
	for _, u := range timeUnits {
		if rest, ok := strings.CutSuffix(digits, u.suffix); ok {
			digits, in = rest, u.span
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil:
		ps.bad(p, "%q is not a time; expected a whole number of milliseconds, or one with a unit: ns, us, ms, s, m, h or d", strings.TrimSpace(v))
	case n > math.MaxInt64/int64(in):
		ps.bad(p, "%q is too large", strings.TrimSpace(v))
	case n < 0 || heddle.Span(n)*in < heddle.Span(low)*heddle.Millisecond:
		ps.bad(p, "%q is too small; at least %d ms is expected", strings.TrimSpace(v), low)
	default:
		return heddle.Span(n) * in / heddle.Millisecond * heddle.Millisecond
	}
	return heddle.Span(def) * heddle.Millisecond
}

// seconds returns a span of at least one second, given in seconds.
func (ps *properties) seconds(name string, def int64) heddle.Span {
	return heddle.Span(ps.integer(name, def, 1)) * heddle.Second
}

// parseInt reads decimal and, as Hadoop does, 0x… numbers.
func parseInt(s string) (int64, error) {
	s = strings.TrimSpace(s)
	if h, ok := strings.CutPrefix(s, "0x"); ok {
		return strconv.ParseInt(h, 16, 64)
	}
	return strconv.ParseInt(s, 10, 64)
}

// parseFloat reads a finite number as Java's Float does, and returns its 32-bit value.
func parseFloat(s string) (float64, error) {
	s = strings.TrimSpace(s)
	if n := len(s); n > 1 && strings.ContainsRune("fFdD", rune(s[n-1])) && !strings.ContainsAny(s, "xX") {
		s = s[:n-1]
	}
	f, err := strconv.ParseFloat(s, 32)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || strings.Contains(s, "_") {
		return 0, strconv.ErrSyntax
	}
	return f, nil
}
