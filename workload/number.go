package workload

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// wholeNumber reads a whole number from 0 to limit, written as 12, 12.0 or 1.2e1.
func wholeNumber(field string, text []byte, limit int64) (int64, *fault) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(string(text), 64)
		switch {
		case ferr != nil && math.IsInf(f, 0):
			return 0, faultf(field, "%s is too large; at most %d", clip(text), limit)
		case ferr != nil || f != math.Trunc(f):
			return 0, faultf(field, "%q is not a whole number", clip(text))
		case f > float64(limit):
			return 0, faultf(field, "%s is too large; at most %d", clip(text), limit)
		case f < 0:
			return 0, faultf(field, "%s is negative", clip(text))
		}
		n = int64(f)
	}
	if n < 0 {
		return 0, faultf(field, "%d is negative", n)
	}
	if n > limit {
		return 0, faultf(field, "%d is too large; at most %d", n, limit)
	}
	return n, nil
}

// decimal reads a number from 0 to limit.
func decimal(field string, text []byte, limit float64) (float64, *fault) {
	f, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil && !math.IsInf(f, 0) || f != f:
		return 0, faultf(field, "%q is not a number", clip(text))
	case f < 0:
		return 0, faultf(field, "%s is negative", clip(text))
	case f > limit:
		return 0, faultf(field, "%s is too large; at most %g", clip(text), limit)
	}
	return f, nil
}

// clip shortens text that is quoted in a message.
func clip(text []byte) string {
	const most = 60
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// fields holds the members of a JSON object.
type fields map[string]json.RawMessage

// has reports whether a member is present and not null.
func (f fields) has(key string) bool {
	v, ok := f[key]
	return ok && !bytes.Equal(v, []byte("null"))
}

// number reads a member that is a number or a string holding one; it returns def if the member is missing.
func (f fields) number(key string, def, limit int64) (int64, *fault) {
	if !f.has(key) {
		return def, nil
	}
	return wholeNumber(key, bytes.TrimSpace([]byte(f.text(key))), limit)
}

// text returns a string member, or any other member as written; "" if it is missing.
func (f fields) text(key string) string {
	if !f.has(key) {
		return ""
	}
	var s string
	if json.Unmarshal(f[key], &s) == nil {
		return s
	}
	return string(f[key])
}
