package web

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"heddle/rm"
)

// A fact is something known about an application, and where it comes from.
type fact struct{ Label, Text string }

// known returns what is known about an application besides its requests, how old that is, and what its nodes could not
// do. It leaves out what there is nothing to say about.
func (p *pages) known(e *rm.Explanation) (out []fact) {
	add := func(label, text string) {
		if text != "" {
			out = append(out, fact{label, text})
		}
	}
	w := rm.Words{Amount: amountText, Bytes: bytesText, Lasting: func(ms int64) string { return p.since(1, 1+ms) }}
	add("At submission", e.Job.Text(w))
	if e.Job != nil {
		add("Earlier runs", e.Job.Last.Text(w))
	}
	add("Reported by master", e.Known.Text(w))
	if e.Known != nil {
		add("Last call failed", e.Known.Failed)
	}
	var lacks []string
	for _, x := range byTimes(e.Undone) {
		lacks = append(lacks, strconv.FormatUint(uint64(x.Times), 10)+" × "+rm.CapText(x.Why))
	}
	if len(lacks) > 0 {
		add("Not done", "because its nodes cannot: "+strings.Join(lacks, " · "))
	}
	return out
}

// changed returns the containers of the newest attempt, which is the first, that differ from what was asked for: as
// many as fit in a table, and the number of the others.
func (p *pages) changed(ctx context.Context, attempts []rm.AttemptReport) (out []rm.ContainerReport, more int, err error) {
	if len(attempts) == 0 {
		return nil, 0, nil
	}
	all, err := p.s.RM.Containers(ctx, attempts[0].ID)
	if err != nil && !errors.As(err, new(*rm.NotFound)) { // it may have ended meanwhile
		return nil, 0, err
	}
	for i := range all {
		c := &all[i]
		switch {
		case c.Limit == c.Size && !c.Suspended && !c.Parked && c.Weight == 0:
		case len(out) == maxRows:
			more++
		default:
			out = append(out, *c)
		}
	}
	return out, more, nil
}

// amountText prints memory and vcores.
func amountText(a rm.Amount) string { return memory(a) + ", " + cores(a) + " vcores" }

// bytesText prints bytes for people.
func bytesText(n int64) string {
	if n < 1<<20 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	return memory(rm.Amount{MemoryMiB: n >> 20})
}
