package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heddle/daemon"
	"heddle/internal/budget"
	"heddle/internal/testkit/seat"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// guarded returns a demo whose applications only their owners and vic may view.
func guarded() http.Handler {
	f := demo()
	f.now = 1700000009000
	for i := range f.apps {
		a := &f.apps[i]
		a.Viewers, a.Diagnostics, a.Launched, a.MemorySeconds, a.LogAggregation = []rm.ACL{"vic"}, "secret words", 1700000002500, 4321, "NOT_START"
		a.Memo = &daemon.Memo{}
	}
	a := &f.apps[0]
	a.Host, a.RPCPort, a.MasterHTTP, a.Master, a.MasterNode = "node1", 4000, "node1:8042", f.attempts[a.ID][0].Master, f.attempts[a.ID][0].Node
	return New(Options{RM: f, Local: true, Access: daemon.Access{ACLs: true, Admins: "root", Owner: "yarn"}})
}

// as makes a request as a user of this machine; "" is nobody.
func as(h http.Handler, user, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path+"?user.name="+user, nil)
	r.RemoteAddr = "127.0.0.1:5000"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const (
	ofApp     = "/apps/" + proxied
	ofAttempt = ofApp + "/appattempts/appattempt_1700000000000_0001_000001"
	ofCont    = ofAttempt + "/containers/container_1700000000000_0001_01_000002"
)

