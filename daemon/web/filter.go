package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"heddle/rm"
	"heddle/yarn/ids"
)

// everyAppState lists the states of an application in YARN's order.
var everyAppState = []rm.AppState{
	rm.AppNew, rm.AppSaving, rm.AppSubmitted, rm.AppAccepted, rm.AppRunning, rm.AppFinished, rm.AppFailed, rm.AppKilled,
}

var everyFinalStatus = []rm.FinalStatus{rm.Undefined, rm.Succeeded, rm.Failed, rm.Killed, rm.Stopped}

// appStates parses comma-separated lists of states in any letter case.
func appStates(values []string) ([]rm.AppState, error) {
	var out []rm.AppState
	for _, text := range commas(values) {
		st := rm.AppState(strings.ToUpper(text))
		if !slices.Contains(everyAppState, st) {
			return nil, badRequest("Invalid application-state " + text + " specified. It should be one of " + listed(everyAppState))
		}
		if !slices.Contains(out, st) {
			out = append(out, st)
		}
	}
	return out, nil
}

// listed prints names as Java prints an array.
func listed[T ~string](names []T) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(n))
	}
	b.WriteByte(']')
	return b.String()
}

// commas splits values at their commas and drops empty parts.
func commas(values []string) []string {
	var out []string
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// appFilter reads the parameters of GET /apps except the queue.
func appFilter(q url.Values) (rm.AppFilter, error) {
	states, err := appStates(append(slices.Clone(q["states"]), q["state"]...))
	if err != nil {
		return rm.AppFilter{}, err
	}
	f := rm.AppFilter{
		States: states, Final: rm.FinalStatus(q.Get("finalStatus")), Users: nonEmpty(q.Get("user")),
		Types: commas(q["applicationTypes"]), Name: q.Get("name"),
	}
	for _, tag := range commas(q["applicationTags"]) {
		f.Tags = append(f.Tags, strings.ToLower(tag))
	}
	if f.Final != "" && !slices.Contains(everyFinalStatus, f.Final) {
		return f, illegalArgument("Invalid finalStatus " + string(f.Final) + " specified. It should be one of " + listed(everyFinalStatus))
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return f, badRequest("limit value must be a number!")
		}
		if n <= 0 {
			return f, badRequest("limit value must be greater then 0")
		}
		f.Limit = int(min(n, 1<<31-1))
	}
	if text := q.Get("before"); text != "" {
		if f.Before, err = ids.ParseApp(text); err != nil {
			return f, badRequest("before value must be an application id, not " + text)
		}
	}
	if f.StartedFrom, f.StartedTo, err = timeRange(q, "startedTime"); err != nil {
		return f, err
	}
	f.FinishedFrom, f.FinishedTo, err = timeRange(q, "finishedTime")
	return f, err
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// timeRange reads <name>Begin and <name>End; to is nil if there is no end.
func timeRange(q url.Values, name string) (from int64, to *int64, err error) {
	read := func(name string) *int64 {
		text := q.Get(name)
		if text == "" || err != nil {
			return nil
		}
		n, bad := strconv.ParseInt(text, 10, 64)
		switch {
		case bad != nil:
			err = badRequest(name + " value must be a number!")
		case n < 0:
			err = badRequest(name + " must be greater than 0")
		}
		return &n
	}
	if begin := read(name + "Begin"); begin != nil {
		from = *begin
	}
	to = read(name + "End")
	if err == nil && to != nil && from > *to {
		err = badRequest(name + "End must be greater than " + name + "Begin")
	}
	return from, to, err
}

// A deselect names parts of an application that the caller does not want.
type deselect struct {
	requests, timeouts, appLabel, amLabel, resources bool
}

func deselected(values []string) (deselect, error) {
	var d deselect
	for _, text := range commas(values) {
		switch strings.ToLower(text) {
		case "resourcerequests":
			d.requests = true
		case "timeouts":
			d.timeouts = true
		case "appnodelabelexpression":
			d.appLabel = true
		case "amnodelabelexpression":
			d.amLabel = true
		case "resourceinfo":
			d.resources = true
		default:
			return d, badRequest("Invalid deSelects string " + text + " specified. It should be one of " +
				"[resourceRequests, timeouts, appNodeLabelExpression, amNodeLabelExpression, resourceInfo]")
		}
	}
	return d, nil
}
