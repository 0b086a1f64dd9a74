package daemon

import (
	"context"
	"errors"
	"log/slog"

	"heddle/rm"
	"heddle/yarn/ids"
)

// A Deed is something that somebody asks for and that changes something: what the log says who did what with. Its
// words are those of YARN's audit log. Ids that are zero are left out.
type Deed struct {
	User, Addr string // Addr without a port, "" where it is not known
	Operation  string
	Target     string // what of the ResourceManager was asked
	App        ids.App
	Attempt    ids.Attempt
	Container  ids.Container
	Node       ids.Node
	Containers int    // how many it is about, where they are many
	Policy     string // of the profile that wants it, as slot and name
}

// Operations on applications, and of node agents.
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

// What nodes are told to make of running containers.
var opAltered = [...]string{
	rm.Parked: "Park Container", rm.Unparked: "Unpark Container", rm.Weighed: "Weigh Containers", rm.Resized: "Resize Containers",
}

// What is asked.
const (
	TargetClients = "ClientRMService"
	TargetAdmin   = "AdminService"
	TargetWeb     = "RMWebService"
	TargetAgents  = "NodeAgentService"
	targetApps    = "RMAppManager"
	targetAgent   = "NodeAgent"
	targetNode    = "NodeManager"
)

// maxAudited bounds what a line takes of a text that a caller chose.
const maxAudited = 1024

// Log leaves one line that says what became of the deed: it was done, or err says why not.
func (d Deed) Log(log *slog.Logger, err error) {
	level, result := slog.LevelInfo, "SUCCESS"
	if err != nil {
		level, result = slog.LevelWarn, "FAILURE"
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

// BoundLog cuts what a line of the log says of texts that somebody else chose, such as what masters and nodes say of
// their ends: it is for [slog.HandlerOptions]. Control characters are escaped by slog's own handlers.
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

// logEnd leaves a line that says how an application ended. Who had it killed stands in the line of the call.
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

// logAltered leaves a line that says what a node is to make of running containers, and by whom: its agent or its
// NodeManager. Where it is about many, no container and nobody is named.
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
