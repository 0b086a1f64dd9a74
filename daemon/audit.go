package daemon

import (
	"context"
	"errors"
	"log/slog"

	"heddle/rm"
	"heddle/yarn/ids"
)

// A Deed is a request from somebody that changes something. It holds what the audit log says about it, in the words of
// YARN's audit log. Zero ids are left out.
type Deed struct {
	User, Addr string // Addr without a port, "" if it is not known
	Operation  string
	Target     string // the part of the ResourceManager that was asked
	App        ids.App
	Attempt    ids.Attempt
	Container  ids.Container
	Node       ids.Node
	Containers int    // how many containers it concerns, if more than one
	Policy     string // the profile's policy that wants it, as slot and name
}

// Operations on applications and of node agents.
const (
	OpSubmit    = "Submit Application Request"
	OpKill      = "Kill Application Request"
	OpFail      = "Fail Attempt Request"
	OpMove      = "Move Application Request"
	OpPriority  = "Update Application Priority"
	OpTimeouts  = "Update Application Timeouts"
	OpSignal    = "Signal Container Request"
	OpJoin      = "Join Node Agent"
	OpRenew     = "Renew Node Agent"
	opSucceeded = "Application Finished - Succeeded"
	opFailed    = "Application Finished - Failed"
	opKilled    = "Application Finished - Killed"
)

// opAltered names the changes to running containers that nodes are told to make.
var opAltered = [...]string{
	rm.Parked: "Park Container", rm.Unparked: "Unpark Container", rm.Weighed: "Weigh Containers", rm.Resized: "Resize Containers",
}

// Targets of requests.
const (
	TargetClients = "ClientRMService"
	TargetAdmin   = "AdminService"
	TargetWeb     = "RMWebService"
	TargetAgents  = "NodeAgentService"
	targetApps    = "RMAppManager"
	targetAgent   = "NodeAgent"
	targetNode    = "NodeManager"
)

// maxAudited bounds how much of a caller's text goes into a log line.
const maxAudited = 1024

// Log writes one line with the result of the deed: success, or err as the reason of the failure. If nobody waited for
// the result once the loop had the call, because the caller left or the ResourceManager stopped, it is not known.
func (d Deed) Log(log *slog.Logger, err error) {
	level, result := slog.LevelInfo, "SUCCESS"
	if err != nil {
		level, result = slog.LevelWarn, "FAILURE"
	}
	if errors.As(err, new(unanswered)) {
		result = "UNKNOWN"
	}
	line := []slog.Attr{slog.String("USER", rm.Clip(d.User, maxAudited))}
	add := func(key, value string) { line = append(line, slog.String(key, value)) }
	if d.Addr != "" {
		add("IP", d.Addr)
	}
	add("OPERATION", d.Operation)
	add("TARGET", d.Target)
	add("RESULT", result)
	if err != nil {
		add("DESCRIPTION", rm.Clip(err.Error(), maxAudited))
	}
	app, attempt := d.App, d.Attempt
	if !d.Container.IsZero() {
		attempt = d.Container.Attempt
	}
	if attempt != (ids.Attempt{}) {
		app = attempt.App
	}
	if app != (ids.App{}) {
		add("APPID", app.String())
	}
	if attempt != (ids.Attempt{}) {
		add("APPATTEMPTID", attempt.String())
	}
	if !d.Container.IsZero() {
		add("CONTAINERID", d.Container.String())
	}
	if !d.Node.IsZero() {
		add("NODE", d.Node.String())
	}
	if d.Containers > 0 {
		line = append(line, slog.Int("CONTAINERS", d.Containers))
	}
	if d.Policy != "" {
		add("POLICY", d.Policy)
	}
	log.LogAttrs(context.Background(), level, "audit", line...)
}

// BoundLog truncates long texts in log lines that others chose, such as what masters and nodes report about their ends.
// It is meant for [slog.HandlerOptions]. slog's own handlers escape control characters.
func BoundLog(_ []string, a slog.Attr) slog.Attr {
	text := ""
	switch a.Value.Kind() {
	case slog.KindString:
		text = a.Value.String()
	case slog.KindAny:
		if err, ok := a.Value.Any().(error); ok {
			text = err.Error()
		}
	default:
	}
	if len(text) > maxAudited {
		a.Value = slog.StringValue(rm.Clip(text, maxAudited))
	}
	return a
}

// logEnd writes a line about how an application ended. If it was killed, the line of that call says by whom.
func logEnd(log *slog.Logger, e *rm.Ended) {
	d, err := Deed{User: e.User, Operation: opSucceeded, Target: targetApps, App: e.App}, error(nil)
	switch e.State {
	case rm.AppKilled:
		d.Operation = opKilled
	case rm.AppFailed:
		d.Operation, err = opFailed, errors.New(e.Diagnostics)
	default:
	}
	d.Log(log, err)
}

// logAltered writes a line about a change to running containers that a node is told to make, and names who makes it:
// the node's agent or its NodeManager. For several containers it names neither a container nor a user.
func logAltered(log *slog.Logger, e *rm.Altered) {
	d := Deed{User: e.User, Operation: opAltered[e.What], Target: targetNode, Container: e.Container, Node: e.Node, Policy: e.Policy}
	if e.Agent {
		d.Target = targetAgent
	}
	if e.Containers > 1 {
		d.User, d.Container, d.Containers = "", ids.Container{}, e.Containers
	}
	d.Log(log, nil)
}
