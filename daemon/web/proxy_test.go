package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"heddle/rm"
)

const proxied = "application_1700000000000_0001"

// master starts the server of a master's pages, and the daemon in front of it.
func master(t *testing.T, pages http.HandlerFunc, set func(*Options, *fakeRM)) (front, back *httptest.Server) {
	t.Helper()
	back = httptest.NewServer(pages)
	t.Cleanup(back.Close)
	f := &fakeRM{ready: true, apps: []rm.AppReport{{
		ID: app(proxied), User: "ann", State: rm.AppRunning, OriginalURL: back.URL,
	}}}
	front = httptest.NewUnstartedServer(nil)
	o := Options{RM: f, Local: true, WebHost: front.Listener.Addr().String()}
	if set != nil {
		set(&o, f)
	}
	front.Config.Handler = New(o)
	front.Start()
	t.Cleanup(front.Close)
	return front, back
}

// fetch gets a page without following redirects.
func fetch(t *testing.T, method, address string, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestProxyPassesOnlyWhatItShould(t *testing.T) {
	var got *http.Request
	front, back := master(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 418 Teapot\r\nSet-Cookie: session=1\r\nX-Custom: kept\r\nConnection: X-Hop\r\nContent-Length: 7\r\n"+
			"X-Hop: dropped\r\nStrict-Transport-Security: max-age=1\r\nx-accel-redirect: /internal/shadow\r\nX-Accel-Limit-Rate: 1\r\n"+
			"X-SENDFILE: /etc/shadow\r\nX-LIGHTTPD-send-file: /etc/shadow\r\nX-LiteSpeed-Location: /internal\r\nX-REPROXY-URL: http://169.254.169.254/\r\nContent-Type: text/html\r\n\r\n<p>page")
		_ = conn.Close()
	}, nil)
	resp, body := fetch(t, "GET", front.URL+"/proxy/"+proxied+"/ws/v1/a%2Fb?x=1&y=%20&user.name=bob", http.Header{
		"Cookie": {"secret=1"}, "Authorization": {"Basic x"}, "Accept": {"text/x"}, "X-Requested-By": {"ann"}, "User-Agent": {""},
	})
	if resp.StatusCode != http.StatusTeapot || body != "<p>page" {
		t.Errorf("got %d %q, want 418 and the page", resp.StatusCode, body)
	}
	if got.URL.EscapedPath() != "/ws/v1/a%2Fb" || got.URL.RawQuery != "x=1&y=%20&user.name=bob" || "http://"+got.Host != back.URL {
		t.Errorf("the master was asked for %s%s", got.Host, got.URL)
	}
	if got.Header.Get("Cookie") != "proxy-user=bob" || got.Header.Get("Accept") != "text/x" ||
		got.Header.Get("Authorization") != "" || got.Header.Get("X-Requested-By") != "" || got.Header.Get("User-Agent") != "" {
		t.Errorf("the master saw %v", got.Header)
	}
	for _, name := range []string{
		"Set-Cookie", "X-Hop", "Strict-Transport-Security", "X-Accel-Redirect", "X-Accel-Limit-Rate", "X-Sendfile", "X-Lighttpd-Send-File",
		"X-Litespeed-Location", "X-Reproxy-Url",
	} {
		if v := resp.Header.Get(name); v != "" {
			t.Errorf("%s: %s came through", name, v)
		}
	}
	if resp.Header.Get("X-Custom") != "kept" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers %v", resp.Header)
	}
}

