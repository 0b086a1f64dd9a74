package conf

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"heddle"
	"heddle/policies/fair"
)

// A Report is what reading a file or a folder came to. Where there are errors, Hadoop is what could be
// read in spite of them and is not to be used.
type Report struct {
	Path    string
	Hadoop  *Hadoop
	Errors  Errors   // in order of file and line
	Notices []Notice // in order of file and line

	Profile bool // heddle.yaml names a profile: no scheduler is needed
}

// OK reports whether the configuration can be used.
func (r *Report) OK() bool { return len(r.Errors) == 0 }

// WriteText writes the report for people: errors, then the queues as they are in effect, then what has
// another effect than it seems to have, and last what is off.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, e := range r.Errors {
		fmt.Fprintf(b, "error: %v\n", e)
	}
	if r.OK() {
		r.site(b)
		r.capacity(b)
		r.fair(b)
	}
	all := r.All()
	section(b, Unknown.String(), lines(all, Unknown))
	section(b, Remark.String(), lines(all, Remark))
	section(b, Harmless.String(), groups(all, Harmless))
	if refused := r.Refused(); len(refused) > 0 {
		section(b, "heddle rm does not start with", strings.Split(refused.Error(), "\n"))
	}
	section(b, "off under Heddle, though it is configured", groups(all, Unsupported))
	if r.OK() {
		fmt.Fprintf(b, "\n%s: ok\n", r.Path)
	} else {
		fmt.Fprintf(b, "\n%s: %d errors\n", r.Path, len(r.Errors))
	}
	return b.Flush()
}

// Refused is what heddle rm does not start with.
func (r *Report) Refused() Errors {
	if r.Hadoop == nil || r.Hadoop.Daemon == nil {
		return nil
	}
	d := r.Hadoop.Daemon
	if d.NoScheduler != nil && !r.Profile {
		return append(slices.Clip(d.Refused), *d.NoScheduler)
	}
	return d.Refused
}

// All are the notices, and the remarks for those who run a cluster; without what is refused, which is not merely off.
func (r *Report) All() []Notice {
	refused := r.Refused()
	out := slices.DeleteFunc(slices.Clone(r.Notices), func(n Notice) bool {
		return slices.ContainsFunc(refused, func(e Error) bool { return e == Error{n.File, n.Line, n.Property, n.Text} })
	})
	if r.Hadoop != nil && r.Hadoop.Daemon != nil {
		out = append(out, r.Hadoop.Daemon.Remarks...)
	}
	return out
}

func section(b *bufio.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}

// lines lists notices of a kind.
func lines(all []Notice, kind NoticeKind) (out []string) {
	for _, n := range all {
		if n.Kind == kind {
			out = append(out, n.String())
		}
	}
	return out
}

// groups lists notices of a kind, each text once: there may be hundreds.
func groups(all []Notice, kind NoticeKind) (out []string) {
	for _, same := range Together(all, kind) {
		out = append(out, same[0].Text)
		for _, n := range same {
			out = append(out, "  "+n.Place())
		}
	}
	return out
}

func (r *Report) site(b *bufio.Writer) {
	s, t := r.Hadoop.Site, types(r.Hadoop.Site.Extra)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	asks := s.Scheduler
	if asks == "" {
		asks = "another"
	}
	fmt.Fprintf(w, "scheduler\t%s\n", asks)
	fmt.Fprintf(w, "containers\t%s to %s\n", t.show(s.Minimum), t.show(s.Maximum))
	fmt.Fprintf(w, "node\t%s, heartbeat %.4g s\n", t.show(s.Node), s.NodeHeartbeat.Seconds())
	fmt.Fprintf(w, "MapReduce\tmap %s; reduce %s; master %s, heartbeat %.4g s; slow start %.4g\n",
		t.show(s.Map), t.show(s.Reduce), t.show(s.Master), s.MasterHeartbeat.Seconds(), s.SlowStart)
	_ = w.Flush() // an error of b's, which keeps it
}

// number writes a 32-bit float as it was written in the file.
func number(f float64) string { return fmt.Sprintf("%.6g", f) }

func share(f float64) string { return number(100*f) + " %" }

