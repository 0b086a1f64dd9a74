package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heddle/node/api"
	"heddle/node/groups"
	"heddle/node/procs"
)

// A wire answers requests in memory.
type wire func(*http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func reply(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Body: io.NopCloser(strings.NewReader(body))}
}

type one struct{ c procs.Container }

func (f one) Find() []procs.Container { return []procs.Container{f.c} }

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTree()
		c := container(0)
		f.sets[c.ID] = groups.Set{Park: true} // of an earlier agent
		up, requests, begun := true, 0, time.Now()
		var last api.Sync
		client := &http.Client{Transport: wire(func(r *http.Request) (*http.Response, error) {
			requests++
			last = api.Sync{}
			if err := json.NewDecoder(r.Body).Decode(&last); err != nil || last.Check() != nil {
				t.Errorf("%+v: %v", last, err)
			}
			if !up {
				return nil, errors.New("refused")
			}
			if requests > 1 {
				select {
				case <-time.After(5 * time.Second):
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}
			text, _ := json.Marshal(api.Wish{Version: 3, Every: 5000, Lease: 30_000, Want: []api.Want{{ID: c.ID, Weight: 40, Freeze: 2000}}})
			return reply(200, string(text)), nil
		})}
		a, err := New(Config{RM: "http://rm:8088/", Node: "n:1", Finder: one{c}, Groups: f, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		has := func(want groups.Set) {
			t.Helper()
			synctest.Wait()
			if f.sets[c.ID] != want {
				t.Errorf("after %v: %+v, want %+v", time.Since(begun), f.sets[c.ID], want)
			}
		}
		has(groups.Set{Weight: 40, Freeze: true})
		time.Sleep(2*time.Second + time.Millisecond)
		has(groups.Set{Weight: 40})
		if last.Applied != 3 {
			t.Errorf("it says that it applied %d", last.Applied)
		}
		time.Sleep(60 * time.Second)
		if requests > 16 {
			t.Errorf("%d requests in a minute", requests)
		}
		has(groups.Set{Weight: 40})
		up = false
		before := requests
		time.Sleep(45 * time.Second)
		has(groups.Set{})
		if n := requests - before; n < 4 || n > 20 {
			t.Errorf("%d requests while nobody answers", n)
		}
		if last.Applied != 0 {
			t.Errorf("without a lease it says that it applied %d", last.Applied)
		}
		up = true
		time.Sleep(20 * time.Second)
		has(groups.Set{Weight: 40}) // it was frozen under a want that lasts
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		has(groups.Set{})
	})
}

func TestAsks(t *testing.T) {
	for _, x := range []struct {
		code int
		body string
		ok   bool
	}{
		{200, `{"containers":{"container":[{"id":"container_1"}]}}`, true},
		{200, `{"containers":{}}`, true},
		{200, `{"RemoteException":{}}`, false},
		{200, `<html>`, false},
		{503, `{"containers":{}}`, false},
	} {
		client := &http.Client{Transport: wire(func(*http.Request) (*http.Response, error) { return reply(x.code, x.body), nil })}
		a, err := New(Config{RM: "http://rm:1", NMWeb: "http://nm:1", Node: "n:1", Client: client})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.ask(t.Context()); (got.err == nil) != x.ok {
			t.Errorf("%s: %v", x.body, got.err)
		}
	}
}

func TestRefusesAnswers(t *testing.T) {
	for _, body := range []string{`{}`, `no JSON`, strings.Repeat(" ", maxWish+1), `{"version":1,"every_ms":1000,"lease_ms":2000,"want":[{"id":"c","freeze_ms":9999999}]}`} {
		client := &http.Client{Transport: wire(func(*http.Request) (*http.Response, error) { return reply(200, body), nil })}
		a, err := New(Config{RM: "http://rm:1", Node: "n:1", Client: client})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.sync(t.Context(), &api.Sync{}, time.Second); got.err == nil {
			t.Errorf("%.50q: %+v", body, got.wish)
		}
	}
}

func TestNew(t *testing.T) {
	for _, c := range []Config{{}, {RM: "rm:8088", Node: "n:1"}, {RM: "http://rm", Node: "n"}, {RM: "http://rm", NMWeb: "nm", Node: "n:1"}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
