package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
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
		var (
			up       atomic.Bool
			requests atomic.Int32
			last     atomic.Pointer[api.Sync]
		)
		up.Store(true)
		begun := time.Now()
		client := &http.Client{Transport: wire(func(r *http.Request) (*http.Response, error) {
			n, said := requests.Add(1), api.Sync{}
			if err := json.NewDecoder(r.Body).Decode(&said); err != nil || said.Check() != nil {
				t.Errorf("%+v: %v", said, err)
			}
			last.Store(&said)
			if !up.Load() {
				return nil, errors.New("refused")
			}
			if n > 1 {
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
			if is := f.set(c.ID); is != want {
				t.Errorf("after %v: %+v, want %+v", time.Since(begun), is, want)
			}
		}
		has(groups.Set{Weight: 40, Freeze: true})
		time.Sleep(2*time.Second + time.Millisecond)
		has(groups.Set{Weight: 40})
		if n := last.Load().Applied; n != 3 {
			t.Errorf("it says that it applied %d", n)
		}
		time.Sleep(60 * time.Second)
		if n := requests.Load(); n > 16 {
			t.Errorf("%d requests in a minute", n)
		}
		has(groups.Set{Weight: 40})
		up.Store(false)
		before := requests.Load()
		time.Sleep(45 * time.Second)
		has(groups.Set{})
		if n := requests.Load() - before; n < 4 || n > 20 {
			t.Errorf("%d requests while nobody answers", n)
		}
		if n := last.Load().Applied; n != 0 {
			t.Errorf("without a lease it says that it applied %d", n)
		}
		up.Store(true)
		time.Sleep(20 * time.Second)
		has(groups.Set{Weight: 40}) // it was frozen under a want that lasts
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		has(groups.Set{})
	})
}

// A finder finds one container, and hangs when told to.
type finder struct {
	one
	hangs func()
}

func (f finder) Find() []procs.Container {
	f.hangs()
	return f.one.Find()
}

// A hanging disk does not keep containers from getting what they are to have, whether a look for containers hangs or a
// read of files. In the latter case nothing is sent to the ResourceManager, and the lease ends.
func TestDiskHangs(t *testing.T) {
	for _, reads := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var stuck atomic.Bool
			back := make(chan struct{})
			hangs := func() {
				if stuck.Load() {
					<-back
				}
			}
			f, find := newTree(), finder{one{container(0)}, func() {}}
			client := &http.Client{Transport: wire(func(*http.Request) (*http.Response, error) {
				time.Sleep(time.Second)
				text, _ := json.Marshal(api.Wish{Version: 1, Every: 1000, Lease: 10_000, Want: []api.Want{{ID: find.c.ID, Weight: 40, Freeze: 5000}}})
				return reply(200, string(text)), nil
			})}
			if !reads {
				find.hangs = hangs
			}
			a, err := New(Config{RM: "http://rm:8088/", Node: "n:1", Finder: find, Groups: f, Client: client})
			if err != nil {
				t.Fatal(err)
			}
			if reads {
				a.files = func(*api.Sync, asked) { hangs() }
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- a.Run(ctx) }()
			after := func(wait time.Duration, want groups.Set) {
				t.Helper()
				time.Sleep(wait)
				synctest.Wait()
				if is := f.set(find.c.ID); is != want {
					t.Errorf("reads %v: %+v, want %+v", reads, is, want)
				}
			}
			after(1100*time.Millisecond, groups.Set{Weight: 40, Freeze: true})
			stuck.Store(true)
			after(5*time.Second, groups.Set{Weight: 40})
			if reads {
				after(10*time.Second, groups.Set{})
				close(back)
				stuck.Store(false)
			}
			after(60*time.Second, groups.Set{Weight: 40})
			cancel()
			time.Sleep(leave)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			after(0, groups.Set{})
			if !reads {
				close(back)
			}
		})
	}
}

