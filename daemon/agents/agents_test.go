package agents

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/daemon"
	"heddle/daemon/httpd"
	"heddle/node/api"
	"heddle/node/trust"
)

const node = "n1.example.com:8041"

func authority(t testing.TB, dir string) *trust.Authority {
	t.Helper()
	a, err := trust.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func token(t testing.TB, a *trust.Authority, node string) string {
	t.Helper()
	k, err := a.Token(node, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return k.String()
}

// A deeds records what the audit was told.
type deeds struct {
	mu  sync.Mutex
	all []string
}

func (d *deeds) note(x daemon.Deed, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, fmt.Sprintf("%s %s %s %s: %v", x.Addr, x.Target, x.Operation, x.User, err))
}

// serve serves agents over TLS at 127.0.0.1, with the certificate of one authority, to agents with those that another
// one issues. Its answers say which node a sync is from.
func serve(t testing.TB, shown, issue *trust.Authority) (url string, d *deeds) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d = &deeds{}
	h := New(Config{Trust: issue, Audit: d.note, Sync: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := trust.SpeaksFor(r, r.Header.Get("Node")); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, "hello "+r.Header.Get("Node"))
	})})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- httpd.Serve(ctx, l, h, httpd.Options{Conns: 20, TLS: shown.ServerConfig()}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "https://" + l.Addr().String(), d
}

// say syncs as a node.
func say(t testing.TB, c *http.Client, url, node string) (string, error) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url+api.Path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Node", node)
	resp, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return strings.TrimSpace(string(b)), err
}

func wants(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v; want %q", err, text)
	}
}

// An agent joins, speaks for its node, renews its certificate and goes on.
func TestJoinSyncRenew(t *testing.T) {
	a := authority(t, t.TempDir())
	url, d := serve(t, a, a)
	folder := filepath.Join(t.TempDir(), "agent")
	first, err := trust.Join(t.Context(), url, node, token(t, a, node), folder)
	if err != nil {
		t.Fatal(err)
	}
	c, err := trust.Client(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	if got, err := say(t, c, url, node); got != "hello "+node || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	want := "the certificate is for node " + node + ", and an agent acts only for its own node"
	if got, err := say(t, c, url, "other:8041"); !strings.Contains(got, want) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	before, err := os.ReadFile(filepath.Join(folder, "node.pem"))
	if err != nil {
		t.Fatal(err)
	}
	next, err := trust.Renew(t.Context(), url, folder)
	if err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile(filepath.Join(folder, "node.pem"))
	if string(after) == string(before) || next.Until.Before(first.Until) || next.Node != node {
		t.Errorf("the certificate is still the old one: %+v", next)
	}
	c.CloseIdleConnections()
	if got, err := say(t, c, url, node); got != "hello "+node || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	want = "127.0.0.1 NodeAgentService Join Node Agent " + node + ": <nil>\n" +
		"127.0.0.1 NodeAgentService Renew Node Agent " + node + ": <nil>"
	if got := strings.Join(d.all, "\n"); got != want {
		t.Errorf("the audit has\n%s\nwant\n%s", got, want)
	}
}

// An agent that should not join cannot, and reads why.
func TestJoinRefused(t *testing.T) {
	dir := t.TempDir()
	a := authority(t, dir)
	url, d := serve(t, a, a)
	old := authority(t, dir)
	old.Now = func() time.Time { return time.Now().Add(-2 * time.Hour) }
	genuine := token(t, a, node)
	parsed, err := trust.ParseToken(genuine)
	if err != nil {
		t.Fatal(err)
	}
	parsed.Expires = parsed.Expires.Add(time.Hour)
	folder := t.TempDir()
	for name, c := range map[string]struct{ token, node, want string }{
		"forged":            {parsed.String(), node, "the ResourceManager refuses (403): the token is not genuine"},
		"expired":           {token(t, old, ""), node, "the ResourceManager refuses (403): the token expired at "},
		"another node":      {genuine, "n2:8041", "not for n2:8041; heddle node token --node n2:8041"},
		"another authority": {token(t, authority(t, t.TempDir()), ""), node, "not the ResourceManager that issued the token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := trust.Join(t.Context(), url, c.node, c.token, folder)
			wants(t, err, c.want)
		})
	}
	if in, err := os.ReadDir(folder); len(in) > 0 || err != nil {
		t.Errorf("credentials of nobody: %v, %v", in, err)
	}
	if got := strings.Join(d.all, "\n"); len(d.all) != 3 || !strings.Contains(got, "Join Node Agent n2:8041: the token is for") {
		t.Errorf("the audit has\n%s", got)
	}
}

