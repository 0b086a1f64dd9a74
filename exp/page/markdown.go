package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape keeps text from becoming markup.
func escape(s string) string { return escaper.Replace(s) }

var (
	escaper     = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "\n", " ")
	bracketless = strings.NewReplacer("[", "(", "]", ")", "\n", " ")
)

// upperFirst capitalises the first letter of a sentence; a symbol at the beginning is left alone.
func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if next, m := utf8.DecodeRuneInString(s[n:]); n == 0 || m == 0 || !unicode.IsLetter(next) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// An mdTable is a table in Markdown.
type mdTable struct {
	head    []string
	numbers map[int]bool // columns that are aligned right
	rows    [][]string
}

func newTable(head ...string) *mdTable { return &mdTable{head: head, numbers: map[int]bool{}} }

func (t *mdTable) right(columns ...int) {
	for _, c := range columns {
		t.numbers[c] = true
	}
}

func (t *mdTable) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *mdTable) String() string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(t.head)
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---"
		if t.numbers[i] {
			rule[i] = "---:"
		}
	}
	line(rule)
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}
