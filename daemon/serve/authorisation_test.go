package serve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/daemon"
	"heddle/daemon/agents"
	"heddle/daemon/clients"
	"heddle/daemon/httpd"
	"heddle/daemon/setup"
	"heddle/daemon/store"
	"heddle/daemon/web"
	"heddle/node/api"
	"heddle/node/trust"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

var rewrite = flag.Bool("rewrite", false, "write docs/authorisation.md anew")

// TestAuthorisation calls everything that is served as every kind of caller, and compares the results with the tables
// in docs/authorisation.md. A method or a route that no row calls makes it fail.
func TestAuthorisation(t *testing.T) {
	var on, off, both strings.Builder
	f := newFixture(t, true)
	for acls, w := range map[bool]*strings.Builder{true: &on, false: &off} { // order: each for itself
		g := newFixture(t, acls)
		var web strings.Builder
		g.web(&web) // first: all applications are ann's still
		g.rpc(w, "Clients", g.d.Client, clients.Client(g.d.RM, clients.Options{}), g.clientRows(), people)
		w.WriteString(web.String())
		w.WriteString(g.admins())
	}
	same := f.admins()
	for _, b := range []*strings.Builder{&on, &off} {
		if !strings.HasSuffix(b.String(), same) {
			t.Error("who may administer depends on access lists being on")
		}
	}
	both.WriteString(same)
	f.rpc(&both, "ApplicationMasters", f.d.Scheduler, f.d.RM.Masters(), f.masterRows(), f.masters())
	f.rpc(&both, "NodeManagers", f.d.Tracker, f.d.RM.Tracker(), f.trackerRows(), nodes)
	f.agents(&both)
	page := head + "\n## With access lists on\n" + strings.TrimSuffix(on.String(), same) + "\n## With access lists off\n" +
		strings.TrimSuffix(off.String(), same) + "\n## Whether access lists are on or off\n" + both.String()

	path := filepath.Join("..", "..", "docs", "authorisation.md")
	if *rewrite {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != page {
		t.Errorf("docs/authorisation.md is not what is served (%v); go test ./daemon/serve -run Authorisation -rewrite writes it anew:\n%s", err, page)
	}
}

const head = `<!-- Made by go test ./daemon/serve -run Authorisation -rewrite. Changes are lost. -->

# Who may call what

Each cell is the result of a call to a running ResourceManager. A test makes all calls again, and fails if a method or a
route is in no row. Access lists restrict who may look at applications as they restrict who may change them, over RPC,
REST and on pages. If they are off, everybody who reaches a port may look at all applications. The daemon trusts the user
name that a caller states ([daemon.md](daemon.md#who-may-reach-it)). Over HTTP changes are refused to all callers if the
web server is not on loopback.

| cell | means |
|---|---|
| yes | the call is carried out, or the data is returned |
| masked | an application is shown without its addresses and figures, and without other data that [rest.md](rest.md#who-may-look-at-applications) names; a node is shown without the containers of others and without what its agent could not do to them |
| a name | the call is refused with this exception, whose name ends with ` + "`Exception`" + ` in most cases. If all callers get the same one, the reason is the request and not the caller |
| a number | the HTTP status with which the call is refused |

The application is ann's, in a queue that carl administers. Its own lists let vic look at it, and let the group of gus
change it. The columns:

| caller | is |
|---|---|
| owner | the user who submitted the application |
| viewer, group | users in its access lists, by name to look and by group to change |
| queue | an administrator of its queue |
| admin, service | a user of ` + "`yarn.admin.acl`" + `, and the one the daemon runs as |
| other | any other user |
| proxy | a user who acts for the owner and may, by ` + "`hadoop.proxyuser.*`" + ` |
| impostor | a user who acts for the owner and may not |
`

// A caller is a user who calls over RPC.
type caller struct {
	name string
	with rpc.ClientOptions
	host string // of a node
}

var people = []caller{
	{"owner", rpc.ClientOptions{User: "ann"}, ""},
	{"viewer", rpc.ClientOptions{User: "vic"}, ""},
	{"group", rpc.ClientOptions{User: "gus"}, ""},
	{"queue", rpc.ClientOptions{User: "carl"}, ""},
	{"admin", rpc.ClientOptions{User: "root"}, ""},
	{"service", rpc.ClientOptions{User: "yarn"}, ""},
	{"other", rpc.ClientOptions{User: "eve"}, ""},
	{"proxy", rpc.ClientOptions{User: "ann", RealUser: "oozie"}, ""},
	{"impostor", rpc.ClientOptions{User: "ann", RealUser: "mallory"}, ""},
}

var nodes = []caller{
	{"node", rpc.ClientOptions{User: "yarn"}, "127.0.0.2"},
	{"node, as any user", rpc.ClientOptions{User: "eve"}, "127.0.0.3"},
	{"node of the exclude list", rpc.ClientOptions{User: "yarn"}, "127.0.0.9"},
}

// A row is a call: a request by a caller, who may have been given something before.
type row struct {
	method, note string
	ask          func(c *rpc.Client, who caller) proto.Message
}

// masterKey signs the tokens of masters.
var masterKey = token.Key{ID: 1, Bytes: []byte("eight or more bytes")}

// A fixture is a ResourceManager with a node and an application whose master is being started.
type fixture struct {
	*testing.T
	d    *Daemon
	acls bool
	app  ids.App
	am   ids.Container
	node ids.Node
}

func newFixture(t *testing.T, acls bool, changes ...func(*daemon.Config)) *fixture {
	dir := t.TempDir()
	write := func(name string, lines ...string) {
		var b strings.Builder
		b.WriteString("<configuration>")
		for _, l := range lines {
			key, value, _ := strings.Cut(l, "=")
			fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>\n", key, value)
		}
		b.WriteString("</configuration>")
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(dir, "exclude"), []byte("127.0.0.9\n"), 0o600))
	write("core-site.xml", "hadoop.proxyuser.oozie.users=ann", "hadoop.proxyuser.oozie.hosts=127.0.0.1", "hadoop.user.group.static.mapping.overrides=gus=ops;ann=;vic=;carl=;root=;yarn=;eve=;oozie=;mallory=")
	write("yarn-site.xml", fmt.Sprint("yarn.acl.enable=", acls), "yarn.admin.acl=root", "yarn.resourcemanager.nodes.exclude-path="+filepath.Join(dir, "exclude"))
	const q = "yarn.scheduler.capacity.root"
	write("capacity-scheduler.xml", q+".queues=default", q+".default.capacity=100", q+".acl_submit_applications= ", q+".acl_administer_queue= ",
		q+".default.acl_submit_applications=ann", q+".default.acl_administer_queue=carl", "yarn.scheduler.capacity.maximum-am-resource-percent=1")
	s, err := setup.Load(setup.Options{ConfDir: dir, Profile: "capacity", Data: filepath.Join(dir, "data")})
	must(t, err)
	free := netip.MustParseAddrPort("127.0.0.1:0")
	c := &s.Config
	c.Client, c.Scheduler, c.Tracker, c.Admin, c.Web, c.Agents = free, free, free, free, free, free
	for _, change := range changes {
		change(c)
	}
	st, _, err := store.Open(filepath.Join(s.DataDir, "rm.db"))
	must(t, err)
	kept := make(chan error, 1)
	st.Commit(func(err error) { kept <- err }, store.PutKeys(store.Keys{Current: &store.Key{ID: masterKey.ID, Bytes: masterKey.Bytes, Since: time.Now().UnixMilli()}}))
	must(t, errors.Join(<-kept, st.Close()))
	d, err := Start(Options{Config: s.Config, Scheduler: s.Scheduler, Refresh: s.Refresh, Facts: s.Facts, DataDir: s.DataDir, Owner: "yarn", Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, d.Stop()) })
	f := &fixture{T: t, d: d, acls: acls}
	l, err := net.Listen("tcp", "127.0.0.1:0") // of a NodeManager that never answers
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	f.node = ids.Node{Host: "127.0.0.1", Port: int32(l.Addr().(*net.TCPAddr).Port)}
	tracker := f.dial(d.Tracker, f.d.RM.Tracker().Name, rpc.ClientOptions{User: "yarn"})
	must(t, tracker.Call(t.Context(), "registerNodeManager", registers(f.node), &wire.RegisterNodeManagerResponse{}))
	f.app = f.submitted()
	for beat := int32(0); f.am.IsZero(); beat++ {
		must(t, tracker.Call(t.Context(), "nodeHeartbeat", reports(f.node, beat), &wire.NodeHeartbeatResponse{}))
		if a, err := d.RM.App(t.Context(), f.app); err == nil && d.RM.Ready() {
			f.am = a.Master
		}
	}
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func registers(n ids.Node) *wire.RegisterNodeManagerRequest {
	return &wire.RegisterNodeManagerRequest{NodeId: conv.WireNode(n), HttpPort: proto.Int32(8042), NmVersion: new("3.4.2"), Resource: &wire.Resource{Memory: proto.Int64(1 << 20), VirtualCores: proto.Int32(1000)}}
}