// An agent without a good certificate can neither sync nor renew.
func TestSyncRefused(t *testing.T) {
	dir := t.TempDir()
	a := authority(t, dir)
	past := authority(t, dir)
	past.Now = func() time.Time { return time.Now().Add(-trust.Life - time.Hour) }
	url, _ := serve(t, a, a)
	urlPast, _ := serve(t, a, past)
	k, err := past.Token("", trust.MaxValid)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if _, err := trust.Join(t.Context(), urlPast, node, k.String(), folder); err != nil {
		t.Fatal(err)
	}
	expired, err := trust.Client(folder)
	if err != nil {
		t.Fatal(err)
	}
	_, err = say(t, expired, url, node)
	wants(t, err, "expired at ")
	wants(t, err, "heddle node join with a new token")
	_, err = trust.Renew(t.Context(), url, folder)
	wants(t, err, "expired at ")

	// The ResourceManager does not rely on the agent to check.
	file := filepath.Join(folder, "node.pem")
	pair, err := tls.LoadX509KeyPair(file, file)
	if err != nil {
		t.Fatal(err)
	}
	bold := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}},
	}}
	_, err = say(t, bold, url, node)
	wants(t, err, "expired certificate")
	nobody := a.ServerConfig()
	nobody.InsecureSkipVerify = true
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: nobody}}
	defer client.CloseIdleConnections()
	for _, path := range []string{api.Path, api.RenewPath} {
		resp, err := client.Post(url+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), "a valid certificate") {
			t.Errorf("%s without a certificate: %d %s", path, resp.StatusCode, text)
		}
	}

	// A node of another ResourceManager does not even ask.
	b := authority(t, t.TempDir())
	urlB, _ := serve(t, b, b)
	_, err = say(t, expired, urlB, node)
	wants(t, err, "expired at ")
	good := t.TempDir()
	if _, err := trust.Join(t.Context(), url, node, token(t, a, ""), good); err != nil {
		t.Fatal(err)
	}
	c, err := trust.Client(good)
	if err != nil {
		t.Fatal(err)
	}
	_, err = say(t, c, urlB, node)
	wants(t, err, "is not the ResourceManager that issued "+good)
}

// In the clear, agents are served only to this machine, and nobody joins.
func TestLoopback(t *testing.T) {
	d := &deeds{}
	hello := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }
	h := New(Config{Audit: d.note, Sync: http.HandlerFunc(hello)})
	for name, c := range map[string]struct {
		method, path, from, header string
		code                       int
		want                       string
	}{
		"sync":            {"POST", api.Path, "127.0.0.1:9", "", 200, "hello"},
		"sync over IPv6":  {"POST", api.Path, "[::1]:9", "", 200, "hello"},
		"from elsewhere":  {"POST", api.Path, "10.0.0.1:9", "", 403, "own machine are served"},
		"from nowhere":    {"POST", api.Path, "", "", 403, "own machine are served"},
		"a page":          {"POST", api.Path, "127.0.0.1:9", "Origin", 403, "not for browsers"},
		"a page, fetched": {"POST", api.Path, "127.0.0.1:9", "Sec-Fetch-Site", 403, "not for browsers"},
		"join":            {"POST", api.JoinPath, "127.0.0.1:9", "", 404, "on loopback, where agents need no certificate"},
		"renew":           {"POST", api.RenewPath, "127.0.0.1:9", "", 404, "on loopback"},
		"a look":          {"GET", api.Path, "127.0.0.1:9", "", 405, "Method Not Allowed"},
		"another path":    {"POST", "/", "127.0.0.1:9", "", 404, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.path, strings.NewReader("{}"))
			r.RemoteAddr = c.from
			if c.header != "" {
				r.Header.Set(c.header, "x")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%d %s; want %d %s", w.Code, w.Body, c.code, c.want)
			}
		})
	}
	if len(d.all) > 0 {
		t.Errorf("the audit has %q", d.all)
	}
	r := httptest.NewRequest("POST", api.Path, nil)
	r.RemoteAddr = "127.0.0.1:9"
	w := httptest.NewRecorder()
	New(Config{Trust: authority(t, t.TempDir())}).ServeHTTP(w, r)
	if w.Code == http.StatusOK || !strings.Contains(w.Body.String(), "without TLS") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Of many refusals some leave a line, and the next line says how many did not.
func TestRefusalsAreCounted(t *testing.T) {
	var q quota
	now := time.Now()
	for i := range maxNoted + 5 {
		if left, ok := q.take(now); ok != (i < maxNoted) || left != 0 {
			t.Errorf("%d: %d, %v", i, left, ok)
		}
	}
	if left, ok := q.take(now.Add(notedTime)); left != 5 || !ok {
		t.Errorf("%d, %v", left, ok)
	}
	if left, ok := q.take(now.Add(notedTime)); left != 0 || !ok {
		t.Errorf("%d, %v", left, ok)
	}
	d := &deeds{}
	s := &server{Config: Config{Audit: d.note}, refused: quota{left: 7}}
	s.note(httptest.NewRequest("POST", "/", nil), daemon.Deed{}, errors.New("no"))
	if !strings.HasSuffix(d.all[0], "no (7 earlier refusals were not logged)") {
		t.Error(d.all)
	}
}

// Whatever is sent gets an answer.
func FuzzJoin(f *testing.F) {
	a := authority(f, f.TempDir())
	url, _ := serve(f, a, a)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: a.ServerConfig()}}
	client.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true
	for _, s := range []string{
		"", "{}", `{"token":"heddle1.AAAA","request":"AAAA"}`, `{"token":1}`, `[`, `{"token":"` + token(f, a, "") + `","request":"MAA="}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		resp, err := client.Post(url+api.JoinPath, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode < 400 || resp.StatusCode >= 500 || len(text) == 0 {
			t.Errorf("%d %s, %v", resp.StatusCode, text, err)
		}
	})
}

// A request that is too large is not read.
func TestTooLarge(t *testing.T) {
	a := authority(t, t.TempDir())
	url, _ := serve(t, a, a)
	conf := a.ServerConfig()
	conf.InsecureSkipVerify = true
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: conf}}
	defer client.CloseIdleConnections()
	body := strings.NewReader(`{"token":"` + strings.Repeat("x", api.MaxJoin))
	resp, err := client.Post(url+api.JoinPath, "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), "65536 bytes") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}
