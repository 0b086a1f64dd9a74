package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// serve starts a server that answers every path by f, and returns a client for it.
func serve(t *testing.T, o Options, f http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	o.URL = s.URL + o.URL
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func says(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"": DefaultURL, "rm1:8088": "http://rm1:8088", "http://rm1:8088/": "http://rm1:8088",
		"https://gate/yarn/": "https://gate/yarn", "[::1]:8088": "http://[::1]:8088", "http://a?b#c": "http://a",
		"https://ada:secret@gate": "https://ada:xxxxx@gate",
	} {
		c, err := New(Options{URL: text})
		if err != nil || c.URL() != want {
			t.Errorf("%q: %v %v, want %s", text, c, err, want)
		}
	}
	for _, text := range []string{"ftp://x", "http://", "http://%zz", "://x"} {
		if _, err := New(Options{URL: text}); err == nil || !strings.Contains(err.Error(), "http://host:8088") {
			t.Errorf("%q: %v, want an error that shows an address", text, err)
		}
	}
}

// A request reaches a server below a path, escaped once, with the user and what filters want.
func TestRequest(t *testing.T) {
	c := serve(t, Options{URL: "/gate", User: "a b"}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() != "/gate/ws/v1/heddle/nodes/h%2F1:8041" || r.URL.Query().Get("user.name") != "a b" ||
			r.Header.Get("X-XSRF-Header") == "" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("asked for %s with %v", r.URL, r.Header)
		}
		says(w, 200, `{"id":"h/1:8041"}`)
	})
	n, err := c.Node(t.Context(), "h/1:8041")
	if err != nil || n.ID != "h/1:8041" {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		kind, body string
		status     int
		want       string
		missing    bool
	}{
		{"application/json", `{"RemoteException":{"exception":"NotFoundException","message":"java.lang.Exception: app with id: application_1_0001 not found"}}`, 404, "app with id: application_1_0001 not found (http", true},
		{"application/json", `{"RemoteException":{"exception":"X","message":"queue: a, b"}}`, 400, "queue: a, b (http", false},
		{"text/plain", "User ada cannot\n", 403, "User ada cannot (http", false},
		{"text/html", "<html>", 502, "answered 502 Bad Gateway (http", false},
		{"text/html", "<html>", 404, "it is not the web address of a ResourceManager (http", false},
		{"text/plain", "no such page", 404, "it is not the web address of a ResourceManager (http", false},
		{"text/html", "<html>", 200, "answered with \"text/html\" and not with JSON", false},
		{"application/json", "{", 200, "ws/v1/heddle/apps/application_1_0001: answer", false},
		{"application/json", `{"id":[]}`, 200, "ws/v1/heddle/apps/application_1_0001: answer", false},
	} {
		c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", x.kind)
			w.WriteHeader(x.status)
			fmt.Fprint(w, x.body)
		})
		_, err := c.App(t.Context(), "application_1_0001")
		if err == nil || !strings.Contains(err.Error(), x.want) || NotFound(err) != x.missing {
			t.Errorf("%d %s: %v, want an error with %q", x.status, x.body, err, x.want)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	c, err := New(Options{URL: "127.0.0.1:1", User: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Metrics(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "no ResourceManager answers at http://127.0.0.1:1: ") || strings.Contains(err.Error(), "ada") {
		t.Errorf("%v", err)
	}
	if c, err = New(Options{URL: "http://ada:secret@127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Metrics(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v, want an error without the password", err)
	}
	slow := serve(t, Options{Timeout: 50 * time.Millisecond}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if _, err := slow.Metrics(t.Context()); err == nil {
		t.Error("a ResourceManager that never answers is waited for")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := slow.Metrics(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the call was cancelled", err)
	}
}

// What a service cannot filter by is filtered here, before the newest are chosen.
func TestAppFilter(t *testing.T) {
	var query string
	const apps = `[{"id":"application_1_0010","user":"a","queue":"root.x"},{"id":"application_1_0009","user":"b","queue":"root.y"},
		{"id":"application_1_0011","user":"c","queue":"root.x.y"},{"id":"application_1_0002","user":"a","queue":"root.z"}]`
	c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == rest.HeddleBase+"/queues" {
			says(w, 200, `{"queues":[{"path":"root"},{"path":"root.x"},{"path":"root.x.y","leaf":true},{"path":"root.z","leaf":true}]}`)
			return
		}
		query = r.URL.RawQuery
		says(w, 200, `{"applications":`+apps+`}`)
	})
	other := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, rest.HeddleBase) {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == rest.Base+"/scheduler" {
			says(w, 200, `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queueName":"root","queues":{"queue":[
				{"queueName":"x","queues":{"queue":[{"queueName":"y"}]}},{"queueName":"z"}]}}}}`)
			return
		}
		query = r.URL.RawQuery
		says(w, 200, `{"apps":{"app":`+apps+`}}`)
	})
	for _, x := range []struct {
		f     AppFilter
		query string
		own   string // added to query if Heddle is asked
		want  []string
	}{
		{AppFilter{}, "", "", []string{"02", "09", "10", "11"}},
		{AppFilter{Limit: 2}, "", "limit=2", []string{"10", "11"}},
		{AppFilter{Before: ids.App{Cluster: 1, Seq: 10}}, "", "before=application_1_0010", []string{"02", "09"}},
		{AppFilter{Before: ids.App{Cluster: 1, Seq: 11}, Limit: 2}, "", "before=application_1_0011&limit=2", []string{"09", "10"}},
		{AppFilter{Users: []string{"a"}, States: []string{"NEW", "RUNNING"}}, "states=NEW%2CRUNNING&user=a", "", []string{"02", "10"}},
		{AppFilter{Users: []string{"a", "b"}, Limit: 2}, "", "", []string{"09", "10"}},
		{AppFilter{Queues: []string{"root.x"}, Types: []string{"SPARK"}}, "applicationTypes=SPARK&queue=root.x", "", []string{"02", "09", "10", "11"}},
		{AppFilter{Queues: []string{"root.x", "z"}, Limit: 4}, "", "", []string{"02", "11"}},
		{AppFilter{Queues: []string{"x", "z"}, Limit: 1}, "", "", []string{"11"}},
	} {
		for _, c := range []*Client{c, other} {
			apps, err := c.Apps(t.Context(), x.f)
			var got []string
			for _, a := range apps {
				got = append(got, strings.TrimPrefix(a.ID.String(), "application_1_00"))
			}
			want := x.query
			if c != other {
				want += x.own
			}
			if err != nil || query != want || !slices.Equal(got, x.want) {
				t.Errorf("%+v: %v %v by %q, want %v by %q", x.f, got, err, query, x.want, want)
			}
		}
	}
	for _, c := range []*Client{c, other} {
		if apps, err := c.Apps(t.Context(), AppFilter{Queues: []string{"root.x", "root.no"}}); !NotFound(err) || !strings.Contains(err.Error(), "Unknown queue: root.no") {
			t.Errorf("of a queue that is not there, beside one that is: %v %v", apps, err)
		}
	}
	for _, nothing := range []string{`{"apps":{}}`, `{"apps":null}`, `{}`} {
		c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, rest.HeddleBase) {
				http.NotFound(w, r)
				return
			}
			says(w, 200, nothing)
		})
		if apps, err := c.Apps(t.Context(), AppFilter{}); err != nil || len(apps) != 0 {
			t.Errorf("%s: %v %v", nothing, apps, err)
		}
	}
}