func reports(n ids.Node, last int32) *wire.NodeHeartbeatRequest {
	return &wire.NodeHeartbeatRequest{NodeStatus: &wire.NodeStatus{NodeId: conv.WireNode(n), ResponseId: &last, NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)}}}
}

func (f *fixture) dial(at netip.AddrPort, protocol string, with rpc.ClientOptions) *rpc.Client {
	f.Helper()
	with.Protocol = protocol
	c, err := rpc.Dial(f.Context(), at.String(), with)
	must(f, err)
	f.Cleanup(func() { _ = c.Close() })
	return c
}

// submission is what ann submits, with its own access lists.
func submission(id ids.App) *wire.ApplicationSubmissionContext {
	list := func(what wire.ApplicationAccessType, who string) *wire.ApplicationACLMap {
		return &wire.ApplicationACLMap{AccessType: &what, Acl: &who}
	}
	return &wire.ApplicationSubmissionContext{
		ApplicationId: conv.WireApp(id), Queue: new("default"), Resource: &wire.Resource{Memory: proto.Int64(1024), VirtualCores: proto.Int32(1)},
		AmContainerSpec: &wire.ContainerLaunchContext{Command: []string{"run"}, Application_ACLs: []*wire.ApplicationACLMap{
			list(wire.ApplicationAccessType_APPACCESS_VIEW_APP, "vic"), list(wire.ApplicationAccessType_APPACCESS_MODIFY_APP, "nobody ops"),
		}},
	}
}

