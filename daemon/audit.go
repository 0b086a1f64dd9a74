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

// What is asked.
const (
	TargetClients = "ClientRMService"
	TargetAdmin   = "AdminService"
	TargetWeb     = "RMWebService"
	TargetAgents  = "NodeAgentService"
	targetApps    = "RMAppManager"
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
	log.LogAttrs(context.Background(), level, "audit", line...)
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