// What only the users on access lists may view is refused to others, with the name of the caller and the application.
func TestRefusedToOthers(t *testing.T) {
	h := guarded()
	for _, path := range []string{
		restBase + ofApp + "/appattempts", restBase + ofAttempt, restBase + ofAttempt + "/containers", restBase + ofCont, heddleBase + ofApp + "/why",
	} {
		for _, user := range []string{"ann", "vic", "root", "yarn"} {
			if w := as(h, user, path); w.Code != http.StatusOK {
				t.Errorf("%s as %s: %d %s", path, user, w.Code, w.Body)
			}
		}
		for user, want := range map[string]string{"eve": "User eve does not have privilege to see this application " + proxied, "": "this application " + proxied + "; name the user with ?user.name="} {
			w := as(h, user, path)
			var e rest.RemoteException
			if err := rest.Parse(w.Body.Bytes(), "RemoteException", &e); err != nil || w.Code != http.StatusForbidden || e.Exception != "ForbiddenException" ||
				e.Class != "org.apache.hadoop.yarn.webapp.ForbiddenException" || !strings.Contains(e.Message, want) {
				t.Errorf("%s as %q: %d %+v (%v), want 403 with %q", path, user, w.Code, e, err, want)
			}
		}
	}
	for path, want := range map[string]int{
		restBase + "/apps/application_1_0001/appattempts": 404, restBase + "/apps/x/appattempts": 400, heddleBase + "/apps/application_1_0001/why": 404,
		restBase + ofApp + "/appattempts/appattempt_1700000000000_0001_000009": 403,
		restBase + ofApp + "/state": 200, restBase + ofApp + "/queue": 200, restBase + ofApp + "/priority": 200, restBase + ofApp + "/timeouts": 200,
	} {
		if w := as(h, "eve", path); w.Code != want {
			t.Errorf("%s as eve: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
	if w := as(h, "eve", restBase+"/apps/application_1_0001/appattempts"); !strings.Contains(w.Body.String(), "app with id: application_1_0001 not found") {
		t.Errorf("an application that is not there has other words: %s", w.Body)
	}
}

// Whoever may be in a group that may view an application is told to try again, and sees lists with it masked.
func TestGroupsUnknown(t *testing.T) {
	f, asked := demo(), 0
	for i := range f.apps {
		f.apps[i].Viewers = []rm.ACL{" watch"}
	}
	h := New(Options{RM: f, Local: true, Readers: daemon.NewReaders(1), Access: daemon.Access{
		ACLs: true, Admins: "root ops", Groups: func(string) ([]string, error) { asked++; return nil, daemon.ErrNoGroups },
	}})
	for i, path := range []string{
		restBase + ofApp + "/appattempts", "/cluster/appattempt/appattempt_1700000000000_0001_000001", "/cluster/container/container_1700000000000_0001_01_000002",
	} {
		if w := as(h, "gus", path); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "groups cannot be looked up") || asked != i+1 {
			t.Errorf("%s: %d %s after %d lookups, want %d", path, w.Code, w.Body, asked, i+1)
		}
	}
	var list rest.Apps
	if w := as(h, "gus", restBase+"/apps"); rest.Parse(w.Body.Bytes(), "apps", &list) != nil || len(list.List) != len(f.apps) || list.List[0].Started != 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Groups that nobody needs to know are not looked up, and it does not matter if that fails.
func TestGroupsNotNeeded(t *testing.T) {
	for _, viewers := range []rm.ACL{"vic", "vic watch"} {
		f, asked := demo(), 0
		for i := range f.apps {
			f.apps[i].Viewers = []rm.ACL{viewers}
		}
		h := New(Options{RM: f, Local: true, Readers: daemon.NewReaders(1), Access: daemon.Access{
			ACLs: true, Admins: "root", Groups: func(string) ([]string, error) { asked++; return nil, daemon.ErrNoGroups },
		}})
		for _, path := range []string{restBase + ofApp, restBase + ofAttempt, restBase + ofCont, heddleBase + ofApp, heddleBase + ofApp + "/why", "/cluster/app/" + proxied} {
			if w := as(h, "ann", path); w.Code != http.StatusOK || asked > 0 {
				t.Errorf("%q: %s as its owner: %d %s after %d lookups", viewers, path, w.Code, w.Body, asked)
			}
		}
		want := http.StatusForbidden
		if viewers.NamesGroups() {
			want = http.StatusServiceUnavailable
		}
		for _, path := range []string{restBase + ofApp + "/appattempts", restBase + ofAttempt, heddleBase + ofApp + "/why"} {
			if w := as(h, "eve", path); w.Code != want {
				t.Errorf("%q: %s as eve: %d %s, want %d", viewers, path, w.Code, w.Body, want)
			}
		}
	}
}

// Others see of an application what a stock ResourceManager shows them: nothing of its times, its master, and what it
// holds and asks for.
func TestStockMask(t *testing.T) {
	h := guarded()
	var list rest.Apps
	one := func(user string) (a rest.App) {
		t.Helper()
		w := as(h, user, restBase+ofApp)
		if err := rest.Parse(w.Body.Bytes(), "app", &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := one("ann"); a.Started == 0 || a.Launched == 0 || a.Elapsed == 0 || a.AMHost == "" || a.AMLogs == "" || a.AMRPC == "" || a.MasterNode == "" ||
		a.MB == 0 || a.VCores == 0 || a.Containers == 0 || len(a.Requests) == 0 || a.LogAggregation == "" {
		t.Fatalf("its owner sees %+v", a)
	}
	if err := rest.Parse(as(h, "eve", restBase+"/apps").Body.Bytes(), "apps", &list); err != nil || len(list.List) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for where, a := range map[string]rest.App{"alone": one("eve"), "in a list": list.List[0], "of somebody without a name": one("")} {
		if a.Started != 0 || a.Launched != 0 || a.Finished != 0 || a.Elapsed != 0 || a.AMHost != "" || a.AMLogs != "" || a.AMRPC != "" || a.MasterNode != "" ||
			a.MB != 0 || a.VCores != 0 || a.ReservedMB != 0 || a.ReservedCPU != 0 || a.Containers != 0 || a.QueueShare != 0 || a.ClusterShare != 0 ||
			len(a.Requests) > 0 || a.LogAggregation != "" {
			t.Errorf("%s eve sees %+v", where, a)
		}
		if a.User != "ann" || a.Queue != "root.default" || a.State != "RUNNING" || a.Progress != 50 || a.Tags != "a,b" || a.TrackingUI != "ApplicationMaster" ||
			a.Diagnostics != "secret words" || a.MBSeconds != 4321 || a.Timeouts == nil || a.Resources == nil {
			t.Errorf("%s eve does not see what stock shows everybody: %+v", where, a)
		}
	}
	if err := rest.Parse(as(h, "bob", restBase+"/apps").Body.Bytes(), "apps", &list); err != nil || list.List[0].Started != 0 || list.List[1].Started == 0 {
		t.Errorf("bob sees of ann's and his own %+v, %v", list.List, err)
	}
}

// Our own services tell others what a report over RPC tells them, and that parts are missing.
func TestOwnMask(t *testing.T) {
	h := guarded()
	var a rm.AppReport
	var list rm.Apps
	read := func(user, path string, into any) {
		t.Helper()
		w := as(h, user, heddleBase+path)
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	read("ann", ofApp, &a)
	if a.Masked || a.Diagnostics == "" || len(a.Attempts) == 0 || len(a.Requests) == 0 || a.Host == "" {
		t.Fatalf("its owner sees %+v", a)
	}
	for user, path := range map[string]string{"eve": ofApp, "": "/apps"} {
		var b rm.AppReport
		if path == ofApp {
			read(user, path, &b)
		} else {
			read(user, path, &list)
			b = list.List[0]
		}
		if !b.Masked || b.ID != a.ID || b.User != "ann" || b.Name != a.Name || b.State != rm.AppRunning || b.Queue != a.Queue || b.Started != a.Started {
			t.Errorf("%s as %q: %+v", path, user, b)
		}
		if b.Diagnostics != "" || b.Host != "" || b.RPCPort != -1 || b.TrackingURL != "" || b.OriginalURL != "" || b.MasterHTTP != "" || b.MasterLogs != "" ||
			!b.Master.IsZero() || !b.MasterNode.IsZero() || b.Attempt != 0 || b.Live || b.Containers != 0 || !b.Used.IsZero() || b.Progress != 0 ||
			b.MemorySeconds != 0 || b.LogAggregation != "" || b.Requests != nil || b.Attempts != nil {
			t.Errorf("%s shows %q %+v", path, user, b)
		}
	}
	if b := (&rm.AppReport{Memo: &daemon.Memo{}, Viewers: []rm.ACL{"vic"}}).Mask(); b.Memo != nil || b.Viewers != nil {
		t.Errorf("%+v takes along what was made of the whole report", b)
	}
}

// On a node, others see only the containers whose applications they may view, and how many more there are.
func TestContainersOfOthers(t *testing.T) {
	h := guarded()
	const path = "/nodes/node1:8041/containers"
	for user, want := range map[string]rm.NodeContainers{"ann": {List: make([]rm.ContainerRow, 3)}, "eve": {Masked: 3}, "": {Masked: 3}} {
		var got rm.NodeContainers
		if w := as(h, user, heddleBase+path); json.Unmarshal(w.Body.Bytes(), &got) != nil || len(got.List) != len(want.List) || got.Masked != want.Masked || got.List == nil {
			t.Errorf("%q sees %s", user, w.Body)
		}
	}
	if body := as(h, "eve", "/cluster/node/node1:8041").Body.String(); strings.Contains(body, "_01_000002") || !strings.Contains(body, "3 of applications that you may not view are not shown") {
		t.Errorf("eve sees %s", body)
	}
	if body := as(h, "ann", "/cluster/node/node1:8041").Body.String(); !strings.Contains(body, "_01_000002") || strings.Contains(body, "may not view") {
		t.Errorf("ann sees %s", body)
	}
}

// Of what a node's agent could not do, others see only what concerns applications that they may view, and how much more
// there is.
func TestFailuresOfOthers(t *testing.T) {
	h := guarded()
	const container = "container_1700000000000_0001_01_000004"
	for user, want := range map[string]int{"ann": 0, "vic": 0, "eve": 1, "": 1} {
		var list rm.Nodes
		var one rm.NodeRow
		if err := errors.Join(json.Unmarshal(as(h, user, heddleBase+"/nodes").Body.Bytes(), &list), json.Unmarshal(as(h, user, heddleBase+"/nodes/node1:8041").Body.Bytes(), &one)); err != nil {
			t.Fatal(err)
		}
		for _, a := range []*rm.AgentRow{list.List[0].Agent, one.Agent} {
			if a.Masked != want || len(a.Failed) != 1-want || a.Failed == nil {
				t.Errorf("%q sees %+v", user, a)
			}
		}
		page := as(h, user, "/cluster/node/node1:8041").Body.String()
		if !strings.Contains(page, ">agent failed<") || !strings.Contains(page, "it failed for 1") || strings.Contains(page, container+": no") != (want == 0) ||
			strings.Contains(page, "1 of them of applications that you may not view") != (want == 1) {
			t.Errorf("%q sees %s", user, page)
		}
	}
}

func TestMaskedPages(t *testing.T) {
	h := guarded()
	for _, path := range []string{"/cluster", "/cluster/apps", "/cluster/apps/running"} {
		if body := as(h, "eve", path).Body.String(); !strings.Contains(body, proxied) || strings.Contains(body, `<td class="n">2<td class="n">2048 MiB`) || !strings.Contains(body, "masked") {
			t.Errorf("eve sees at %s\n%s", path, body)
		}
		if body := as(h, "ann", path).Body.String(); !strings.Contains(body, `<td class="n">2<td class="n">2048 MiB`) {
			t.Errorf("ann sees at %s\n%s", path, body)
		}
	}
	body := as(h, "eve", "/cluster/app/"+proxied).Body.String()
	for _, secret := range []string{"secret words", "Refused so far", "appattempt_", "node1", "Nothing: it has", "None yet", "4321", "/proxy/"} {
		if strings.Contains(body, secret) {
			t.Errorf("eve sees %q on the page of the application", secret)
		}
	}
	for _, shown := range []string{"root.default", "ann", "RUNNING", "You may not view the rest"} {
		if !strings.Contains(body, shown) {
			t.Errorf("eve does not see %q on the page of the application", shown)
		}
	}
	if body := as(h, "ann", "/cluster/app/"+proxied).Body.String(); !strings.Contains(body, "secret words") || !strings.Contains(body, "appattempt_") {
		t.Errorf("ann sees %s", body)
	}
	for _, path := range []string{"/cluster/appattempt/appattempt_1700000000000_0001_000001", "/cluster/container/container_1700000000000_0001_01_000002"} {
		if w := as(h, "eve", path); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "User eve does not have privilege to see this application "+proxied) {
			t.Errorf("%s as eve: %d %s", path, w.Code, w.Body)
		}
		if w := as(h, "ann", path); w.Code != http.StatusFound || w.Header().Get("Location") != "/cluster/app/"+proxied+"?user.name=ann" {
			t.Errorf("%s as ann: %d to %s", path, w.Code, w.Header().Get("Location"))
		}
	}
}

// An application that appears during a request is no more visible than the others.
func TestAppearsMeanwhile(t *testing.T) {
	f := demo()
	s := newSite(Options{RM: f, Local: true, Access: daemon.Access{ACLs: true}})
	late := f.apps[1]
	f.apps = f.apps[:1]
	h := s.answer(s.seen(func(*http.Request) (rest.Answer, error) { return rest.Answer{Value: "all of it"}, nil }))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.SetPathValue("app", late.ID.String())
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "all of it") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A seated is a fake whose answers have a seat at the desk, as the daemon's have.
type seated struct{ *fakeRM }

func (f seated) Apps(ctx context.Context, filter rm.AppFilter) ([]rm.AppReport, error) {
	return seat.Taken(ctx, func() ([]rm.AppReport, error) { return f.fakeRM.Apps(ctx, filter) })
}

func (f seated) App(ctx context.Context, id ids.App) (rm.AppReport, error) {
	return seat.Taken(ctx, func() (rm.AppReport, error) { return f.fakeRM.App(ctx, id) })
}

func (f seated) WholeApp(ctx context.Context, id ids.App) (rm.AppReport, error) {
	return seat.Taken(ctx, func() (rm.AppReport, error) { return f.fakeRM.WholeApp(ctx, id) })
}

func (f seated) Node(ctx context.Context, id ids.Node) (rm.NodeReport, error) {
	return seat.Taken(ctx, func() (rm.NodeReport, error) { return f.fakeRM.Node(ctx, id) })
}

// While a caller's groups are looked up, its list or page has no seat: those of others are answered.
func TestGroupsBeforeASeat(t *testing.T) {
	for _, path := range []string{
		restBase + "/apps", restBase + ofApp + "/appattempts", restBase + ofAttempt + "/containers", heddleBase + "/apps", heddleBase + "/nodes/node1:8041/containers",
		heddleBase + "/nodes", "/cluster", "/cluster/apps", "/cluster/node/node1:8041",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := demo()
			for i := range f.apps {
				f.apps[i].Viewers = []rm.ACL{" ops"}
			}
			h := New(Options{
				RM: seated{f}, Local: true, Readers: daemon.NewReaders(1), Access: daemon.Access{ACLs: true, Groups: seat.Groups},
				Desk: budget.NewDesk(budget.New(1<<20, 1<<20).Account(0), 1, time.Second),
			})
			seat.Behind(t, path, func(user string) {
				if w := as(h, user, path); w.Code != http.StatusOK {
					t.Errorf("%s as %s: %d %s", path, user, w.Code, w.Body)
				}
			})
		})
	}
}
