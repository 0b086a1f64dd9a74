package plain

import (
	"strconv"
	"strings"
	"unicode"
)

// Line returns untrusted text in a form that is safe in a line on a terminal. Line ends and tabs become spaces. Other
// control characters, which a terminal takes for commands, are escaped: \x1b. So are characters that change the
// direction of the text after them: \u202e. Invalid UTF-8 becomes U+FFFD.
func Line(s string) string { return shown(s, "") }

// Lines is Line for text of several lines: it keeps line ends and tabs.
func Lines(s string) string { return shown(s, "\n\t") }

// turns reports whether a character changes the direction in which the text after it is written.
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