// given returns an id that ann was given.
func (f *fixture) given() ids.App {
	id, _, err := f.d.RM.NewApp(f.Context(), "ann")
	must(f, err)
	return id
}

// submitted returns an application of ann's.
func (f *fixture) submitted() ids.App {
	id := f.given()
	must(f, f.d.RM.Submit(f.Context(), "ann", submission(id)))
	return id
}

// same makes the same request as every caller.
func same(m proto.Message) func(*rpc.Client, caller) proto.Message {
	return func(*rpc.Client, caller) proto.Message { return m }
}

func (f *fixture) clientRows() []row {
	app, attempt, cont := conv.WireApp(f.app), conv.WireAttempt(f.am.Attempt), conv.WireContainer(f.am)
	each := func(ask func(id ids.App) proto.Message) func(*rpc.Client, caller) proto.Message {
		return func(*rpc.Client, caller) proto.Message { return ask(f.submitted()) }
	}
	submit := func(id ids.App) proto.Message {
		return &wire.SubmitApplicationRequest{ApplicationSubmissionContext: submission(id)}
	}
	own := func(c *rpc.Client, _ caller) proto.Message { // if no id is given, an unknown one
		p := &wire.GetNewApplicationResponse{}
		_ = c.Call(f.Context(), "getNewApplication", &wire.GetNewApplicationRequest{}, p)
		return submit(conv.App(p.GetApplicationId()))
	}
	nothing := &wire.Token{Identifier: []byte{}, Password: []byte{}, Kind: new(""), Service: new("")}
	issued := &wire.GetDelegationTokenResponse{}
	must(f, f.dial(f.d.Client, clients.ClientName, rpc.ClientOptions{User: "ann"}).Call(f.Context(), "getDelegationToken", &wire.GetDelegationTokenRequest{Renewer: new("vic")}, issued))
	lifetime := []*wire.ApplicationUpdateTimeoutMap{{ApplicationTimeoutType: wire.ApplicationTimeoutType_APP_TIMEOUT_LIFETIME.Enum(), ExpireTime: new("2099-01-31T12:00:00.000+0000")}}
	return []row{
		{"getNewApplication", "", same(&wire.GetNewApplicationRequest{})},
		{"submitApplication", "with an id of the caller's", own},
		{"submitApplication", "with an id of the owner's", func(*rpc.Client, caller) proto.Message { return submit(f.given()) }},
		{"submitApplication", "what the owner has submitted", func(*rpc.Client, caller) proto.Message { return submit(f.app) }},
		{"submitApplication", "with an id that was not given", same(submit(ids.App{Cluster: f.app.Cluster, Seq: 1 << 30}))},
		{"forceKillApplication", "", each(func(id ids.App) proto.Message { return &wire.KillApplicationRequest{ApplicationId: conv.WireApp(id)} })},
		{"failApplicationAttempt", "", each(func(id ids.App) proto.Message {
			return &wire.FailApplicationAttemptRequest{ApplicationAttemptId: conv.WireAttempt(ids.Attempt{App: id, N: 1})}
		})},
		{"moveApplicationAcrossQueues", "", each(func(id ids.App) proto.Message {
			return &wire.MoveApplicationAcrossQueuesRequest{ApplicationId: conv.WireApp(id), TargetQueue: new("default")}
		})},
		{"updateApplicationPriority", "", each(func(id ids.App) proto.Message {
			return &wire.UpdateApplicationPriorityRequest{ApplicationId: conv.WireApp(id), ApplicationPriority: &wire.Priority{Priority: proto.Int32(1)}}
		})},
		{"updateApplicationTimeouts", "", each(func(id ids.App) proto.Message {
			return &wire.UpdateApplicationTimeoutsRequest{ApplicationId: conv.WireApp(id), ApplicationTimeouts: lifetime}
		})},
		{"signalToContainer", "", same(&wire.SignalContainerRequest{ContainerId: cont, Command: wire.SignalContainerCommand_OUTPUT_THREAD_DUMP.Enum()})},
		{"getApplicationReport", "", same(&wire.GetApplicationReportRequest{ApplicationId: app})},
		{"getApplications", "", same(&wire.GetApplicationsRequest{Users: []string{"ann"}})},
		{"getApplicationAttemptReport", "", same(&wire.GetApplicationAttemptReportRequest{ApplicationAttemptId: attempt})},
		{"getApplicationAttempts", "", same(&wire.GetApplicationAttemptsRequest{ApplicationId: app})},
		{"getContainerReport", "", same(&wire.GetContainerReportRequest{ContainerId: cont})},
		{"getContainers", "", same(&wire.GetContainersRequest{ApplicationAttemptId: attempt})},
		{"getClusterMetrics", "", same(&wire.GetClusterMetricsRequest{})},
		{"getClusterNodes", "", same(&wire.GetClusterNodesRequest{})},
		{"getQueueInfo", "", same(&wire.GetQueueInfoRequest{QueueName: new("default")})},
		{"getQueueUserAcls", "", same(&wire.GetQueueUserAclsInfoRequest{})},
		{"getResourceTypeInfo", "", same(&wire.GetAllResourceTypeInfoRequest{})},
		{"getResourceProfiles", "", same(&wire.GetAllResourceProfilesRequest{})},
		{"getResourceProfile", "", same(&wire.GetResourceProfileRequest{Profile: new("default")})},
		{"getDelegationToken", "", same(&wire.GetDelegationTokenRequest{Renewer: new("ann")})},
		{"renewDelegationToken", "of the owner's token, whose renewer is the viewer", same(&wire.RenewDelegationTokenRequest{Token: issued.GetToken()})},
		{"renewDelegationToken", "of what is no token", same(&wire.RenewDelegationTokenRequest{Token: nothing})},
		{"cancelDelegationToken", "of the owner's token, whose renewer is the viewer", same(&wire.CancelDelegationTokenRequest{Token: issued.GetToken()})},
		{"cancelDelegationToken", "of what is no token", same(&wire.CancelDelegationTokenRequest{Token: nothing})},
		{"getClusterNodeLabels", "", same(&wire.GetClusterNodeLabelsRequest{})},
		{"getNodeToLabels", "", same(&wire.GetNodesToLabelsRequest{})},
		{"getLabelsToNodes", "", same(&wire.GetLabelsToNodesRequest{})},
		{"getClusterNodeAttributes", "", same(&wire.GetClusterNodeAttributesRequest{})},
		{"getAttributesToNodes", "", same(&wire.GetAttributesToNodesRequest{})},
		{"getNodesToAttributes", "", same(&wire.GetNodesToAttributesRequest{})},
	}
}

