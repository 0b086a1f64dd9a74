// Package agent runs beside a NodeManager and applies to running containers what the ResourceManager wants of them. It
// polls for that and is never called. It acts only on containers that it has found itself, and only within the bounds
// of package api. If it hears nothing for the time that it was told, it gives every container its defaults again.
package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"heddle/node/api"
	"heddle/node/procs"
	"heddle/yarn/ids"
)

const (
	usualLook = time.Second            // between two looks for containers
	firstWait = 5 * time.Second        // expected wait for an answer before any has said how long
	grace     = 10 * time.Second       // how much later than expected an answer may come
	apart     = 200 * time.Millisecond // minimum time between two requests
	backoff   = 500 * time.Millisecond // after the first failed request; doubled after each further failure
	longest   = 10 * time.Second       // maximum time between two failing requests
	askNM     = 10 * time.Second       // between two requests to the NodeManager
	waitNM    = 5 * time.Second        // timeout for its answer
	long      = 10 * time.Second       // for reads from disks, which may hang; then a warning is logged
	leave     = time.Second            // for goroutines still running when the agent ends
	maxWish   = 4 << 20                // bytes
	maxNM     = 16 << 20               // bytes
)

// A Finder finds the running containers: see [procs.Finder].
type Finder interface{ Find() []procs.Container }

// A Config configures an agent.
type Config struct {
	RM      string // URL at which the ResourceManager listens for agents, such as http://127.0.0.1:8039
	Node    string // host:port of the NodeManager
	Version string // of Heddle
	// NMWeb is the URL of the NodeManager's web server. Without it, containers that the NodeManager left behind are
	// never ended; with it, only those that have a group that an agent made.
	NMWeb  string
	Finder Finder
	Dirs   []string      // yarn.nodemanager.local-dirs of the NodeManager, to read map outputs and how busy the disks are; without any, neither is read
	Look   time.Duration // between two looks for containers; 0 for a second
	Groups Actuator
	Client *http.Client // for the ResourceManager; nil for one without credentials, and then that is on this machine
	Log    *slog.Logger // nil for none
}

// An Agent runs on one node.
type Agent struct {
	Config
	name  string // different after each start
	nm    *http.Client
	state *state
	files func(*api.Sync, asked) // adds to a report the data from files that was asked for
}

// New checks a configuration and returns an agent for it.
func New(c Config) (*Agent, error) {
	if err := checkURL("the ResourceManager", c.RM, "http://127.0.0.1:8039"); err != nil {
		return nil, err
	}
	if c.NMWeb != "" {
		if err := checkURL("the NodeManager", c.NMWeb, "http://127.0.0.1:8042"); err != nil {
			return nil, err
		}
	}
	if c.Client == nil && !local(c.RM) {
		return nil, fmt.Errorf("without credentials nothing is encrypted: want a ResourceManager on this machine, such as http://127.0.0.1:8039, got %q", c.RM)
	}
	if _, err := ids.ParseNode(c.Node); err != nil {
		return nil, err
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Client = cmp.Or(c.Client, &http.Client{})
	c.Look = cmp.Or(c.Look, usualLook)
	return &Agent{Config: c, name: rand.Text(), nm: nmClient(), state: newState(c.Groups, c.Log), files: newReader(c.Dirs, c.Log).read}, nil
}

// checkURL returns an error, with a URL that would be right, if another one is none of a web server.
func checkURL(what, at, right string) error {
	if u, err := url.Parse(at); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s: want a URL such as %s, got %q", what, right, at)
	}
	return nil
}

