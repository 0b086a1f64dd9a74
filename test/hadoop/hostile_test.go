package hadoop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/daemon/clients"
	"heddle/internal/testkit/hadoop"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// TestHostileMasters runs masters of another user that answer late, wrongly or not at all, beside a job whose master
// tells the truth. This changes nothing about that job; what is known about the masters only gets older.
func TestHostileMasters(t *testing.T) {
	ctx := onTestbed(t, 10*time.Minute)
	if *manager != hadoop.Heddle {
		t.Skip("only Heddle asks masters")
	}
	watch(t)
	within(t, ctx, "", "dress", "control=[witness]")
	r := must(testbed.StartSleep(ctx, "-m", "2", "-r", "1", "-mt", "300000", "-rt", "1000"))(t) // it is killed at the end
	honest := must(r.App(ctx))(t)
	eventually(t, ctx, time.Minute, honest+" known", func() bool { return known(t, ctx, honest).Running == 2 })
	t.Run("strangers", func(t *testing.T) {
		for _, way := range []struct{ name, failed string }{
			{"silent", "did not answer all requests in time"},
			{"page", `with "text/html", not with JSON`},
			{"endless", "more than 33554432 bytes|did not answer all requests in time"},
			{"elsewhere", `redirects to "127.0.0.1:8088"`},
			{"lies", ""},
		} {
			t.Run(way.name, func(t *testing.T) {
				t.Parallel()
				testStranger(t, ctx, way.name, regexp.MustCompile(way.failed), honest)
			})
		}
	})
	t.Run("stopped", func(t *testing.T) { testStoppedMaster(t, ctx, honest) })
	t.Run("gone", func(t *testing.T) { testGoneMaster(t, ctx, honest) })
	if err := testbed.Kill(ctx, honest); err != nil {
		t.Error(err)
	}
	_, _ = r.Wait() // its client reports that it was killed
}

// known returns what an application's master told, or the zero value if nobody asks. The answer comes at once, whatever
// masters do.
func known(t *testing.T, ctx context.Context, app string) (k struct {
	Age     time.Duration // since the master's last answer; −1 ms before the first
	Failed  string
	Running int
},
) {
	t.Helper()
	began := time.Now()
	e, err := explain(ctx, app)
	if took := time.Since(began); err == nil && took > 2*time.Second {
		t.Errorf("the ResourceManager took %v to say what is known of %s", took, app)
	}
	if err == nil && e.Known != nil {
		k.Age, k.Failed, k.Running = time.Duration(e.Known.Age)*time.Millisecond, e.Known.Failed, e.Known.Running
	}
	return k
}