// admins returns the table of what administrators call.
func (f *fixture) admins() string {
	var b strings.Builder
	f.rpc(&b, "Administrators", f.d.Admin, clients.Admin(f.d.RM, clients.Options{}), f.adminRows(), people)
	return b.String()
}

func (f *fixture) adminRows() []row {
	size := &wire.ResourceOption{Resource: &wire.Resource{Memory: proto.Int64(1 << 20), VirtualCores: proto.Int32(1000)}, OverCommitTimeout: proto.Int32(-1)}
	return []row{
		{"refreshQueues", "", same(&wire.RefreshQueuesRequest{})},
		{"refreshNodes", "", same(&wire.RefreshNodesRequest{})},
		{"checkForDecommissioningNodes", "", same(&wire.CheckForDecommissioningNodesRequest{})},
		{"updateNodeResource", "", same(&wire.UpdateNodeResourceRequest{NodeResourceMap: []*wire.NodeResourceMap{{NodeId: conv.WireNode(f.node), ResourceOption: size}}})},
		{"getGroupsForUser", "", same(&wire.GetGroupsForUserRequest{User: new("gus")})},
		{"refreshUserToGroupsMappings", "", same(&wire.RefreshUserToGroupsMappingsRequest{})},
		{"refreshNodesResources", "", same(&wire.RefreshNodesResourcesRequest{})},
		{"refreshSuperUserGroupsConfiguration", "", same(&wire.RefreshSuperUserGroupsConfigurationRequest{})},
		{"refreshAdminAcls", "", same(&wire.RefreshAdminAclsRequest{})},
		{"refreshServiceAcls", "", same(&wire.RefreshServiceAclsRequest{})},
		{"refreshClusterMaxPriority", "", same(&wire.RefreshClusterMaxPriorityRequest{})},
		{"addToClusterNodeLabels", "", same(&wire.AddToClusterNodeLabelsRequest{})},
		{"removeFromClusterNodeLabels", "", same(&wire.RemoveFromClusterNodeLabelsRequest{})},
		{"replaceLabelsOnNodes", "", same(&wire.ReplaceLabelsOnNodeRequest{})},
	}
}