func TestProxyDecides(t *testing.T) {
	page := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/within":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/switch":
			w.WriteHeader(http.StatusSwitchingProtocols)
		case "/odd":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 099 Odd\r\n\r\n")
			_ = conn.Close()
		case "/out":
			http.Redirect(w, r, "http://192.0.2.1/x", http.StatusFound)
		case "/self":
			http.Redirect(w, r, "http://"+r.URL.Query().Get("front")+"/proxy/"+proxied+"/page", http.StatusFound)
		case "/bounce":
			http.Redirect(w, r, "http://"+r.URL.Query().Get("front")+"/proxy/redirect/"+proxied+"/bounce", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "page of "+r.URL.RequestURI())
		}
	}
	state := func(s rm.AppState, original string) func(*Options, *fakeRM) {
		return func(_ *Options, f *fakeRM) { f.apps[0].State, f.apps[0].OriginalURL = s, original }
	}
	tests := []struct {
		name, method, path string
		set                func(*Options, *fakeRM)
		status             int
		location, text     string
	}{
		{"root", "GET", "/proxy/" + proxied, nil, 200, "", "page of /"},
		{"bounced", "GET", "/proxy/redirect/" + proxied + "/x", nil, 200, "", "page of /x"},
		{"put", "PUT", "/proxy/" + proxied + "/x", nil, 200, "", "page of /x"},
		{"post", "POST", "/proxy/" + proxied + "/x", nil, 405, "", "GET, HEAD and PUT"},
		{"no id", "GET", "/proxy/nosuch/x", nil, 404, "", "should read"},
		{"unknown", "GET", "/proxy/application_1_0001/", nil, 404, "", "could not be found"},
		{"no pages", "GET", "/proxy/" + proxied, state(rm.AppRunning, "N/A"), 302, "/cluster/app/" + proxied, ""},
		{"bad scheme", "GET", "/proxy/" + proxied, state(rm.AppRunning, "javascript://x/%0aalert(1)"), 302, "/cluster/app/" + proxied, ""},
		{"finished", "GET", "/proxy/" + proxied + "/a?b=c", state(rm.AppFinished, "history:1/job"), 302, "http://history:1/job/a?b=c", ""},
		{"history of Tez", "GET", "/proxy/" + proxied + "/", state(rm.AppFinished, "http://ui/tez-ui/?viewPath=/#/tez-app/"+proxied), 302, "http://ui/tez-ui/?viewPath=/#/tez-app/" + proxied, ""},
		{"killed", "GET", "/proxy/" + proxied, state(rm.AppKilled, "http://rm:8088/cluster/app/"+proxied), 302, "http://rm:8088/cluster/app/" + proxied, ""},
		{"redirect within", "GET", "/proxy/" + proxied + "/within", nil, 200, "", "page of /page"},
		{"redirect to itself", "GET", "/proxy/" + proxied + "/self?front=FRONT", nil, 200, "", "page of /page"},
		{"redirect out", "GET", "/proxy/" + proxied + "/out", nil, 302, "http://192.0.2.1/x", ""},
		{"redirect loop", "GET", "/proxy/" + proxied + "/loop", nil, 502, "", "without end"},
		{"bounce loop", "GET", "/proxy/" + proxied + "/bounce?front=FRONT", nil, 502, "", "yarn.resourcemanager.webapp.address"},
		{"switch of protocols", "GET", "/proxy/" + proxied + "/switch", nil, 502, "", "answers with status 101"},
		{"odd status", "GET", "/proxy/" + proxied + "/odd", nil, 502, "", "answers with status 99"},
		{"nobody there", "GET", "/proxy/" + proxied, state(rm.AppRunning, "127.0.0.1:1"), 502, "", "cannot be reached"},
		{"busy", "GET", "/proxy/" + proxied, func(_ *Options, f *fakeRM) { f.fails = errBusy }, 503, "", "did not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			front, _ := master(t, page, tt.set)
			host := strings.TrimPrefix(front.URL, "http://")
			resp, body := fetch(t, tt.method, front.URL+strings.ReplaceAll(tt.path, "FRONT", host), http.Header{})
			if resp.StatusCode != tt.status || resp.Header.Get("Location") != tt.location || !strings.Contains(body, tt.text) {
				t.Errorf("got %d, Location %q, %q; want %d, %q, %q",
					resp.StatusCode, resp.Header.Get("Location"), body, tt.status, tt.location, tt.text)
			}
		})
	}
}