func TestWrites(t *testing.T) {
	status := 202
	c := serve(t, Options{User: "ada"}, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, rest.HeddleBase) {
			http.NotFound(w, r)
			return
		}
		var body strings.Builder
		if err := r.Write(&body); err != nil {
			t.Error(err)
		}
		text := body.String()
		if r.Method != "PUT" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s", text)
		}
		if strings.HasSuffix(r.URL.Path, "/queue") {
			if !strings.Contains(text, `{"queue":"b"}`) {
				t.Errorf("%s", text)
			}
			says(w, 200, `{"queue":"root.b"}`)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/priority") {
			if !strings.Contains(text, `{"priority":99}`) {
				t.Errorf("%s", text)
			}
			says(w, 200, `{"priority":10}`)
			return
		}
		if !strings.Contains(text, `{"state":"KILLED"}`) {
			t.Errorf("%s", text)
		}
		says(w, status, `{"state":"RUNNING"}`)
	})
	if done, err := c.Kill(t.Context(), "application_1_0001"); done || err != nil {
		t.Errorf("%v, %v; want that it is not over yet", done, err)
	}
	status = 200
	if done, err := c.Kill(t.Context(), "application_1_0001"); !done || err != nil {
		t.Errorf("%v, %v; want that it is over", done, err)
	}
	if q, err := c.Move(t.Context(), "application_1_0001", "b"); q != "root.b" || err != nil {
		t.Errorf("%q, %v", q, err)
	}
	if p, err := c.SetPriority(t.Context(), "application_1_0001", 99); p != 10 || err != nil {
		t.Errorf("%d, %v", p, err)
	}
}

// A caller that polls every second notices when another ResourceManager has taken the address.
func TestAnotherComes(t *testing.T) {
	up, heddle := true, false
	c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case !up:
			panic(http.ErrAbortHandler)
		case heddle:
			says(w, 200, `{"profile":"heddle"}`)
		default:
			says(w, 404, `{"RemoteException":{"exception":"NotFoundException","message":"null for uri"}}`)
		}
	})
	if _, err := c.Info(t.Context()); !errors.Is(err, ErrNotHeddle) {
		t.Fatalf("%v, want that it is another", err)
	}
	up, heddle = false, true
	if _, err := c.Metrics(t.Context()); err == nil {
		t.Fatal("nobody answers, and that is no error")
	}
	up = true
	if info, err := c.Info(t.Context()); err != nil || info.Profile != "heddle" {
		t.Errorf("once Heddle is there it is told %+v, %v", info, err)
	}
}

// A missing object is distinguished from a ResourceManager that is not Heddle.
func TestNotHeddle(t *testing.T) {
	for _, isHeddle := range []bool{true, false} {
		c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			if isHeddle && r.URL.Path == rest.HeddleBase+"/info" {
				says(w, 200, `{"profile":"heddle"}`)
				return
			}
			says(w, 404, `{"RemoteException":{"exception":"NotFoundException","message":"null for uri"}}`)
		})
		_, err := c.Why(t.Context(), "application_1_0001")
		if errors.Is(err, ErrNotHeddle) == isHeddle || NotFound(err) != isHeddle {
			t.Errorf("Heddle %v: %v", isHeddle, err)
		}
		if info, err := c.Info(t.Context()); isHeddle && info.Profile != "heddle" || errors.Is(err, ErrNotHeddle) == isHeddle {
			t.Errorf("Heddle %v: %+v %v", isHeddle, info, err)
		}
	}
}