// masters returns a master, and callers that would like to pass for it.
func (f *fixture) masters() []caller {
	signed := token.AMRM(f.am.Attempt, masterKey)
	other := token.AMRM(ids.Attempt{App: f.submitted(), N: 7}, masterKey)
	with := func(identifier, password []byte) rpc.ClientOptions {
		return rpc.ClientOptions{Token: &rpc.Token{Identifier: identifier, Password: password, Kind: signed.GetKind()}}
	}
	return []caller{
		{"master", with(signed.GetIdentifier(), signed.GetPassword()), ""},
		{"token with another password", with(signed.GetIdentifier(), []byte("made up")), ""},
		{"token of an attempt that does not run", with(other.GetIdentifier(), other.GetPassword()), ""},
		{"owner, without a token", rpc.ClientOptions{User: "ann"}, ""},
		{"admin, without a token", rpc.ClientOptions{User: "root"}, ""},
	}
}

func (f *fixture) masterRows() []row {
	return []row{
		{"registerApplicationMaster", "", same(&wire.RegisterApplicationMasterRequest{Host: new("127.0.0.1"), RpcPort: proto.Int32(1)})},
		{"allocate", "", same(&wire.AllocateRequest{ResponseId: proto.Int32(0)})},
		{"allocate", "to give back a container of another application", same(&wire.AllocateRequest{
			ResponseId: proto.Int32(1), Release: []*wire.ContainerId{conv.WireContainer(ids.Container{Attempt: ids.Attempt{App: f.submitted(), N: 1}, ID: 1})},
		})},
		{"finishApplicationMaster", "", same(&wire.FinishApplicationMasterRequest{FinalApplicationStatus: wire.FinalApplicationStatus_APP_SUCCEEDED.Enum()})},
	}
}

