package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/yarn/conv"
	"heddle/yarn/rest"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// rpcServer serves the three changes and records who asked for what. It knows application_1_0001, which is ada's.
func rpcServer(t *testing.T, done *[]string) (addr string) {
	t.Helper()
	check := func(c *rpc.Call, app *wire.ApplicationId, what string) error {
		*done = append(*done, c.User+" "+what)
		switch {
		case conv.App(app).Seq != 1:
			return &rpc.Error{Class: "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException", Message: "there is no " + conv.App(app).String()}
		case c.User != "ada":
			return &rpc.Error{Class: rpc.ClassAccessControl, Message: c.User + " may not"}
		}
		return nil
	}
	kills := 0
	s := rpc.NewServer(rpc.Options{Protocols: []rpc.Protocol{{Name: clientProtocol, Methods: map[string]rpc.Method{
		"forceKillApplication": rpc.Serve(func(_ context.Context, c *rpc.Call, q *wire.KillApplicationRequest) (*wire.KillApplicationResponse, error) {
			kills++
			return &wire.KillApplicationResponse{IsKillCompleted: new(kills > 1)}, check(c, q.GetApplicationId(), "kill")
		}),
		"moveApplicationAcrossQueues": rpc.Serve(func(_ context.Context, c *rpc.Call, q *wire.MoveApplicationAcrossQueuesRequest) (*wire.MoveApplicationAcrossQueuesResponse, error) {
			return &wire.MoveApplicationAcrossQueuesResponse{}, check(c, q.GetApplicationId(), "move "+q.GetTargetQueue())
		}),
		"updateApplicationPriority": rpc.Serve(func(_ context.Context, c *rpc.Call, q *wire.UpdateApplicationPriorityRequest) (*wire.UpdateApplicationPriorityResponse, error) {
			p := min(q.GetApplicationPriority().GetPriority(), 10)
			return &wire.UpdateApplicationPriorityResponse{ApplicationPriority: &wire.Priority{Priority: &p}}, check(c, q.GetApplicationId(), fmt.Sprint("priority ", p))
		}),
	}}}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// open returns a client of a Heddle that others can reach, at the RPC address that it reports: REST changes nothing.
func open(t *testing.T, user, rpcAddr string, over bool) *Client {
	t.Helper()
	return serve(t, Options{User: user}, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet:
			says(w, 401, `{"RemoteException":{"exception":"AuthorizationException","message":"who?"}}`)
		case r.URL.Path == rest.HeddleBase+"/info":
			says(w, 200, fmt.Sprintf(`{"client_address":%q,"rest_changes":%t}`, rpcAddr, over))
		default:
			says(w, 200, `{"id":"application_1_0001","queue":"root.b"}`)
		}
	})
}

func TestChangesOverRPC(t *testing.T) {
	var done []string
	_, port, err := net.SplitHostPort(rpcServer(t, &done))
	if err != nil {
		t.Fatal(err)
	}
	const id, gone = "application_1_0001", "application_1_0002"
	for _, listens := range []string{"127.0.0.1:" + port, "0.0.0.0:" + port, "[::]:" + port} { // the host of the web pages
		c := open(t, "ada", listens, false)
		if got, err := c.SetPriority(t.Context(), id, 99); got != 10 || err != nil {
			t.Errorf("%s: priority %d, %v", listens, got, err)
		}
		if q, err := c.Move(t.Context(), id, "b"); q != "root.b" || err != nil {
			t.Errorf("%s: moved to %q, %v", listens, q, err)
		}
	}
	c := open(t, "ada", "0.0.0.0:"+port, false)
	for _, want := range []bool{false, true} {
		if over, err := c.Kill(t.Context(), id); over != want || err != nil {
			t.Errorf("killed %v, %v; want %v", over, err, want)
		}
	}
	want := slices.Concat(slices.Repeat([]string{"ada priority 10", "ada move b"}, 3), []string{"ada kill", "ada kill"})
	if !slices.Equal(done, want) {
		t.Errorf("done %q, want %q", done, want)
	}
	if _, err := c.Kill(t.Context(), gone); !NotFound(err) || !strings.Contains(err.Error(), "forceKillApplication at 127.0.0.1:"+port) {
		t.Errorf("killing what is not there: %v", err)
	}
	if _, err := open(t, "eve", "0.0.0.0:"+port, false).Move(t.Context(), id, "b"); err == nil || NotFound(err) || !strings.HasPrefix(err.Error(), "eve may not (") {
		t.Errorf("somebody else's application: %v", err)
	}
	if _, err := open(t, "ada", "0.0.0.0:"+port, true).Kill(t.Context(), id); err == nil || !strings.HasPrefix(err.Error(), "who? (") {
		t.Errorf("where REST takes changes they go there: %v", err)
	}
	if _, err := open(t, "ada", "127.0.0.1:1", false).Kill(t.Context(), id); err == nil || !strings.Contains(err.Error(), "RPC to 127.0.0.1:1: ") || !strings.HasPrefix(err.Error(), "http://127.0.0.1:") {
		t.Errorf("nobody at the client port: %v", err)
	}
	if _, err := open(t, "ada", "nonsense", false).Kill(t.Context(), id); err == nil || !strings.Contains(err.Error(), `gives "nonsense" as its address for clients; want host:port`) {
		t.Errorf("no address: %v", err)
	}
}