// local reports whether a URL leads to this machine's loopback.
func local(at string) bool {
	u, err := url.Parse(at)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// nmClient returns a client for the NodeManager. It has no credentials, and follows no redirects and uses no proxies: the
// answer decides which processes are ended.
func nmClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Watch sets a function, before Run, that is told when the first frozen container thaws; the zero time means none.
func (a *Agent) Watch(thaws func(time.Time)) { a.state.warn = thaws }

// An answer is the outcome of a request.
type answer struct {
	wish  *api.Wish
	asked time.Time // when the request was sent
	err   error
}

// Run runs the agent until the context ends. It gives every container its defaults at the start and at the end.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.state.restore(); err != nil {
		a.Log.Error("cannot restore the defaults of containers at the start", "error", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	answers, known, looks := make(chan answer, 1), make(chan answered, 1), make(chan []procs.Container, 1)
	asking, busy, looking := false, false, false // in flight: a request to the NodeManager, one to the ResourceManager, a look for containers
	looked := false                              // at least once: before that there is nothing to report
	defer func() {
		cancel()
		for end := time.After(leave); asking || busy || looking; {
			select {
			case <-answers:
				busy = false
			case <-known:
				asking = false
			case <-looks:
				looking = false
			case <-end:
				return
			}
		}
	}()
	var (
		wait       = backoff
		hold       = firstWait
		reached    = true
		now        = time.Now()
		look, post = now, now
		sent       = now
		nextNM     = now
		timer      = time.NewTimer(0)
	)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return a.state.restore()
		case <-timer.C:
			now = time.Now()
		case got := <-answers:
			now, busy = time.Now(), false
			if got.err == nil {
				if !reached {
					a.Log.Info("the ResourceManager answers again")
				}
				reached, wait = true, backoff
				hold = time.Duration(got.wish.Every) * time.Millisecond
				if got.wish.Unknown { // answered at once
					post = sent.Add(hold)
				}
				a.state.answer(now, got.asked, got.wish)
				break
			}
			if reached {
				a.Log.Warn("requests to the ResourceManager fail; this is logged once", "error", got.err)
			}
			reached = false
			post = now.Add(wait/2 + mathrand.N(wait/2))
			wait = min(2*wait, longest)
		case got := <-known:
			now, asking = time.Now(), false
			if got.err != nil {
				a.Log.Warn("the NodeManager does not list its containers, so no container is killed", "error", got.err)
				break
			}
			a.state.end(now, got.text)
		case found := <-looks:
			now, looking, looked = time.Now(), false, true
			a.state.take(now, found)
		}
		a.state.carry(now)
		if !now.Before(look) {
			look = now.Add(a.Look)
			if !looking {
				looking = true
				go func() {
					defer a.slow("the search for containers")()
					looks <- a.Finder.Find()
				}()
			}
		}
		if !asking && a.NMWeb != "" && !now.Before(nextNM) && len(a.state.orphans(now)) > 0 {
			asking, nextNM = true, now.Add(askNM)
			go func() { known <- a.ask(ctx) }()
		}
		if looked && !busy && !now.Before(post) {
			busy, sent, post = true, now, now.Add(apart)
			s := api.Sync{Node: a.Node, Agent: a.name, Version: a.Version}
			of := a.state.report(&s)
			go func() {
				a.read(&s, of)
				answers <- a.sync(ctx, &s, hold+grace)
			}()
		}
		next := look
		if due := a.state.due(); !due.IsZero() && due.Before(next) {
			next = due
		}
		if looked && !busy && post.Before(next) {
			next = post
		}
		timer.Reset(time.Until(next))
	}
}

// read adds to a report the data from files that was asked for.
func (a *Agent) read(s *api.Sync, of asked) {
	defer a.slow("reading containers' files")()
	a.files(s, of)
}

// slow logs a warning if something takes long, unless over is called before.
func (a *Agent) slow(what string) (over func() bool) {
	return time.AfterFunc(long, func() {
		a.Log.Warn(what+" takes long: a disk of the NodeManager may hang; leases still expire", "seconds", long.Seconds())
	}).Stop
}

// sync reports on the node to the ResourceManager, and returns what it wants.
func (a *Agent) sync(ctx context.Context, s *api.Sync, wait time.Duration) answer {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	text, err := json.Marshal(s)
	if err != nil {
		return answer{err: err}
	}
	at := strings.TrimRight(a.RM, "/") + api.Path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(text))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	asked := time.Now()
	body, err := do(a.Client, req, maxWish)
	if err != nil {
		return answer{err: err}
	}
	w := &api.Wish{}
	if err := json.Unmarshal(body, w); err != nil {
		return answer{err: fmt.Errorf("%s: %w", at, err)}
	}
	if err := w.Check(); err != nil {
		return answer{err: fmt.Errorf("%s: %w", at, err)}
	}
	return answer{wish: w, asked: asked}
}

// answered is the NodeManager's answer about its containers.
type answered struct {
	text string
	err  error
}

// ask asks the NodeManager which containers it has.
func (a *Agent) ask(ctx context.Context) answered {
	ctx, cancel := context.WithTimeout(ctx, waitNM)
	defer cancel()
	at := strings.TrimRight(a.NMWeb, "/") + "/ws/v1/node/containers"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return answered{err: err}
	}
	req.Header.Set("Accept", "application/json")
	body, err := do(a.nm, req, maxNM)
	if err != nil {
		return answered{err: err}
	}
	var list map[string]json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil || list["containers"] == nil {
		return answered{err: fmt.Errorf("%s: want an object with the key containers, got %.40q", at, body)}
	}
	return answered{text: string(body)}
}

// do sends a request and returns the body of the answer if it is a success of at most this many bytes.
func do(c *http.Client, req *http.Request, most int64) ([]byte, error) {
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", req.URL, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: want 200, got %s: %.200q", req.URL, resp.Status, body)
	case int64(len(body)) > most:
		return nil, errors.New(req.URL.String() + ": want at most " + fmt.Sprint(most) + " bytes")
	}
	return body, nil
}