func (f *fixture) trackerRows() []row {
	at := func(who caller) ids.Node { return ids.Node{Host: who.host, Port: 1} }
	return []row{
		{"registerNodeManager", "", func(_ *rpc.Client, who caller) proto.Message { return registers(at(who)) }},
		{"nodeHeartbeat", "", func(_ *rpc.Client, who caller) proto.Message { return reports(at(who), 0) }},
		{"unRegisterNodeManager", "", func(_ *rpc.Client, who caller) proto.Message {
			return &wire.UnRegisterNodeManagerRequest{NodeId: conv.WireNode(at(who))}
		}},
	}
}

// answers are the answers that say more than that a call was accepted.
var answers = map[string]func() proto.Message{
	"getApplicationReport": func() proto.Message { return &wire.GetApplicationReportResponse{} },
	"getApplications":      func() proto.Message { return &wire.GetApplicationsResponse{} },
	"registerNodeManager":  func() proto.Message { return &wire.RegisterNodeManagerResponse{} },
	"nodeHeartbeat":        func() proto.Message { return &wire.NodeHeartbeatResponse{} },
}

// came returns the result of a call.
func came(p proto.Message, err error) string {
	if e := (*rpc.Error)(nil); errors.As(err, &e) {
		return strings.TrimSuffix(e.Class[strings.LastIndexAny(e.Class, ".$")+1:], "Exception")
	}
	if err != nil {
		return err.Error()
	}
	masked := func(list ...*wire.ApplicationReport) bool {
		return slices.ContainsFunc(list, func(a *wire.ApplicationReport) bool { return a.GetDiagnostics() == "N/A" })
	}
	switch p := p.(type) {
	case *wire.GetApplicationReportResponse:
		if masked(p.GetApplicationReport()) {
			return "masked"
		}
	case *wire.GetApplicationsResponse:
		if masked(p.GetApplications()...) {
			return "masked"
		}
	case *wire.RegisterNodeManagerResponse:
		if p.GetNodeAction() != wire.NodeAction_NORMAL {
			return p.GetNodeAction().String()
		}
	case *wire.NodeHeartbeatResponse:
		if p.GetNodeAction() != wire.NodeAction_NORMAL {
			return p.GetNodeAction().String()
		}
	}
	return "yes"
}

// rpc writes the table of a protocol.
func (f *fixture) rpc(w io.Writer, title string, at netip.AddrPort, p rpc.Protocol, rows []row, callers []caller) {
	f.Helper()
	left := maps.Clone(p.Methods)
	g := grouped{title: title, of: "methods"}
	for _, c := range callers {
		g.callers = append(g.callers, c.name)
	}
	for _, r := range rows {
		if _, served := p.Methods[r.method]; !served {
			f.Errorf("%s: a row calls %s, which is not served", title, r.method)
		}
		delete(left, r.method)
		var cells []string
		for _, who := range callers {
			cells = append(cells, f.call(at, p.Name, r, who))
		}
		name := "`" + r.method + "`"
		if r.note != "" {
			name += " " + r.note
		}
		g.add(name, cells)
	}
	for method := range left { // order: of findings alone
		f.Errorf("%s: no row calls %s: add one", title, method)
	}
	g.write(w)
}

func (f *fixture) call(at netip.AddrPort, protocol string, r row, who caller) string {
	f.Helper()
	with := who.with
	with.Protocol = protocol
	c, err := rpc.Dial(f.Context(), at.String(), with)
	if err != nil {
		return came(nil, err)
	}
	defer func() { _ = c.Close() }()
	answer := proto.Message(&wire.RefreshQueuesResponse{}) // all of its fields are unknown
	if make := answers[r.method]; make != nil {
		answer = make()
	}
	err = c.Call(f.Context(), r.method, r.ask(c, who), answer)
	return came(answer, err)
}

