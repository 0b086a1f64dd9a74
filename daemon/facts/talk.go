package facts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"heddle"
	"heddle/daemon/proxy"
	"heddle/rm"
)

// Limits of one ask.
const (
	maxAnswers   = 32 << 20 // bytes of all its answers: those for 100,000 tasks have 22 MB
	maxElements  = 100_000  // tasks, attempts, executors, stages or beans in one answer
	maxRedirects = 3        // of one request
)

// A meter counts requests and received bytes.
type meter struct {
	requests int
	bytes    int64
}

// A talk is the conversation with one master.
type talk struct {
	meter
	ctx    context.Context
	way    http.RoundTripper
	target *url.URL
	user   string
}

// A status is an unsuccessful answer. The master was well enough to refuse.
type status struct {
	code int
	path string
}

func (s *status) Error() string {
	return fmt.Sprintf("answers %s with %d %s", s.path, s.code, http.StatusText(s.code))
}

// ask has the conversation and records the answers. Answers that came before the time was up stay; a malformed answer
// discards them all.
func (a *Asker) ask(ctx context.Context, q *rm.AskMaster, told *rm.MasterTold) {
	target := proxy.Target(q.Tracking)
	if target == nil {
		told.Failed = fmt.Sprintf("the master has no pages at %.100q", q.Tracking)
		return
	}
	way := a.o.Way.Transport()
	way.DisableKeepAlives = false // for this conversation
	defer way.CloseIdleConnections()
	t := &talk{ctx: proxy.AllowLoopback(ctx, a.o.Way.MayLoop(q.Node.Host, target)), way: way, target: target, user: q.User}
	var err error
	switch q.Framework {
	case heddle.MapReduce:
		err = t.mapReduce(q, told)
	case heddle.Spark:
		err = t.spark(q, told)
	default:
		err = errors.New("belongs to a framework whose masters cannot be asked")
	}
	told.Requests, told.Bytes = t.requests, t.bytes
	if err == nil {
		return
	}
	why := err.Error()
	switch {
	case ctx.Err() != nil:
		why = "did not answer all requests in time"
	case errors.As(err, new(*status)):
	default: // one answer is malformed, so the others are not believed
		told.Tasks, told.Executors, told.Stages, told.Heap = nil, nil, nil, rm.HeapNews{}
	}
	told.Failed = oneLine(fmt.Sprintf("the master at %.100s %s", target.Host, why))
	a.o.Log.Debug("a master was asked", "attempt", q.Attempt.String(), "error", told.Failed)
}

// get requests a path below the master's pages and passes the answer to read.
func (t *talk) get(path, query string, read func(io.Reader) error) error {
	where := proxy.Join(t.target, path, query)
	for range maxRedirects + 1 {
		resp, err := t.request(where)
		if err != nil {
			return fmt.Errorf("cannot be asked: %w", err)
		}
		to, err := redirect(resp)
		if to == nil && err == nil {
			return t.answer(resp, path, read)
		}
		_ = resp.Body.Close() // the body of a redirect is ignored
		if err != nil {
			return err
		}
		if !proxy.Within(t.target, to) {
			return fmt.Errorf("redirects to %.100q: it shows its pages only to the address that yarn.resourcemanager.webapp.address resolves to on its node", to.Host)
		}
		where = to
	}
	return errors.New("redirects too often")
}

func (t *talk) request(where *url.URL) (*http.Response, error) {
	t.requests++
	r, err := http.NewRequestWithContext(t.ctx, http.MethodGet, where.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header["User-Agent"] = nil
	if t.user != "" {
		proxy.SetUser(r.Header, t.user)
	}
	return t.way.RoundTrip(r)
}

// redirect returns where an answer redirects the caller, or nil if it is no redirect.
func redirect(resp *http.Response) (*url.URL, error) {
	if resp.StatusCode/100 != 3 {
		return nil, nil
	}
	to, err := resp.Location()
	if err != nil {
		return nil, errors.New("redirects without a valid location")
	}
	return to, nil
}

// answer passes an answer to read if it is JSON and says so.
func (t *talk) answer(resp *http.Response, path string, read func(io.Reader) error) error {
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return &status{resp.StatusCode, path}
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("answers %s with %.60q, not with JSON", path, resp.Header.Get("Content-Type"))
	}
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && packed != "identity" {
		return fmt.Errorf("compresses its answer (%.60q), which was not requested", packed)
	}
	if err := read(&limited{resp.Body, &t.meter}); err != nil {
		return fmt.Errorf("gives an answer to %s that cannot be read: %w", path, err)
	}
	return nil
}

// A limited reader returns an error once an ask has read too much.
type limited struct {
	r io.Reader
	m *meter
}

var errTooLong = fmt.Errorf("more than %d bytes", maxAnswers)

// Read implements [io.Reader] and counts the bytes.
func (l *limited) Read(b []byte) (int, error) {
	left := maxAnswers - l.m.bytes
	if left <= 0 {
		return 0, errTooLong
	}
	n, err := l.r.Read(b[:min(int64(len(b)), left)])
	l.m.bytes += int64(n)
	return n, err
}

// maxText is the maximum length in bytes of a text with parts from a stranger.
const maxText = 300

// oneLine returns a text that may contain a stranger's text as one short line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s[:min(len(s), maxText)], ""))
}
