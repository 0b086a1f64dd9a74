package web

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/daemon/proxy"
	"heddle/rm"
	"heddle/yarn/ids"
)

// Limits of the proxy.
const (
	proxyTimeout   = 60 * time.Second // for a whole page
	maxProxyAnswer = 256 << 20        // bytes
	maxRedirects   = 10
	maxProxied     = 128 // concurrent requests
	maxPerApp      = 16  // … for one application: a master that hangs does not block other masters' pages
	proxyPrefix    = "/proxy/"
)

// A viewer shows the pages of ApplicationMasters under /proxy/<application>/.
type viewer struct {
	s         *site
	way       *proxy.Way
	transport http.RoundTripper
	crowd     *proxy.Crowd[ids.App]
}

func newViewer(s *site) *viewer {
	way := &proxy.Way{Local: s.Local, WebHost: s.WebHost, Source: s.ProxySource, Private: s.Private}
	return &viewer{s: s, way: way, transport: way.Transport(), crowd: proxy.NewCrowd[ids.App](maxProxied, maxPerApp)}
}

// passed are the request headers that are passed on to a master.
var passed = []string{
	"User-Agent", "Accept", "Accept-Encoding", "Accept-Language", "Accept-Charset", "Content-Type", "Origin",
	"Access-Control-Request-Method", "Access-Control-Request-Headers",
}

// passedOn are the methods that are passed on.
var passedOn = []string{http.MethodGet, http.MethodHead, http.MethodPut}

// ServeHTTP answers /proxy/[redirect/]<application>[/path].
func (p *viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !slices.Contains(passedOn, r.Method) {
		w.Header().Set("Allow", strings.Join(passedOn, ", "))
		http.Error(w, "the proxy passes on GET, HEAD and PUT, not "+r.Method, http.StatusMethodNotAllowed)
		return
	}
	if to := p.s.WebProxy; to != "" && !sameAddress(r.Host, to) { // a reader who asks there is already where that name leads
		http.Redirect(w, r, "http://"+to+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		return
	}
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), proxyPrefix), "redirect/")
	name, rest, _ := strings.Cut(path, "/")
	id, err := ids.ParseApp(name)
	if err != nil {
		http.Error(w, "the path should read /proxy/<application id>/…: "+err.Error(), http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), proxyTimeout)
	defer cancel()
	app, err := p.s.RM.App(ctx, id)
	if nf := (*rm.NotFound)(nil); errors.As(err, &nf) {
		http.Error(w, "Application "+id.String()+" could not be found in RM or history server", http.StatusNotFound)
		return
	} else if err != nil {
		http.Error(w, "the ResourceManager did not answer: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	target := proxy.Target(app.OriginalURL)
	if target == nil {
		http.Redirect(w, r, "/cluster/app/"+id.String(), http.StatusFound)
		return
	}
	where := proxy.Join(target, rest, r.URL.RawQuery)
	if app.State.Final() {
		http.Redirect(w, r, where.String(), http.StatusFound)
		return
	}
	if !p.crowd.Enter(id) {
		w.Header().Set("Retry-After", "2")
		http.Error(w, "too many pages of "+id.String()+" are being fetched; try again", http.StatusServiceUnavailable)
		return
	}
	defer p.crowd.Leave(id)
	p.fetch(w, r.WithContext(proxy.AllowLoopback(ctx, p.way.MayLoop(app.MasterNode.Host, target))), id, target, where)
}

// sameAddress reports whether two texts are the same host and port of a web server. Letter case does not matter, and
// browsers leave out port 80.
func sameAddress(a, b string) bool {
	x, y := url.URL{Host: a}, url.URL{Host: b}
	return strings.EqualFold(x.Hostname(), y.Hostname()) && cmp.Or(x.Port(), "80") == cmp.Or(y.Port(), "80")
}

// fetch asks the master and passes on its answer. It follows redirects within the master itself, since the reader may
// not be able to reach the master's address; all others are left to the reader.
func (p *viewer) fetch(w http.ResponseWriter, r *http.Request, id ids.App, target, where *url.URL) {
	for range maxRedirects {
		resp, err := p.ask(r, where)
		if err != nil {
			p.s.Log.Debug("a proxied request failed", "app", id.String(), "target", where.Host, "error", err)
			http.Error(w, "the master of "+id.String()+" at "+where.Host+" cannot be reached: "+proxy.Reason(err), http.StatusBadGateway)
			return
		}
		next := p.follow(r, resp, id, target)
		if next == nil {
			p.pass(w, r, resp, id)
			return
		}
		_ = resp.Body.Close() // the body of a redirect is ignored
		where = next
	}
	http.Error(w, "the master of "+id.String()+" redirects without end", http.StatusBadGateway)
}

func (p *viewer) ask(r *http.Request, where *url.URL) (*http.Response, error) {
	var body io.Reader
	if r.Method == http.MethodPut {
		body = r.Body
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, where.String(), body)
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodPut {
		out.ContentLength = r.ContentLength
	}
	out.Header["User-Agent"] = nil // none unless the caller has one
	for _, h := range passed {
		if v := r.Header.Get(h); v != "" {
			out.Header.Set(h, v)
		}
	}
	if user := p.s.user(r); user != "" {
		proxy.SetUser(out.Header, user)
	}
	return p.transport.RoundTrip(out)
}

// follow returns where a redirect leads if that is within the application, and nil otherwise.
func (p *viewer) follow(r *http.Request, resp *http.Response, id ids.App, target *url.URL) *url.URL {
	if resp.StatusCode/100 != 3 || r.Method == http.MethodPut {
		return nil
	}
	to, err := resp.Location()
	if err != nil {
		return nil
	}
	if proxy.Within(target, to) {
		return to
	}
	own := proxyPrefix + id.String()
	if rest, ok := strings.CutPrefix(to.EscapedPath(), own); ok && to.Host == p.s.WebHost && (rest == "" || rest[0] == '/') {
		return proxy.Join(target, strings.TrimPrefix(rest, "/"), to.RawQuery)
	}
	return nil
}

// hop are the headers that concern one connection or the whole site, or tell a server in front of this one to send
// something else, such as a file of its own. They are not passed on, nor is any header that begins with [accel].
var hop = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Set-Cookie", "Set-Cookie2", "Strict-Transport-Security", "Clear-Site-Data",
	"Alt-Svc", "Service-Worker-Allowed", "Public-Key-Pins",
	"X-Sendfile", "X-Sendfile2", "X-Lighttpd-Send-File", "X-Litespeed-Location", "X-Reproxy-Url", "X-Reproxy-File",
}

