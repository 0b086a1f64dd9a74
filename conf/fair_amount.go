package conf

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"heddle"
	"heddle/policies/fair"
)

// amount reads an amount of resources in any of the forms Hadoop knows. What is not named is rest.
func (r *fairReader) amount(n *node, rest heddle.Resource) (fair.Amount, bool) {
	a, err := r.types.parseShare(n.text, rest)
	if err != nil {
		r.bad(n, "%v", err)
		return fair.Amount{}, false
	}
	return a, true
}

// parseShare reads "1024 mb, 4 vcores", "50%", "40% memory, 60% cpu", "memory-mb=1024, vcores=4" or
// "memory-mb=40%, vcores=60%".
func (t types) parseShare(s string, rest heddle.Resource) (fair.Amount, error) {
	switch {
	case s == "":
		return fair.Amount{}, errors.New("is empty; expected amounts such as \"1024 mb, 4 vcores\" or \"50%\"")
	case strings.Contains(s, "="):
		return t.parseNamed(s, rest)
	case strings.Contains(s, "%"):
		return t.parsePercent(strings.ToLower(s))
	}
	return t.parsePlain(strings.ToLower(s), rest)
}

// parseNamed reads name=amount pairs, all amounts or all percentages.
func (t types) parseNamed(s string, rest heddle.Resource) (fair.Amount, error) {
	a := fair.Amount{Set: true, Fixed: rest}
	percent := strings.Contains(s, "%")
	if percent {
		a.Fixed = heddle.Resource{}
		for d := range a.Fraction {
			a.Fraction[d] = 1
		}
	}
	for pair := range strings.SplitSeq(s, ",") {
		name, val, ok := strings.Cut(pair, "=")
		name, val = strings.TrimSpace(name), strings.TrimSpace(val)
		if !ok || strings.Contains(val, "=") {
			return fair.Amount{}, fmt.Errorf("%q is not name=value; expected, for example, memory-mb=1024, vcores=4", strings.TrimSpace(pair))
		}
		d, ok := t.dim(name)
		if !ok {
			return fair.Amount{}, fmt.Errorf("%q is not a resource of this cluster; the cluster has %s", name, t.known())
		}
		if percent {
			f, err := parsePercentage(val, "")
			if err != nil {
				return fair.Amount{}, fmt.Errorf("%w; when one amount is a percentage all must be", err)
			}
			a.Fraction[d] = f
			continue
		}
		n, err := strconv.ParseInt(val, 10, 64)
		if err != nil || n < 0 {
			return fair.Amount{}, fmt.Errorf("%q is not a whole number of at least 0 for %s", val, name)
		}
		a.Fixed[d] = units(d, n)
	}
	return a, nil
}

// parsePercent reads one percentage for everything, or one each of memory and cpu.
func (t types) parsePercent(s string) (fair.Amount, error) {
	a := fair.Amount{Set: true}
	parts := strings.Split(s, ",")
	if len(parts) == 1 {
		f, err := parsePercentage(strings.TrimSpace(s), "")
		if err != nil {
			return fair.Amount{}, err
		}
		for d := range a.Fraction {
			a.Fraction[d] = f
		}
		return a, nil
	}
	for i, name := range []string{"memory", "cpu"} {
		part, ok := containing(parts, name)
		if !ok {
			return fair.Amount{}, fmt.Errorf("%q lacks a percentage of %s; expected \"40%% memory, 60%% cpu\"", s, name)
		}
		f, err := parsePercentage(part, name)
		if err != nil {
			return fair.Amount{}, err
		}
		a.Fraction[i] = f
	}
	return a, nil
}

func containing(parts []string, word string) (string, bool) {
	for _, p := range parts {
		if strings.Contains(p, word) {
			return strings.TrimSpace(p), true
		}
	}
	return "", false
}

var percentage = regexp.MustCompile(`^(\d+(?:\.\d*)?)\s*%\s*(.*)$`)

// parsePercentage reads "40.5 %" followed by the word.
func parsePercentage(s, word string) (float64, error) {
	m := percentage.FindStringSubmatch(s)
	if m == nil || m[2] != word {
		return 0, fmt.Errorf("%q is not a percentage of at least 0, such as %s", s, strings.TrimSpace("40% "+word))
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(m[1], "."), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is too large", s)
	}
	return f / 100, nil
}

var (
	plainAmount = regexp.MustCompile(`-?\d+(?:\.\d*)?\s*[a-z]+\s*`)
	plainNumber = regexp.MustCompile(`^(-?\d+)(?:\.\d*)?\s*(mb|vcores)`)
)

// parsePlain reads "1024 mb, 4 vcores" in any order, with or without the comma. A cluster's further
// resources are then 0, as in Hadoop.
func (t types) parsePlain(s string, rest heddle.Resource) (fair.Amount, error) {
	parts := strings.Split(s, ",")
	if len(parts) != 2 {
		parts = plainAmount.FindAllString(s, -1)
	}
	if len(parts) != 2 {
		return fair.Amount{}, fmt.Errorf("%q is not an amount of resources; expected \"1024 mb, 4 vcores\", \"50%%\" or \"memory-mb=1024, vcores=4\"", s)
	}
	a := fair.Amount{Set: true, Fixed: rest}
	for i := range t {
		a.Fixed[int(heddle.Extra1)+i] = 0
	}
	for d, unit := range []string{"mb", "vcores"} {
		part, ok := containing(parts, unit)
		if !ok {
			return fair.Amount{}, fmt.Errorf("%q lacks an amount in %s; expected \"1024 mb, 4 vcores\"", s, unit)
		}
		m := plainNumber.FindStringSubmatch(part)
		if m == nil || m[2] != unit {
			return fair.Amount{}, fmt.Errorf("%q is not a number of %s", part, unit)
		}
		n, err := strconv.ParseInt(m[1], 10, 32)
		if err != nil || n < 0 {
			return fair.Amount{}, fmt.Errorf("%q is not between 0 and 2147483647", part)
		}
		a.Fixed[d] = units(heddle.Dim(d), n)
	}
	return a, nil
}
