package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"heddle/workload"
)

const (
	mostNames   = 8 // the most users, queues, … on a line
	mostDefects = 20
)

// inspectTable writes a workload for people.
func inspectTable(w io.Writer, wl *workload.Workload) error {
	s := workload.Inspect(wl)
	t := newCard(w)
	t.line("workload", "%s (%s)", s.Name, s.Format)
	if s.Lines > 0 {
		t.line("records", "%d read, %d skipped", s.Lines, s.Skipped)
	}
	t.line("jobs", "%d over %s: %s", s.Jobs, span(s.SpanSeconds), names(s.Frameworks, ""))
	t.line("tasks", "%s", tasks(&s))
	if s.TaskSeconds > 0 {
		t.line("task time", "%s, by the durations that are stated", span(s.TaskSeconds))
	}
	t.line("users", "%s", names(s.Users, "not stated"))
	t.line("queues", "%s", names(s.Queues, "not stated"))
	t.line("programs", "%s", names(s.Programs, "not known"))
	if s.Hosts > 0 {
		t.line("hosts", "%d named", s.Hosts)
	}
	for i, f := range s.Filled {
		t.line(first(i, "filled"), "%s", f)
	}
	if len(s.Missing) > 0 {
		t.line("not stated", "%s", strings.Join(s.Missing, ", "))
	}
	for _, list := range []struct {
		label   string
		defects []workload.Defect
	}{{"skipped", wl.Skipped}, {"cut off", wl.Cut}} {
		for i, d := range list.defects {
			if i == mostDefects {
				t.line("", "and %d more; -o json lists all", len(list.defects)-i)
				break
			}
			t.line(first(i, list.label), "%s", d)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return bytesTable(w, &s)
}

// bytesTable writes the distribution of bytes over jobs, if there are any.
func bytesTable(w io.Writer, s *workload.Summary) error {
	if s.Input.Total == 0 && s.Shuffle.Total == 0 && s.Output.Total == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nbytes of a job\tmedian\tp90\tp99\tlargest\tall jobs\t\n")
	for _, row := range []struct {
		label string
		b     workload.Bytes
	}{{"input", s.Input}, {"shuffle", s.Shuffle}, {"output", s.Output}} {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t\n", row.label, amount(row.b.P50), amount(row.b.P90), amount(row.b.P99), amount(row.b.Max), amount(row.b.Total))
	}
	return t.Flush()
}

// first returns a label for the first of several lines, and "" for the others.
func first(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

func tasks(s *workload.Summary) string {
	var parts []string
	for _, k := range []struct {
		n    int
		noun string
	}{
		{s.Maps, "map"}, {s.Reduces, "reduce"}, {s.OtherTasks, "other container"}, {s.StageTasks, "Spark task"}, {s.Stages, "stage"},
	} {
		if k.n > 0 {
			parts = append(parts, plural(k.n, k.noun))
		}
	}
	return strings.Join(parts, ", ")
}

// names lists names with their jobs; unknown stands for the empty name.
func names(counts []workload.Count, unknown string) string {
	var parts []string
	for i, c := range counts {
		if i == mostNames {
			parts = append(parts, fmt.Sprintf("and %d more", len(counts)-i))
			break
		}
		if c.Name == "" {
			c.Name = unknown
		}
		if len(counts) == 1 {
			return c.Name
		}
		parts = append(parts, fmt.Sprintf("%s %d", c.Name, c.Jobs))
	}
	return strings.Join(parts, ", ")
}

// span formats a length of time: 45.2 s, 4 m 10 s, 1 h 12 m, 3 d 4 h.
func span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute-50*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour-time.Second/2:
		return twoUnits(d, time.Second, "m", "s", 60)
	case d < 48*time.Hour-time.Minute/2:
		return twoUnits(d, time.Minute, "h", "m", 60)
	}
	return twoUnits(d, time.Hour, "d", "h", 24)
}

func twoUnits(d, unit time.Duration, large, small string, per int64) string {
	n := int64(d.Round(unit) / unit)
	return fmt.Sprintf("%d %s %d %s", n/per, large, n%per, small)
}

// amount formats an amount to three digits: 17 B, 1.25 MiB, 938 GiB.
func amount(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n), 0
	for x >= 999.5 { // which three digits round to 1000
		x, unit = x/1024, unit+1
	}
	return fmt.Sprintf("%.3g %ciB", x, " KMGTPE"[unit])
}
