package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/internal/plain"
)

// TableOptions says what the terminal can do.
type TableOptions struct {
	Colour bool // the writer is a terminal; NO_COLOR in the environment overrides it
	Width  int  // available columns, at least 40; 0 means 120. Profiles that do not fit go into another table below
}

const (
	defaultWidth = 120
	leastWidth   = 40
	mark         = "•" // the best value of a row
	shownDefects = 5
	gap          = 2  // between columns
	labelled     = 12 // width of a paragraph's label
	headed       = 26 // width that a profile's name may take in columns that need less
)

// Table writes the result for people: metrics as rows, profiles as columns, each value being the mean over seeds
// followed by the lowest and highest; below that, what was run and what was assumed. It returns w's error.
func Table(w io.Writer, c *Comparison, o TableOptions) error {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, leastWidth)
	ink := ink{o.Colour && os.Getenv("NO_COLOR") == ""}
	sums := c.Summaries()
	columns := make([][]string, len(sums))
	lines := shown(sums)
	for _, r := range lines {
		best := r.best(sums)
		for i := range sums {
			columns[i] = append(columns[i], r.format(sums[i].Mean[r.metric]), r.spread(&sums[i]), pick(best[i], mark, ""))
		}
	}
	var b strings.Builder
	for from := 0; from < len(sums); {
		cells, to := layOut(columns, c.Profiles, from, o.Width, ink)
		b.WriteString(grid(lines, cells))
		b.WriteString("\n")
		from = to
	}
	legend(&b, c, sums, o.Width, ink)
	if v, ok := against(sums); ok {
		for _, line := range wrap(v.title+", "+v.rule()+":", o.Width-1) {
			b.WriteString(" " + line + "\n")
		}
		paragraphs(&b, v.topics(o.Width-labelled), o.Width, ink)
		b.WriteString("\n")
	}
	paragraphs(&b, c.topics(shownDefects), o.Width, ink)
	_, err := io.WriteString(w, b.String())
	return err
}

func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// ink colours text if it is on.
type ink struct{ on bool }

func (k ink) bold(s string) string { return k.with("1", s) }
func (k ink) dim(s string) string  { return k.with("2", s) }
func (k ink) good(s string) string { return k.with("32", s) }

func (k ink) with(code, s string) string {
	if !k.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// layOut makes the cells of as many profiles, starting with from, as fit into the width, and of at least one. A column
// consists of triples of value, spread and mark; values are right-aligned, spreads left-aligned. Its first cell is the
// profile's name, in lines.
func layOut(columns [][]string, profiles []ProfileRuns, from, width int, k ink) (cells [][]string, to int) {
	used := gap
	for _, r := range rows {
		used = max(used, gap+utf8.RuneCountInString(r.label))
	}
	for to = from; to < len(columns); to++ {
		var value, whole int
		for i := 0; i < len(columns[to]); i += 3 {
			value = max(value, utf8.RuneCountInString(columns[to][i]))
		}
		var out []string
		for i := 0; i < len(columns[to]); i += 3 {
			out = append(out, cell(columns[to][i:i+3], value, k))
			whole = max(whole, text.StringWidthWithoutEscSequences(out[len(out)-1]))
		}
		head := wrap(profiles[to].Name, max(whole, headed))
		for i, line := range head {
			whole = max(whole, utf8.RuneCountInString(line))
			head[i] = k.bold(line)
		}
		if used += whole + gap; used > width && to > from {
			break
		}
		cells = append(cells, append([]string{strings.Join(head, "\n")}, out...))
	}
	return cells, to
}

func cell(triple []string, width int, k ink) string {
	value, spread, mark := triple[0], triple[1], triple[2]
	s := text.AlignRight.Apply(value, width)
	switch {
	case mark != "":
		s = k.good(s) + " " + k.good(mark)
	case spread != "":
		s += "  "
	}
	if spread != "" {
		s += " " + k.dim(spread)
	}
	return s
}

func grid(rows []row, cells [][]string) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	header := table.Row{""}
	for _, column := range cells {
		header = append(header, column[0])
	}
	t.AppendHeader(header)
	for i, r := range rows {
		if r.first && i > 0 {
			t.AppendSeparator()
		}
		line := table.Row{r.label}
		for _, column := range cells {
			line = append(line, column[i+1])
		}
		t.AppendRow(line)
	}
	return t.Render() + "\n"
}

// legend explains the marks and figures above.
func legend(b *strings.Builder, c *Comparison, sums []Summary, width int, k ink) {
	var parts []string
	if n := len(c.Seeds()); n > 1 {
		parts = append(parts, fmt.Sprintf("mean over %d seeds, lowest–highest", n))
	}
	if n := rivals(sums); n > 1 {
		parts = append(parts, mark+" best of the row"+pick(n < len(sums), " among those that completed the most jobs", ""))
	}
	parts = append(parts, "JCT submission to the master's end, of jobs that succeeded")
	lines := wrap(strings.Join(parts, "; "), width-1)
	if s := wonLine(sums, len(c.Seeds())); s != "" {
		lines = append(lines, wrap(s, width-1)...)
	}
	for _, line := range lines {
		b.WriteString(" " + strings.Replace(line, mark, k.good(mark), 1) + "\n")
	}
	b.WriteString("\n")
}

// wrap breaks a text into lines. The text may contain strings chosen by others.
func wrap(s string, width int) []string {
	lines := strings.Split(text.WrapSoft(plain.Line(s), width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// wonLine says under how many seeds each profile had the lowest mean JCT.
func wonLine(sums []Summary, seeds int) string {
	if seeds < 2 || rivals(sums) < 2 {
		return ""
	}
	won := make([]string, len(sums))
	for i, s := range sums {
		won[i] = fmt.Sprintf("%s %d", s.Profile, s.Won)
	}
	return fmt.Sprintf("lowest mean JCT, of %d seeds: %s", seeds, strings.Join(won, ", "))
}

// paragraphs writes topics, one paragraph each.
func paragraphs(b *strings.Builder, topics []topic, width int, k ink) {
	for _, topic := range topics {
		for i, line := range topic.lines {
			label := pick(i == 0, topic.label, "")
			for j, part := range wrap(line, width-labelled) {
				b.WriteString(" " + k.dim(text.AlignLeft.Apply(pick(j == 0, label, ""), 9)) + "  " + part + "\n")
			}
		}
	}
}