// testStranger runs a master that answers in a given way, until it tells the truth.
func testStranger(t *testing.T, ctx context.Context, way string, failed *regexp.Regexp, honest string) {
	mode := filepath.Join(t.TempDir(), "mode")
	if err := os.WriteFile(mode, []byte(way), 0o600); err != nil {
		t.Fatal(err)
	}
	app := submitStranger(t, ctx, mode, honest)
	fresh := func(what string, yes func() bool) {
		eventually(t, ctx, time.Minute, what, func() bool {
			if k := known(t, ctx, honest); k.Failed != "" || k.Running != 2 || k.Age > fedWithin+5*time.Second {
				t.Errorf("%s: of %s it is known that %d tasks run, %v ago, %q", way, honest, k.Running, k.Age, k.Failed)
			}
			return yes()
		})
	}
	if way == "lies" {
		fresh(app+" believed of itself", func() bool { return known(t, ctx, app).Running == 1 })
	} else {
		fresh(app+" failed to answer", func() bool {
			k := known(t, ctx, app)
			return k.Failed != "" && failed.MatchString(k.Failed) && k.Running == 0
		})
	}
	if err := os.WriteFile(mode, []byte("truth"), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh(app+" tells the truth", func() bool { k := known(t, ctx, app); return k.Failed == "" && k.Running == 1 && k.Age < fedWithin })
	if err := os.WriteFile(mode, []byte("end"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := must(testbed.Ended(ctx, app))(t); a.FinalStatus != "SUCCEEDED" || a.User != stranger {
		t.Errorf("%s of %s ended as %s: %s", app, a.User, a.FinalStatus, a.Diagnostics)
	}
}

// testStoppedMaster stops a master for a while.
func testStoppedMaster(t *testing.T, ctx context.Context, app string) {
	at := must(testbed.Attempts(ctx, app))(t)[0].Container
	if n := testbed.SignalContainer(app, at, syscall.SIGSTOP); n == 0 {
		t.Fatalf("%s has no process", at)
	}
	eventually(t, ctx, time.Minute, app+" does not answer", func() bool {
		k := known(t, ctx, app)
		return strings.Contains(k.Failed, "in time") && k.Running == 2
	})
	testbed.SignalContainer(app, at, syscall.SIGCONT)
	eventually(t, ctx, time.Minute, app+" answers again", func() bool { k := known(t, ctx, app); return k.Failed == "" && k.Age < fedWithin })
}

// testGoneMaster kills a master; its application gets another.
func testGoneMaster(t *testing.T, ctx context.Context, app string) {
	at := must(testbed.Attempts(ctx, app))(t)[0].Container
	if testbed.SignalContainer(app, at, syscall.SIGKILL) == 0 {
		t.Fatalf("%s has no process", at)
	}
	eventually(t, ctx, time.Minute, "another attempt of "+app, func() bool { had, err := testbed.Attempts(ctx, app); return err == nil && len(had) == 2 })
	eventually(t, ctx, time.Minute, app+" known again", func() bool { k := known(t, ctx, app); return k.Failed == "" && k.Running > 0 })
}

// The environment of a stranger's master: where it reads how to answer, and whose containers it claims as its own.
const (
	strangerMode  = "HEDDLE_TEST_STRANGER_MODE"
	strangerOther = "HEDDLE_TEST_STRANGER_OTHER"
	stranger      = "stranger" // the user who submits it
)

// submitStranger submits a MapReduce application whose master is this program: see [beStranger].
func submitStranger(t *testing.T, ctx context.Context, mode, other string) string {
	t.Helper()
	program := must(os.Executable())(t)
	c := must(rpc.Dial(ctx, rmAddress("8032"), rpc.ClientOptions{Protocol: clients.ClientName, User: stranger}))(t)
	defer func() { _ = c.Close() }()
	var made wire.GetNewApplicationResponse
	if err := c.Call(ctx, "getNewApplication", &wire.GetNewApplicationRequest{}, &made); err != nil {
		t.Fatal(err)
	}
	variable := func(key, value string) *wire.StringStringMap {
		return &wire.StringStringMap{Key: new(key), Value: new(value)}
	}
	what := &wire.ApplicationSubmissionContext{
		ApplicationId: made.ApplicationId, ApplicationName: new("stranger"), ApplicationType: new("MAPREDUCE"), MaxAppAttempts: new(int32(1)),
		Resource: &wire.Resource{Memory: new(int64(512)), VirtualCores: new(int32(1))},
		AmContainerSpec: &wire.ContainerLaunchContext{
			Command:     []string{"exec " + program + " >/dev/null 2>master.err"},
			Environment: []*wire.StringStringMap{variable(strangerMode, mode), variable(strangerOther, other)},
		},
	}
	if err := c.Call(ctx, "submitApplication", &wire.SubmitApplicationRequest{ApplicationSubmissionContext: what}, &wire.SubmitApplicationResponse{}); err != nil {
		t.Fatal(err)
	}
	return conv.App(made.ApplicationId).String()
}

// rmAddress returns the address of a port of the ResourceManager.
func rmAddress(port string) string {
	host, _, _ := net.SplitHostPort(hadoop.RMWeb)
	return net.JoinHostPort(host, port)
}

// beStranger is a MapReduce master with one map that sleeps. A file says how it answers REST requests.
func beStranger() error {
	ctx := context.Background()
	l, err := net.Listen("tcp", net.JoinHostPort(os.Getenv("NM_HOST"), "0"))
	if err != nil {
		return err
	}
	m := &strangeMaster{mode: os.Getenv(strangerMode), other: os.Getenv(strangerOther)}
	if m.own, err = ids.ParseContainer(os.Getenv("CONTAINER_ID")); err != nil {
		return err
	}
	go func() { _ = http.Serve(l, m) }()
	text, err := os.ReadFile(os.Getenv("HADOOP_TOKEN_FILE_LOCATION"))
	if err != nil {
		return err
	}
	had, err := token.ParseCredentials(text)
	if err != nil {
		return err
	}
	for _, k := range had.Tokens {
		if k.Token.GetKind() == token.AMRMKind {
			return m.run(ctx, k.Token, "http://"+l.Addr().String())
		}
	}
	return errors.New("no token to register with")
}

// A strangeMaster is a master that answers as a file says.
type strangeMaster struct {
	mode  string // the file's name
	other string // another application
	own   ids.Container
}

// with returns a connection that is authenticated with a token.
func with(ctx context.Context, addr, protocol string, k *wire.Token) (*rpc.Client, error) {
	return rpc.Dial(ctx, addr, rpc.ClientOptions{Protocol: protocol, Token: &rpc.Token{
		Identifier: k.GetIdentifier(), Password: k.GetPassword(), Kind: k.GetKind(), Service: k.GetService(),
	}})
}

// run registers, runs a map, and ends when the file says so.
func (m *strangeMaster) run(ctx context.Context, k *wire.Token, pages string) error {
	c, err := with(ctx, rmAddress("8030"), "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB", k)
	if err != nil {
		return err
	}
	if err := c.Call(ctx, "registerApplicationMaster", &wire.RegisterApplicationMasterRequest{
		Host: new(os.Getenv("NM_HOST")), RpcPort: new(int32(1)), TrackingUrl: new(pages),
	}, &wire.RegisterApplicationMasterResponse{}); err != nil {
		return err
	}
	q := &wire.AllocateRequest{ResponseId: new(int32(0)), Ask: []*wire.ResourceRequest{{
		Priority: &wire.Priority{Priority: new(int32(20))}, ResourceName: new("*"), NumContainers: new(int32(1)),
		Capability: &wire.Resource{Memory: new(int64(256)), VirtualCores: new(int32(1))},
	}}}
	for ; ; time.Sleep(time.Second) {
		p := &wire.AllocateResponse{}
		if err := c.Call(ctx, "allocate", q, p); err != nil {
			return err
		}
		q = &wire.AllocateRequest{ResponseId: p.ResponseId}
		for i, x := range p.AllocatedContainers {
			if err := startSleep(ctx, x, p.NmTokens[i].GetToken()); err != nil {
				return err
			}
		}
		if m.way() == "end" {
			return c.Call(ctx, "finishApplicationMaster", &wire.FinishApplicationMasterRequest{
				FinalApplicationStatus: wire.FinalApplicationStatus_APP_SUCCEEDED.Enum(),
			}, &wire.FinishApplicationMasterResponse{})
		}
	}
}

// startSleep starts a container that sleeps.
func startSleep(ctx context.Context, x *wire.Container, k *wire.Token) error {
	c, err := with(ctx, conv.Node(x.GetNodeId()).String(), "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB", k)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return c.Call(ctx, "startContainers", &wire.StartContainersRequest{StartContainerRequest: []*wire.StartContainerRequest{{
		ContainerLaunchContext: &wire.ContainerLaunchContext{Command: []string{"exec sleep 600"}}, ContainerToken: x.ContainerToken,
	}}}, &wire.StartContainersResponse{})
}

// way returns how it answers now.
func (m *strangeMaster) way() string {
	text, _ := os.ReadFile(m.mode) // an unreadable file counts as empty
	return string(text)
}

func (m *strangeMaster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	job := strings.TrimPrefix(m.own.Attempt.App.String(), "application_")
	task := "task_" + job + "_m_000000"
	switch way := m.way(); {
	case way == "silent":
		<-r.Context().Done()
	case way == "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>please log in</html>")
	case way == "endless":
		more := strings.Repeat(" ", 1<<20)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, more)
		}
	case way == "elsewhere":
		http.Redirect(w, r, "http://"+hadoop.RMWeb+"/ws/v1/cluster/apps", http.StatusFound)
	case strings.HasSuffix(r.URL.Path, "/attempts"):
		own := m.own
		own.ID++
		in, page := own.String(), ""
		if way == "lies" { // it claims to run in a container of another application
			in, page = strings.Replace(m.other, "application_", "container_", 1)+"_01_000002", hadoop.RMWeb
		}
		_, _ = fmt.Fprintf(w, `{"taskAttempts":{"taskAttempt":[{"id":"attempt%s_0","state":"RUNNING","assignedContainerId":%q,"nodeHttpAddress":%q}]}}`, strings.TrimPrefix(task, "task"), in, page)
	case strings.HasSuffix(r.URL.Path, "/tasks") && way == "lies": // it claims that tasks of another application are done
		other := strings.Replace(m.other, "application_", "task_", 1)
		_, _ = fmt.Fprintf(w, `{"tasks":{"task":[{"id":%q,"state":"RUNNING","progress":99},{"id":"%s_m_000000","state":"SUCCEEDED","progress":100},{"id":"%[2]s_m_000001","state":"FAILED","progress":100}]}}`, task, other)
	case strings.HasSuffix(r.URL.Path, "/tasks"):
		_, _ = fmt.Fprintf(w, `{"tasks":{"task":[{"id":%q,"state":"RUNNING","progress":50}]}}`, task)
	default:
		http.NotFound(w, r)
	}
}
