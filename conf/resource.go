package conf

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"heddle"
	"heddle/internal/unit"
)

// Types are the names of a cluster's resources beside memory and vcores, in the order of the extra
// dimensions.
type types []string

// dim returns the dimension of a resource name, and whether the cluster has such a resource.
func (t types) dim(name string) (heddle.Dim, bool) {
	switch name {
	case "memory-mb":
		return heddle.Memory, true
	case "vcores":
		return heddle.CPU, true
	}
	for i, n := range t {
		if n == name {
			return heddle.Extra1 + heddle.Dim(i), true
		}
	}
	return 0, false
}

// known lists the resource names for error messages.
func (t types) known() string {
	return strings.Join(append([]string{"memory-mb", "vcores"}, t...), ", ")
}

// units turns an amount as Hadoop writes it (MiB, vcores, whole units) into the dimension's units.
// Amounts no cluster has become [heddle.Unbounded].
func units(d heddle.Dim, n int64) int64 {
	if n > heddle.Unbounded[d]/d.Unit() {
		return heddle.Unbounded[d]
	}
	return n * d.Unit()
}

// show writes an amount in Hadoop's units.
func (t types) show(r heddle.Resource) string {
	if r == heddle.Unbounded {
		return "no limit"
	}
	var parts []string
	names := append([]string{"MiB", "vcores"}, t...)
	for d := heddle.Memory; int(d) < len(names); d++ {
		if d > heddle.CPU && r[d] == 0 {
			continue
		}
		n := strconv.FormatInt(r[d]/d.Unit(), 10)
		if r[d] >= heddle.Unbounded[d] {
			n = "any"
		}
		parts = append(parts, n+" "+names[d])
	}
	return strings.Join(parts, ", ")
}

var amount = regexp.MustCompile(`^([0-9]+) ?([a-zA-Z]*)$`)

// parseAmount reads "8192" or "8Gi"; the result is in MiB for memory, else in whole units.
func parseAmount(d heddle.Dim, s string) (int64, error) {
	m := amount.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, fmt.Errorf("%q is not an amount; expected a whole number, for memory in MiB or with a unit such as Gi", s)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is too large", s)
	}
	mib, ok := unit.Convert(n, m[2], "Mi")
	switch {
	case m[2] == "":
		return n, nil
	case !ok:
		return 0, fmt.Errorf("%q has an unknown unit; expected one of k, M, G, T, P, Ki, Mi, Gi, Ti, Pi", s)
	case d != heddle.Memory:
		return 0, fmt.Errorf("%q has a unit, which only memory can have", s)
	case mib > math.MaxInt64/4:
		return 0, fmt.Errorf("%q is too large", s)
	}
	return mib, nil
}

var bracket = regexp.MustCompile(`^\[[\w.,\-_=% /]+\]$`)

// parseAbsolute reads the capacity of a queue as an amount: [memory=8192,vcores=8]. Names that are no
// resource of the cluster are returned, as Hadoop passes over them.
func (t types) parseAbsolute(s string) (r heddle.Resource, unknown []string, err error) {
	if !bracket.MatchString(s) {
		return r, nil, fmt.Errorf("%q is not a list of resources; expected [memory=8192,vcores=8]", s)
	}
	for pair := range strings.SplitSeq(s[1:len(s)-1], ",") {
		name, val, ok := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !ok {
			return r, nil, fmt.Errorf("%q lacks its amount; expected name=amount", pair)
		}
		if strings.ContainsAny(val, "%.") || strings.HasSuffix(strings.TrimSpace(val), "w") {
			return r, nil, fmt.Errorf("%q mixes percentages or weights into a list of amounts, which only Hadoop's non-legacy queue mode supports; give whole amounts", pair)
		}
		if name == "memory" {
			name = "memory-mb"
		}
		d, ok := t.dim(name)
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		n, err := parseAmount(d, val)
		if err != nil {
			return r, nil, err
		}
		r[d] = units(d, n)
	}
	return r, unknown, nil
}

// parseMaximum reads a largest container: memory-mb=4096,vcores=4.
func (t types) parseMaximum(s string) (heddle.Resource, error) {
	var r heddle.Resource
	for pair := range strings.SplitSeq(s, ",") {
		name, val, ok := strings.Cut(pair, "=")
		if !ok {
			return r, fmt.Errorf("%q lacks its amount; expected memory-mb=4096,vcores=4", strings.TrimSpace(pair))
		}
		if name = strings.TrimSpace(name); name == "memory" {
			name = "memory-mb"
		} else if name == "gpu" || name == "fpga" {
			name = "yarn.io/" + name
		}
		d, ok := t.dim(name)
		if !ok {
			return r, fmt.Errorf("%q is not a resource of this cluster; the cluster has %s", name, t.known())
		}
		val = strings.TrimSpace(val)
		if u := strings.TrimRight(val, "mMgG"); len(u) == len(val)-1 && d == heddle.Memory {
			val = u + strings.ToUpper(val[len(u):]) + "i"
		} else if strings.Trim(val, "0123456789") != "" {
			return r, fmt.Errorf("%q is not an amount; expected a whole number, for memory in MiB or with the unit M or G", val)
		}
		n, err := parseAmount(d, val)
		if err != nil {
			return r, err
		}
		r[d] = units(d, n)
	}
	return r, nil
}