// webBodies are the bodies of changes; changes that are missing here have none.
var webBodies = map[string]string{
	"/state": `{"state":"KILLED"}`, "/queue": `{"queue":"default"}`, "/priority": `{"priority":1}`,
	"/timeout": `{"timeout":{"type":"LIFETIME","expiryTime":"2099-01-31T12:00:00.000+0000"}}`,
}

// web writes the table of what the web server serves.
func (f *fixture) web(w io.Writer) {
	users := []struct{ name, user string }{
		{"nobody", ""}, {"owner", "ann"}, {"viewer", "vic"}, {"group", "gus"}, {"queue", "carl"}, {"admin", "root"}, {"service", "yarn"}, {"other", "eve"},
	}
	g := grouped{title: "REST and pages, on loopback", of: "routes"}
	for _, u := range users {
		g.callers = append(g.callers, u.name)
	}
	failed, err := json.Marshal(api.Sync{Node: f.node.String(), Agent: "a", Failed: []api.Failure{{ID: f.am.String(), Error: "no such group"}}})
	must(f, err)
	told, err := http.Post("http://"+f.d.Agents.String()+api.Path, "application/json", bytes.NewReader(failed))
	must(f, err)
	must(f, told.Body.Close())
	routes := web.Routes()
	slices.Sort(routes)
	for _, pattern := range routes {
		method, path, ok := strings.Cut(pattern, " ")
		if !ok {
			method, path = http.MethodGet, pattern
		}
		var cells []string
		for _, u := range users {
			cells = append(cells, f.ask(method, path, u.user))
		}
		g.add("`"+pattern+"`", cells)
	}
	g.write(w)
}