// accel begins the names of the headers by which nginx is told what to send, and how.
const accel = "X-Accel-"

// pass writes the master's answer. A status below 200 is none that ends an answer: a proxy in front of this server would
// take a switch of protocols for the start of a tunnel, and pass on further requests unseen.
func (p *viewer) pass(w http.ResponseWriter, r *http.Request, resp *http.Response, id ids.App) {
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < http.StatusOK {
		http.Error(w, "the master of "+id.String()+" answers with status "+strconv.Itoa(resp.StatusCode)+"; it should be 200 or more", http.StatusBadGateway)
		return
	}
	if to, err := resp.Location(); err == nil && strings.HasPrefix(to.Path, proxyPrefix+"redirect/"+id.String()) {
		http.Error(w, "the master of "+id.String()+" sends readers back here, without end: it shows its pages only to the "+
			"address that yarn.resourcemanager.webapp.address resolves to on its node, and this call did not come from there",
			http.StatusBadGateway)
		return
	}
	for _, names := range resp.Header.Values("Connection") {
		for name := range strings.SplitSeq(names, ",") {
			resp.Header.Del(strings.TrimSpace(name))
		}
	}
	maps.DeleteFunc(resp.Header, func(name string, _ []string) bool {
		return slices.Contains(hop, name) || strings.HasPrefix(name, accel)
	})
	h := w.Header()
	maps.Copy(h, resp.Header)
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(resp.StatusCode)
	n, err := io.Copy(w, io.LimitReader(resp.Body, maxProxyAnswer+1))
	if err != nil || n > maxProxyAnswer {
		p.s.Log.Debug("proxied page cut short", "app", id.String(), "path", r.URL.Path, "bytes", n, "error", err)
		panic(http.ErrAbortHandler) // the reader must see that something is missing
	}
}
