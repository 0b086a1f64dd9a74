package rm

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// text formats like package fmt, which a machine without I/O does not link: %s for strings and anything with a String
// method, %d for integers, %q for quoted strings.
func text(format string, args ...any) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(format, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s := word(args[0])
		if after[0] == 'q' {
			s = strconv.Quote(s)
		}
		b.WriteString(s)
		format, args = after[1:], args[1:]
	}
}

// word formats one value.
func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case int32:
		return strconv.Itoa(int(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case error:
		return v.Error()
	case interface{ String() string }:
		return v.String()
	}
	panic("rm: a sentence about a value of a type that has no words")
}

// Clip cuts a text to at most n bytes, at a character boundary: whoever sent it, it is kept and shown.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
