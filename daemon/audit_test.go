package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heddle/rm"
	"heddle/yarn/ids"
)

// A caller's text takes exactly one line, whatever it contains, and cannot speak in another's name.
func TestDeed(t *testing.T) {
	app := ids.App{Cluster: 1, Seq: 2}
	attempt := ids.Attempt{App: app, N: 3}
	for _, tt := range []struct {
		d          Deed
		err        error
		text, json string // without the time
	}{
		{
			Deed{User: "ann", Addr: "10.0.0.1", Operation: OpKill, Target: TargetClients, App: app},
			nil,
			`level=INFO msg=audit USER=ann IP=10.0.0.1 OPERATION="Kill Application Request" TARGET=ClientRMService RESULT=SUCCESS APPID=application_1_0002`,
			`"level":"INFO","msg":"audit","USER":"ann","IP":"10.0.0.1","OPERATION":"Kill Application Request","TARGET":"ClientRMService","RESULT":"SUCCESS","APPID":"application_1_0002"}`,
		},
		{
			Deed{User: "a\nb\x1b[2J USER=root", Operation: "refreshQueues", Target: TargetAdmin},
			errors.New("no\r\nlevel=INFO\tmsg=audit"),
			`level=WARN msg=audit USER="a\nb\x1b[2J USER=root" OPERATION=refreshQueues TARGET=AdminService RESULT=FAILURE DESCRIPTION="no\r\nlevel=INFO\tmsg=audit"`,
			`"level":"WARN","msg":"audit","USER":"a\nb\u001b[2J USER=root","OPERATION":"refreshQueues","TARGET":"AdminService","RESULT":"FAILURE","DESCRIPTION":"no\r\nlevel=INFO\tmsg=audit"}`,
		},
		{
			Deed{User: "ann", Operation: OpFail, Target: TargetClients, Attempt: attempt},
			nil,
			`level=INFO msg=audit USER=ann OPERATION="Fail Attempt Request" TARGET=ClientRMService RESULT=SUCCESS APPID=application_1_0002 APPATTEMPTID=appattempt_1_0002_000003`,
			`"APPATTEMPTID":"appattempt_1_0002_000003"}`,
		},
		{
			Deed{User: "ann", Operation: OpSignal, Target: TargetClients, Container: ids.Container{Attempt: attempt, ID: 4}},
			nil,
			`RESULT=SUCCESS APPID=application_1_0002 APPATTEMPTID=appattempt_1_0002_000003 CONTAINERID=container_1_0002_03_000004`,
			`"CONTAINERID":"container_1_0002_03_000004"}`,
		},
		{
			Deed{User: "ann", Operation: OpKill, Target: TargetWeb, App: app},
			fmt.Errorf("the application: %w", unanswered{context.Canceled}),
			`level=WARN msg=audit USER=ann OPERATION="Kill Application Request" TARGET=RMWebService RESULT=UNKNOWN DESCRIPTION="the application: context canceled" APPID=application_1_0002`,
			`"RESULT":"UNKNOWN"`,
		},
		{
			Deed{User: strings.Repeat("é", maxAudited), Operation: OpMove, Target: TargetWeb},
			nil,
			" USER=" + strings.Repeat("é", maxAudited/2) + " ", `"USER":"` + strings.Repeat("é", maxAudited/2) + `"`,
		},
	} {
		var text, json bytes.Buffer
		tt.d.Log(slog.New(slog.NewTextHandler(&text, nil)), tt.err)
		tt.d.Log(slog.New(slog.NewJSONHandler(&json, nil)), tt.err)
		for got, want := range map[string]string{text.String(): tt.text, json.String(): tt.json} {
			if !strings.Contains(got, want) || strings.Count(got, "\n") != 1 || strings.ContainsAny(strings.TrimSuffix(got, "\n"), "\r\t\x1b") {
				t.Errorf("got %q\nwant one line with %q", got, want)
			}
		}
	}
}

