package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

func TestTableGolden(t *testing.T) {
	golden(t, "worked.txt", func(w io.Writer) error { return Table(w, worked(), TableOptions{}) })
	golden(t, "three.txt", func(w io.Writer) error { return Table(w, usual().build(), TableOptions{}) })
	one := usual()
	one.profiles, one.seeds = one.profiles[1:2], 1
	golden(t, "one.txt", func(w io.Writer) error { return Table(w, one.build(), TableOptions{Width: 80}) })
	cut := usual()
	cut.profiles, cut.incomplete = append(cut.profiles, "fair+coupling", "dress"), true
	c := cut.build()
	c.Profiles[4].Runs[0].Cut = true
	c.Profiles = append(c.Profiles, ProfileRuns{Name: "ikayak"})
	golden(t, "six.txt", func(w io.Writer) error { return Table(w, c, TableOptions{Width: 100}) })
}

func render(t *testing.T, c *Comparison, o TableOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Table(&b, c, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableFits(t *testing.T) {
	f := usual()
	f.profiles = append(f.profiles, "fair+coupling", "dress", "ikayak", "heddle --agent --as stock",
		"fair (place.map={delay: {node_wait: 5, rack_wait: 5}}) --agent --as stock")
	for _, width := range []int{80, 100, 120, 200} {
		for line := range strings.SplitSeq(render(t, f.build(), TableOptions{Width: width}), "\n") {
			if n := text.StringWidthWithoutEscSequences(line); n > width {
				t.Errorf("at %d columns a line has %d: %s", width, n, line)
			}
		}
	}
}

// On a terminal with hardly any columns, lines are longer than it is wide, and no text is lost.
func TestTableOnNarrowTerminal(t *testing.T) {
	c := usual().build()
	if got, want := render(t, c, TableOptions{Width: 10}), render(t, c, TableOptions{Width: 40}); got != want {
		t.Errorf("at 10 columns:\n%s\nand at 40:\n%s", got, want)
	}
}

func TestTableColour(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	c := usual().build()
	plain := render(t, c, TableOptions{})
	coloured := render(t, c, TableOptions{Colour: true})
	if strings.Contains(plain, "\x1b") {
		t.Error("colour was not wanted and came")
	}
	if !strings.Contains(coloured, "\x1b[32m") {
		t.Error("colour was wanted and did not come")
	}
	if text.StripEscape(coloured) != plain {
		t.Error("without its colours the coloured table differs from the plain one")
	}
	t.Setenv("NO_COLOR", "1")
	if render(t, c, TableOptions{Colour: true}) != plain {
		t.Error("NO_COLOR is not honoured")
	}
}

// The simulated ResourceManager is named once if it is the same for all profiles, and otherwise for each.
func TestTableSaysWhatWasSimulated(t *testing.T) {
	c := usual().build()
	if text := render(t, c, TableOptions{}); !strings.Contains(text, "\n simulated  heddle rm, without node agents\n world ") {
		t.Errorf("one line is wanted for all:\n%s", text)
	}
	c.Profiles[0].Stock = true
	c.Profiles[2].Agent = true
	want := "\n simulated  a stock ResourceManager, without node agents: capacity\n" +
		"            heddle rm, without node agents: fair\n" +
		"            heddle rm, with a node agent beside every NodeManager: fifo\n world "
	if text := render(t, c, TableOptions{}); !strings.Contains(text, want) {
		t.Errorf("a line for each is wanted:\n%s", text)
	}
	c.Profiles[2].Ideal = true
	if text := render(t, c, TableOptions{}); !strings.Contains(text, "\n            heddle rm, with an ideal node agent beside every NodeManager: fifo\n world ") {
		t.Errorf("%s", text)
	}
	c.Profiles[2].Agent = false
	if text := render(t, c, TableOptions{}); !strings.Contains(text, "\n            heddle rm, without node agents: fair, fifo\n world ") {
		t.Errorf("one line for two that are alike is wanted:\n%s", text)
	}
	if page := write(t, c); !strings.Contains(page, ">a stock ResourceManager, without node agents; heddle rm, without node agents · 3 profiles · ") {
		t.Error("the page's subtitle does not say what was simulated")
	}
}
