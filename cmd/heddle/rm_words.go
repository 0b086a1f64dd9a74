package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"heddle/rm"
)

// amountText formats an amount for sentences: 1.5 GiB and 2 vcores. Zero parts are left out, unless all are zero.
func amountText(a rm.Amount) string {
	var parts []string
	if a.MemoryMiB != 0 {
		parts = append(parts, mem(a.MemoryMiB))
	}
	if a.Vcores != 0 {
		parts = append(parts, coresText(a.Vcores))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Extra)) {
		parts = append(parts, fmt.Sprintf("%d %s", a.Extra[name], name))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	last := len(parts) - 1
	return strings.Join(append(parts[:max(last-1, 0)], strings.Join(parts[max(last-1, 0):], " and ")), ", ")
}

func coresText(n float64) string {
	if n == 1 {
		return "1 vcore"
	}
	return vcores(n) + " vcores"
}

// mem formats an amount of memory in MiB.
func mem(mib int64) string {
	if mib < 0 {
		return ""
	}
	return amount(mib << 20)
}

func vcores(n float64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// moment formats a time in milliseconds since 1970, in the local zone; it returns "" for 0.
func moment(ms int64) string {
	if ms <= 0 {
		return ""
	}
	return time.UnixMilli(ms).Format(time.DateTime)
}

// lasting formats a length of time in milliseconds: 12 s, 4 m 10 s.
func lasting(ms int64) string {
	if ms < 0 {
		return ""
	}
	if ms < 10_000 {
		return span(float64(ms) / 1000)
	}
	if ms < 59_500 {
		return fmt.Sprintf("%d s", (ms+500)/1000)
	}
	return span(float64(max(ms, 60_000)) / 1000)
}

// ago formats how long before now a time was.
func ago(ms int64, now time.Time) string {
	if ms <= 0 {
		return "never"
	}
	return lasting(max(0, now.UnixMilli()-ms)) + " ago"
}

// percent formats a percentage with at most one decimal.
func percent(x float64) string {
	if x < 0 {
		return ""
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") + " %"
}

// share formats a fraction as a percentage; it returns "" if it does not apply.
func share(f rm.Fraction) string { return percent(float64(100 * f)) }

// snip shortens a text to a number of terminal columns.
func snip(s string, columns int) string {
	if lipgloss.Width(s) <= columns {
		return s
	}
	room := columns - 1 // one is for the ellipsis
	for i, r := range s {
		if room -= lipgloss.Width(string(r)); room < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// counted lists counts with their words, largest first.
func counted(counts map[string]uint32, words func(string) string, most int) string {
	keys := make([]string, 0, len(counts))
	for k, n := range counts {
		if n > 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var parts []string
	for i, k := range keys {
		if i == most {
			parts = append(parts, fmt.Sprintf("and for %d other reasons", len(keys)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", words(k), times(counts[k])))
	}
	return strings.Join(parts, ", ")
}

func times(n uint32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