func (r *Report) capacity(b *bufio.Writer) {
	c, t := r.Hadoop.Capacity, types(r.Hadoop.Site.Extra)
	if c == nil {
		return
	}
	calculator := "every resource"
	if c.MemoryOnly {
		calculator = "memory only"
	}
	fmt.Fprintf(b, "\ncapacity scheduler, %s; node-locality-delay %d, %d containers a heartbeat, %d of them off-switch; %d applications\n",
		calculator, c.NodeLocalityDelay, c.MaxAssignments, c.MaxOffSwitch, c.MaxApplications)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "queue\tcapacity\tmaximum\tuser limit\tfactor\tmasters\torder\tnotes")
	for i := range c.Queues {
		q := &c.Queues[i]
		guaranteed, most := share(q.Capacity), share(q.MaxCapacity)
		switch {
		case q.Weight > 0:
			guaranteed = number(q.Weight) + "w"
		case !q.Absolute.IsZero():
			guaranteed = t.show(q.Absolute)
		}
		if !q.MaxAbsolute.IsZero() {
			most = t.show(q.MaxAbsolute)
		}
		limits := "\t\t\t" + order(q.ByPriority, "priority-utilization", "utilization")
		if !r.capacityParent(i) {
			factor := number(q.UserLimitFactor)
			if q.UserLimitFactor == -1 {
				factor = "none"
			}
			limits = share(q.MinimumUserLimit) + "\t" + factor + "\t" + share(q.MaxAMShare) + "\t" + order(q.Fair, "fair", "fifo")
		}
		var notes []string
		note := func(on bool, format string, args ...any) {
			if on {
				notes = append(notes, fmt.Sprintf(format, args...))
			}
		}
		note(q.Stopped, "stopped")
		note(q.Priority != 0, "priority %d", q.Priority)
		note(q.DefaultPriority != 0, "applications' priority %d", q.DefaultPriority)
		note(q.MaxApplications >= 0, "%d applications", q.MaxApplications)
		note(q.MaxParallelApps > 0, "%d at once", q.MaxParallelApps)
		note(!q.Maximum.IsZero(), "containers to %s", t.show(q.Maximum))
		note(len(q.UserWeights) > 0, "user weights: %d", len(q.UserWeights))
		note(q.SizeBasedWeight, "by size")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", indent(q.Path), guaranteed, most, limits, strings.Join(notes, ", "))
	}
	_ = w.Flush() // an error of b's, which keeps it
	if p := r.Hadoop.CapacityPlacement; p != nil && len(p.mappings) > 0 {
		fmt.Fprintf(b, "%d queue mappings%s\n", len(p.mappings), order(p.override, ", also for applications that name a queue", ""))
	}
}

func (r *Report) capacityParent(i int) bool {
	p := r.Hadoop.CapacityPlacement
	return p != nil && !p.queues[i].leaf
}

func order(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func indent(path string) string {
	return strings.Repeat("  ", strings.Count(path, ".")) + path[strings.LastIndex(path, ".")+1:]
}

func (r *Report) fair(b *bufio.Writer) {
	c, t := r.Hadoop.Fair, types(r.Hadoop.Site.Extra)
	if c == nil {
		return
	}
	fmt.Fprintf(b, "\nfair scheduler, shares every %.4g s, increment %s\n", c.UpdateInterval.Seconds(), t.show(c.Increment))
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "queue\tweight\tpolicy\tminimum\tmaximum\tapplications\tmasters\tnotes")
	for i := range c.Queues {
		q := &c.Queues[i]
		apps, masters := "", share(q.MaxAMShare)
		if q.MaxApps != 0 {
			apps = fmt.Sprint(max(q.MaxApps, 0))
		}
		var notes []string
		if q.MaxAMShare == -1 {
			masters = "no limit"
		}
		if p := r.Hadoop.FairPlacement; p != nil && p.holder[q.Path] {
			masters = ""
			notes = append(notes, "holds queues")
		}
		if q.MaxChild.Set {
			notes = append(notes, "created queues to "+t.showAmount(q.MaxChild))
		}
		if !q.MaxResource.IsZero() {
			notes = append(notes, "containers to "+t.show(q.MaxResource))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", indent(q.Path), number(q.Weight),
			[...]string{fair.FairShare: "fair", fair.DRF: "drf", fair.FIFO: "fifo"}[q.Policy],
			t.showAmount(q.Min), t.showAmount(q.Max), apps, masters, strings.Join(notes, ", "))
	}
	_ = w.Flush() // an error of b's, which keeps it
	if p := r.Hadoop.FairPlacement; p != nil {
		fmt.Fprint(b, "placement")
		for i := range p.rules {
			fmt.Fprintf(b, "%s %s", order(i > 0, ",", ":"), showRule(&p.rules[i]))
		}
		fmt.Fprintln(b)
	}
}

func showRule(r *fair.Rule) string {
	s := r.Name
	if r.Queue != "" {
		s += " " + r.Queue
	}
	if r.Nested != nil {
		s += " (" + showRule(r.Nested) + ")"
	}
	if !r.Create {
		s += " existing"
	}
	return s
}

// showAmount writes an amount of the fair scheduler.
func (t types) showAmount(a fair.Amount) string {
	if !a.Set {
		return ""
	}
	if a.Fraction == [heddle.NumDims]float64{} {
		return t.show(a.Fixed)
	}
	var parts []string
	for i, name := range append([]string{"memory", "vcores"}, t...) {
		parts = append(parts, number(100*a.Fraction[i])+" % "+name)
	}
	return strings.Join(parts, ", ")
}
