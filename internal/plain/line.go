package plain

import (
	"strconv"
	"strings"
	"unicode"
)

// Line is a text that somebody else chose as it may stand in a line on a terminal. Line ends and tabs become spaces. Other
// control characters, which a terminal takes for commands, are written out: \x1b. So are those that turn the direction of what
// follows them: \u202e. What is not UTF-8 becomes U+FFFD.
func Line(s string) string { return shown(s, "") }

// Lines is Line for a text of lines, whose ends and tabs stay.
func Lines(s string) string { return shown(s, "\n\t") }

// turns reports whether a character has what follows it, beyond its own text, written in another direction.
func turns(r rune) bool { return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' }

func shown(s, keep string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unicode.IsControl(r) && !turns(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case strings.ContainsRune("\n\r\t", r):
			b.WriteByte(' ')
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