// The check concerns the address that is connected to, whatever name led there.
func TestProxyChecksWhatItConnectsTo(t *testing.T) {
	asked := false
	front, back := master(t, func(http.ResponseWriter, *http.Request) { asked = true }, nil)
	u, _ := url.Parse(back.URL)
	port, _ := strconv.Atoi(u.Port())
	front.Config.Handler = New(Options{
		RM:    &fakeRM{apps: []rm.AppReport{{ID: app(proxied), State: rm.AppRunning, OriginalURL: "localhost:" + u.Port()}}},
		Local: true, Private: []uint16{uint16(port)},
	})
	resp, body := fetch(t, "GET", front.URL+"/proxy/"+proxied, http.Header{})
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "port of the ResourceManager") || asked {
		t.Errorf("got %d %q, asked %v; want 502 and no call", resp.StatusCode, body, asked)
	}
	front.Config.Handler = New(Options{
		RM: &fakeRM{apps: []rm.AppReport{{ID: app(proxied), State: rm.AppRunning, OriginalURL: "localhost:" + u.Port()}}},
	})
	resp, body = fetch(t, "GET", front.URL+"/proxy/"+proxied, http.Header{})
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "loopback") || asked {
		t.Errorf("got %d %q, asked %v; want 502 and no call", resp.StatusCode, body, asked)
	}
}

// With another proxy, readers are sent there, but for those who asked there.
func TestAnotherProxy(t *testing.T) {
	front, _ := master(t, func(http.ResponseWriter, *http.Request) {}, func(o *Options, _ *fakeRM) { o.WebProxy = "proxy:9099" })
	path := "/proxy/" + proxied + "/a%2Fb?x=1"
	resp, _ := fetch(t, "PUT", front.URL+path, http.Header{})
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusTemporaryRedirect || to != "http://proxy:9099"+path {
		t.Errorf("got %d to %q", resp.StatusCode, to)
	}
	front, _ = master(t, func(http.ResponseWriter, *http.Request) {}, func(o *Options, _ *fakeRM) { o.WebProxy = o.WebHost })
	if resp, _ = fetch(t, "GET", front.URL+path, http.Header{}); resp.StatusCode != http.StatusOK {
		t.Errorf("a reader who asked there gets %d", resp.StatusCode)
	}
	for _, tt := range []struct {
		to, host string
		moved    bool
	}{
		{"RM1.corp:8088", "rm1.corp:8088", false},
		{"rm1.corp:80", "rm1.corp", false},
		{"rm1.corp", "RM1.corp:80", false},
		{"[::1]:80", "[::1]", false},
		{"rm1.corp:8088", "rm1.corp", true},
		{"rm1.corp:8088", "rm2.corp:8088", true},
		{"rm1.corp:8088", "", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/proxy/application_1_0001", nil) // which is not there
		r.Host = tt.host
		w := httptest.NewRecorder()
		New(Options{RM: demo(), WebProxy: tt.to}).ServeHTTP(w, r)
		if moved := w.Code == http.StatusTemporaryRedirect; moved != tt.moved {
			t.Errorf("whoever asks %q while the proxy is at %s gets %d to %q", tt.host, tt.to, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestProxyCallsFromItsOwnAddress(t *testing.T) {
	from := ""
	front, _ := master(t, func(_ http.ResponseWriter, r *http.Request) { from = r.RemoteAddr },
		func(o *Options, _ *fakeRM) { o.ProxySource = netip.MustParseAddr("127.0.0.9") })
	resp, body := fetch(t, "GET", front.URL+"/proxy/"+proxied, http.Header{})
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(from, "127.0.0.9:") {
		t.Errorf("got %d %q, called from %s; want 200 from 127.0.0.9", resp.StatusCode, body, from)
	}
}
