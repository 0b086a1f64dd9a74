package report

import (
	"math"
	"strconv"
	"strings"

	"heddle"
)

const none = "–" // where a figure does not apply

// seconds writes a length of time for people, with about three digits: 12.3 s, 4 m 10 s, 1 h 12 m, 2 d 5 h.
func seconds(s float64) string {
	switch {
	case math.IsNaN(s):
		return none
	case s == 0:
		return "0 s"
	case s < 0.095:
		return strconv.FormatFloat(s, 'f', 3, 64) + " s"
	case s < 59.95:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	case s < 3599.5:
		return twoUnits(s, 60, "m", "s")
	case s < 48*3600-30:
		return twoUnits(s/60, 60, "h", "m")
	}
	return twoUnits(s/3600, 24, "d", "h")
}

func twoUnits(x float64, per int64, large, small string) string {
	n := int64(math.Round(x))
	return count(float64(n/per)) + " " + large + " " + strconv.FormatInt(n%per, 10) + " " + small
}

// tick writes a time on an axis: like seconds, but to a thousandth of a second below a minute, and without parts that
// are zero.
func tick(s float64) string {
	if s < 60 {
		return strconv.FormatFloat(math.Round(s*1000)/1000, 'f', -1, 64) + " s" // 3 × 0.2 is a little more than 0.6
	}
	t := seconds(s)
	for _, zero := range []string{" 0 s", " 0 m", " 0 h"} {
		t = strings.TrimSuffix(t, zero)
	}
	return t
}

// instant writes a time on an axis in full, to a thousandth of a second however late.
func instant(s float64) string {
	left := int64(math.Round(s * 1000))
	var parts []string
	for _, u := range []struct {
		of   int64
		name string
	}{{86400_000, " d"}, {3600_000, " h"}, {60_000, " m"}} {
		if n := left / u.of; n > 0 {
			parts = append(parts, count(float64(n))+u.name)
		}
		left %= u.of
	}
	if left > 0 || len(parts) == 0 {
		parts = append(parts, strconv.FormatFloat(float64(left)/1000, 'f', -1, 64)+" s")
	}
	return strings.Join(parts, " ")
}

// clock writes an instant of a run, to a tenth of a second however late.
func clock(t heddle.Time) string {
	tenths := int64(math.Round(t.Seconds() * 10))
	s := ""
	if h := tenths / 36000; h > 0 {
		s += strconv.FormatInt(h, 10) + " h "
	}
	if m := tenths / 600; m > 0 {
		s += strconv.FormatInt(m%60, 10) + " m "
	}
	return s + strconv.FormatFloat(float64(tenths%600)/10, 'f', -1, 64) + " s"
}

// percent writes a fraction.
func percent(f float64) string {
	if math.IsNaN(f) {
		return none
	}
	return strconv.FormatFloat(100*f, 'f', 1, 64) + " %"
}

// ratio writes a quotient.
func ratio(f float64) string {
	if math.IsNaN(f) {
		return none
	}
	return strconv.FormatFloat(f, 'f', 2, 64) + " ×"
}

// count writes a number of things with thousands separators; means over seeds may be fractional.
func count(f float64) string {
	if math.IsNaN(f) {
		return none
	}
	digits, tenths := strconv.FormatFloat(math.Abs(f), 'f', 0, 64), ""
	if math.Abs(f-math.Round(f)) > 1e-9 {
		digits, tenths, _ = strings.Cut(strconv.FormatFloat(math.Abs(f), 'f', 1, 64), ".")
		tenths = "." + tenths
	}
	var b strings.Builder
	if f < 0 {
		b.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String() + tenths
}

// between writes the range of two formatted values, with common parts only once: 3.9–4.6 s, 1 h 4–9 m.
func between(low, high string) string {
	if low == high {
		return low
	}
	l, h := strings.Fields(low), strings.Fields(high)
	switch {
	case len(l) == 4 && len(h) == 4 && l[0] == h[0] && l[1] == h[1]:
		return strings.Join(l[:3], " ") + "–" + strings.Join(h[2:], " ")
	case len(l) == 2 && len(h) == 2 && l[1] == h[1]:
		return l[0] + "–" + high
	}
	return low + "–" + high
}

// some writes a number of things with the right noun.
func some(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(float64(n)) + " " + more
}

// seedRange writes seeds for people: 1–5, or 1, 3, 9.
func seedRange(seeds []uint64) string {
	n := len(seeds)
	if n > 2 && seeds[n-1]-seeds[0] == uint64(n-1) {
		return strconv.FormatUint(seeds[0], 10) + "–" + strconv.FormatUint(seeds[n-1], 10)
	}
	texts := make([]string, n)
	for i, s := range seeds {
		texts[i] = strconv.FormatUint(s, 10)
	}
	return strings.Join(texts, ", ")
}