func (f *fixture) ask(method, path, user string) string {
	f.Helper()
	app := f.app
	if method == http.MethodPut {
		app = f.submitted()
	}
	if path == "/proxy/" {
		path += "{app}/"
	}
	at := strings.NewReplacer("{$}", "", "{app}", app.String(), "{attempt}", f.am.Attempt.String(), "{container}", f.am.String(),
		"{node}", f.node.String(), "{type}", "LIFETIME", "{state}", "ACCEPTED").Replace(path)
	if strings.Contains(at, "{") {
		f.Fatalf("%s: what stands there is not known", path)
	}
	body := ""
	if method == http.MethodPut {
		if body = webBodies[path[strings.LastIndexByte(path, '/'):]]; body == "" {
			f.Fatalf("%s %s: no row calls it: add what it sends", method, path)
		}
	}
	r, err := http.NewRequestWithContext(f.Context(), method, "http://"+f.d.Web.String()+at+"?user.name="+user, strings.NewReader(body))
	must(f, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return f.status(http.DefaultTransport, r)
}

// masks are the texts, by the beginning of the path, in answers that do not show all of an application or of a node's
// containers.
var masks = []struct{ path, text string }{
	{"/ws/v1/cluster/apps", `"startedTime":0,`}, {"/ws/v1/heddle/", `"masked":`}, {"/cluster", `masked"`},
}

// status returns the result of a request.
func (f *fixture) status(by http.RoundTripper, r *http.Request) string {
	f.Helper()
	p, err := by.RoundTrip(r)
	if err != nil {
		return "no connection"
	}
	body, err := io.ReadAll(p.Body)
	must(f, err)
	must(f, p.Body.Close())
	if p.StatusCode >= 400 {
		return fmt.Sprint(p.StatusCode)
	}
	for _, m := range masks {
		if strings.HasPrefix(r.URL.Path, m.path) && bytes.Contains(body, []byte(m.text)) {
			return "masked"
		}
	}
	return "yes"
}

// agents writes the table of the port for node agents.
func (f *fixture) agents(w io.Writer) {
	dir := f.TempDir()
	a, err := trust.Open(filepath.Join(dir, "authority"))
	must(f, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(f, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	h := agents.New(agents.Config{Trust: a, Sync: agents.Sync(f.d.RM, agents.Memory{}), Audit: func(daemon.Deed, error) {}})
	go func() { ended <- httpd.Serve(ctx, l, h, httpd.Options{Conns: 20, TLS: a.ServerConfig()}) }()
	f.Cleanup(func() { stop(); must(f, <-ended) })
	agent := func(node string) http.RoundTripper {
		k, err := a.Token(node, time.Minute)
		must(f, err)
		folder := filepath.Join(dir, strings.ReplaceAll(node, ":", "_"))
		_, err = trust.Join(f.Context(), "https://"+l.Addr().String(), node, k.String(), folder)
		must(f, err)
		c, err := trust.Client(folder)
		must(f, err)
		f.Cleanup(c.CloseIdleConnections)
		return c.Transport
	}
	stranger := http.DefaultTransport.(*http.Transport).Clone()
	stranger.TLSClientConfig = a.ServerConfig().Clone()
	stranger.TLSClientConfig.InsecureSkipVerify, stranger.TLSClientConfig.Certificates, stranger.TLSClientConfig.GetCertificate = true, nil, nil //nolint:gosec // it looks at nobody
	f.Cleanup(stranger.CloseIdleConnections)
	callers := []struct {
		name, base string
		by         http.RoundTripper
	}{
		{"the node's agent", "https://" + l.Addr().String(), agent(f.node.String())},
		{"another node's agent", "https://" + l.Addr().String(), agent("127.0.0.1:9")},
		{"without a certificate", "https://" + l.Addr().String(), stranger},
		{"without TLS, on loopback", "http://" + f.d.Agents.String(), http.DefaultTransport},
	}
	g := grouped{title: "Node agents", of: "routes"}
	for _, c := range callers {
		g.callers = append(g.callers, c.name)
	}
	left := agents.Routes()
	for _, r := range f.agentRows(a) {
		left = slices.DeleteFunc(left, func(p string) bool { return p == r.pattern })
		_, path, _ := strings.Cut(r.pattern, " ")
		var cells []string
		for _, c := range callers {
			body, err := json.Marshal(r.body())
			must(f, err)
			q, err := http.NewRequestWithContext(f.Context(), http.MethodPost, c.base+path, bytes.NewReader(body))
			must(f, err)
			cells = append(cells, f.status(c.by, q))
		}
		g.add(strings.TrimSpace("`"+r.pattern+"` "+r.note), cells)
	}
	for _, pattern := range left {
		f.Errorf("node agents: no row calls %s: add one", pattern)
	}
	g.write(w)
}

// An agentRow is a request to the port for node agents, about the fixture's node.
type agentRow struct {
	pattern, note string
	body          func() any
}

func (f *fixture) agentRows(a *trust.Authority) []agentRow {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(f, err)
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: f.node.String()}}, key)
	must(f, err)
	return []agentRow{
		{"POST " + api.JoinPath, "with a token", func() any {
			k, err := a.Token(f.node.String(), time.Minute)
			must(f, err)
			return api.Join{Token: k.String(), Request: request}
		}},
		{"POST " + api.JoinPath, "without a token", func() any { return api.Join{Request: request} }},
		{"POST " + api.RenewPath, "", func() any { return api.Join{Request: request} }},
		{"POST " + api.Path, "", func() any { return api.Sync{Node: f.node.String(), Agent: "a", Version: "dev"} }},
	}
}

// grouped is a table in which lines with the same cells share a row.
type grouped struct {
	title, of string
	callers   []string
	names     map[string][]string // by the cells
	order     []string
}

func (g *grouped) add(name string, cells []string) {
	key := strings.Join(cells, " | ")
	if g.names == nil {
		g.names = map[string][]string{}
	}
	if g.names[key] == nil {
		g.order = append(g.order, key)
	}
	g.names[key] = append(g.names[key], name)
}

func (g *grouped) write(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n| %s | %s |\n|---|%s\n", g.title, g.of, strings.Join(g.callers, " | "), strings.Repeat("---|", len(g.callers)))
	for _, key := range g.order {
		fmt.Fprintf(w, "| %s | %s |\n", strings.Join(g.names[key], ", "), key)
	}
}