// An agent that is refused, because another one claims the same node, logs why and gives its containers their defaults at
// the end of its lease, which counts from its request. It asks again now and then.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const why = "another node agent that started later also claims node n:1"
		f, c := newTree(), container(0)
		var requests atomic.Int32
		client := &http.Client{Transport: wire(func(*http.Request) (*http.Response, error) {
			if requests.Add(1) > 1 {
				return reply(http.StatusConflict, why), nil
			}
			time.Sleep(5 * time.Second) // it is held back
			text, _ := json.Marshal(api.Wish{Version: 1, Every: 5000, Lease: 30_000, Want: []api.Want{{ID: c.ID, Park: true}}})
			return reply(http.StatusOK, string(text)), nil
		})}
		var said bytes.Buffer
		a, err := New(Config{RM: "http://rm:8088", Node: "n:1", Finder: one{c}, Groups: f, Client: client, Log: slog.New(slog.NewTextHandler(&said, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		for _, step := range []struct {
			wait time.Duration
			want groups.Set
		}{{29 * time.Second, groups.Set{Park: true}}, {2 * time.Second, groups.Set{}}, {60 * time.Second, groups.Set{}}} {
			time.Sleep(step.wait)
			synctest.Wait()
			if is := f.set(c.ID); is != step.want {
				t.Errorf("%+v, want %+v", is, step.want)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := requests.Load(); n < 9 || n > 25 {
			t.Errorf("%d requests in 91 s", n)
		}
		if strings.Count(said.String(), why) != 1 || !strings.Contains(said.String(), "the lease has expired") {
			t.Error(said.String())
		}
	})
}

// An agent beside a NodeManager that has not registered is answered at once, and asks as often as it was told. Once its
// answers are held back, what is new reaches it at once, however often the ResourceManager says the same.
func TestNotRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newTree(), container(0)
		var (
			requests atomic.Int32
			known    atomic.Bool
		)
		news := make(chan int64)
		w := api.Wish{Every: 1000, Lease: 30_000, Want: []api.Want{}}
		client := &http.Client{Transport: wire(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			w.Version++
			w.Unknown = !known.Load()
			if known.Load() && w.Every == 1000 {
				w.Every = 5000
			} else if known.Load() {
				select {
				case weight := <-news:
					w.Want = []api.Want{{ID: c.ID, Weight: weight}}
				case <-time.After(5 * time.Second):
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}
			text, _ := json.Marshal(w)
			return reply(200, string(text)), nil
		})}
		a, err := New(Config{RM: "http://127.0.0.1:8088", Node: "n:1", Finder: one{c}, Groups: f, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		time.Sleep(time.Minute)
		if n := requests.Load(); n < 58 || n > 64 {
			t.Errorf("%d requests in a minute, want one a second", n)
		}
		known.Store(true)
		time.Sleep(1500 * time.Millisecond)
		for weight := int64(50); weight < 60; weight++ {
			select {
			case news <- weight / 3: // the same three times
			case <-time.After(2 * apart):
				t.Fatalf("the answer with weight %d waits for a request", weight/3)
			}
			synctest.Wait()
			if is := f.set(c.ID); is.Weight != weight/3 {
				t.Errorf("%+v, want weight %d", is, weight/3)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A NodeManager is asked without the ResourceManager's credentials, and is not followed elsewhere.
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
		{302, `{"containers":{}}`, false},
	} {
		nm := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(x.code)
			_, _ = io.WriteString(w, x.body)
		}))
		defer nm.Close()
		client := &http.Client{Transport: wire(func(*http.Request) (*http.Response, error) { return nil, errors.New("this is for the ResourceManager") })}
		a, err := New(Config{RM: "https://rm:1", NMWeb: nm.URL, Node: "n:1", Client: client})
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
		c.Client = &http.Client{}
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	if _, err := New(Config{RM: "http://127.0.0.1:8039", NMWeb: "nm:8042", Node: "n:1"}); err == nil || !strings.Contains(err.Error(), "the NodeManager: want a URL such as http://127.0.0.1:8042, got \"nm:8042\"") {
		t.Errorf("no URL of the NodeManager's web server: %v", err)
	}
	for at, ok := range map[string]bool{
		"http://127.0.0.1:8039": true, "http://[::1]:8039": true, "http://localhost:8039": true,
		"http://rm:8039": false, "https://rm:8039": false, "http://10.0.0.1:8039": false, "http://localhost.rm:8039": false,
	} {
		if _, err := New(Config{RM: at, Node: "n:1"}); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "nothing is encrypted") {
			t.Errorf("without credentials, at %s: %v", at, err)
		}
	}
}
