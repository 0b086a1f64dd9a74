package plain

import (
	"strconv"
	"strings"
	"unicode"
)

// Line is a text that somebody else chose as it may stand in a line on a terminal. Line ends and tabs become spaces. Other
// control characters, which a terminal takes for commands, are written out: \x1b. What is not UTF-8 becomes U+FFFD.
func Line(s string) string { return shown(s, "") }

// Lines is Line for a text of lines, whose ends and tabs stay.
func Lines(s string) string { return shown(s, "\n\t") }

func shown(s, keep string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unicode.IsControl(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case strings.ContainsRune("\n\r\t", r):
			b.WriteByte(' ')
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