// Of a change that the loop had when its caller left, the result is not known. One that got no further than what is read
// before it was not made.
func TestUnknownResult(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id := w.submit("MAPREDUCE", 1024)
		result := func(call func(context.Context) error) (result string) {
			var log bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			Deed{Operation: OpKill, App: id}.Log(slog.New(slog.NewTextHandler(&log, nil)), call(ctx))
			_, after, _ := strings.Cut(log.String(), "RESULT=")
			result, _, _ = strings.Cut(after, " ")
			return result
		}
		kill := func(ctx context.Context) error { return w.r.Kill(ctx, Actor{User: "ann"}, id, "") }
		look := func(ctx context.Context) error { _, err := w.r.WholeApp(ctx, id); return err }
		w.r.readsHosts <- struct{}{} // another refresh hangs
		refresh := func(ctx context.Context) error { return w.r.RefreshNodes(ctx, false, 0) }
		late := func(ctx context.Context) error {
			<-ctx.Done() // the caller has left by the time that its groups are known
			return kill(ctx)
		}
		w.r.post(hang)
		if k, l, r, a := result(kill), result(look), result(refresh), result(late); k != "UNKNOWN" || l != "FAILURE" || r != "FAILURE" || a != "FAILURE" {
			t.Errorf("the loop hangs: a change is %s, what is read before is %s, a refresh behind another %s, a change of a caller that left before %s", k, l, r, a)
		}
		w.stop()
		if k, l, r := result(kill), result(look), result(refresh); k != "FAILURE" || l != "FAILURE" || r != "FAILURE" {
			t.Errorf("it has stopped: a change is %s, what is read before is %s, a refresh behind another %s", k, l, r)
		}
	})
}

// Every end of an application is logged in one line.
func TestEndsAreLogged(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		n := w.node("n1", 8192, 8)
		var done ids.App
		for range 3 {
			done = w.submit("MAPREDUCE", 1024)
		}
		all := []ids.App{{Cluster: done.Cluster, Seq: done.Seq - 2}, {Cluster: done.Cluster, Seq: done.Seq - 1}, done}
		n.beat()
		if err := w.r.Kill(t.Context(), Actor{User: "ann"}, all[0], ""); err != nil {
			t.Fatal(err)
		}
		for attempt := int32(1); attempt <= 2; attempt++ {
			for p := w.app(all[1]); p.Attempt != attempt || p.Master.IsZero(); p = w.app(all[1]) {
				time.Sleep(time.Second)
				n.beat()
			}
			id := w.masterOf(all[1])
			n.run(id)
			n.beat()
			n.exit(id, 1)
			n.beat()
		}
		n.run(w.masterOf(done))
		n.beat()
		w.master(done).finish()
		n.exit(w.masterOf(done), 0)
		n.beat()
		synctest.Wait()
		for i, want := range []string{"Killed", "Failed", "Succeeded"} {
			var ends []string
			for line := range strings.Lines(w.log.String()) {
				if strings.Contains(line, "RMAppManager") && strings.Contains(line, "APPID="+all[i].String()) {
					ends = append(ends, line)
				}
			}
			if len(ends) != 1 || !strings.Contains(ends[0], `USER=ann OPERATION="Application Finished - `+want+`"`) ||
				strings.Contains(ends[0], "RESULT=FAILURE DESCRIPTION=") != (want == "Failed") {
				t.Errorf("the end of %s: %q, want one line with %s; it is %s", all[i], ends, want, w.app(all[i]).State)
			}
		}
	})
}

// Container changes that nodes are told to make are logged: one container with its owner, several with their number.
func TestAlteredAreLogged(t *testing.T) {
	e := rm.Altered{
		Node: ids.Node{Host: "n1", Port: 8041}, What: rm.Parked, Agent: true, Containers: 1, User: "ann", Policy: "control: ikayak.suspend",
		Container: ids.Container{Attempt: ids.Attempt{App: ids.App{Cluster: 1, Seq: 2}, N: 3}, ID: 4},
	}
	many := e
	many.What, many.Agent, many.Containers = rm.Resized, false, 17
	for want, e := range map[string]rm.Altered{
		`level=INFO msg=audit USER=ann OPERATION="Park Container" TARGET=NodeAgent RESULT=SUCCESS APPID=application_1_0002 APPATTEMPTID=appattempt_1_0002_000003 CONTAINERID=container_1_0002_03_000004 NODE=n1:8041 POLICY="control: ikayak.suspend"`: e,
		`level=INFO msg=audit USER="" OPERATION="Resize Containers" TARGET=NodeManager RESULT=SUCCESS NODE=n1:8041 CONTAINERS=17 POLICY="control: ikayak.suspend"`:                                                                                     many,
	} {
		var text bytes.Buffer
		logAltered(slog.New(slog.NewTextHandler(&text, nil)), &e)
		if _, got, _ := strings.Cut(text.String(), " "); got != want+"\n" {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}
