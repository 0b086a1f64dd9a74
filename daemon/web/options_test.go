package web

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"heddle/yarn/rest"
)

// Everything that is served tells anybody which methods it accepts, and thereby admits no page of another site.
func TestOptions(t *testing.T) {
	f := demo()
	f.fails = errBusy // nothing is asked of the daemon
	s := newSite(Options{RM: f})
	options := func(path string) *http.Response {
		r := httptest.NewRequest(http.MethodOptions, path, nil)
		r.RemoteAddr = "192.0.2.1:5000"
		r.Header = http.Header{
			"Origin": {"http://evil.example"}, "Sec-Fetch-Site": {"cross-site"}, "Access-Control-Request-Method": {"PUT"},
		}
		w := httptest.NewRecorder()
		s.guard(s.mux).ServeHTTP(w, r)
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("OPTIONS %s answers %s", path, name)
			}
		}
		if w.Body.Len() > 0 && w.Code == http.StatusOK {
			t.Errorf("OPTIONS %s has a body: %s", path, w.Body)
		}
		return w.Result()
	}
	fill := strings.NewReplacer("{$}", "", "{app}", proxied, "{attempt}", "x", "{container}", "x", "{node}", "x", "{type}", "x", "{state}", "x")
	asked := 0
	for _, p := range s.paths {
		method, path, ok := strings.Cut(p, " ")
		if !ok {
			continue
		}
		asked++
		got := options(fill.Replace(path))
		allowed := strings.Split(got.Header.Get("Allow"), ",")
		if got.StatusCode != http.StatusOK || !slices.Contains(allowed, method) || !slices.Contains(allowed, http.MethodOptions) ||
			slices.Contains(allowed, http.MethodHead) != slices.Contains(allowed, http.MethodGet) {
			t.Errorf("OPTIONS %s: %d, allows %q", path, got.StatusCode, allowed)
		}
	}
	if asked < 30 {
		t.Errorf("%d resources were asked, which is not all", asked)
	}
	if got := options("/proxy/" + proxied + "/"); got.StatusCode != http.StatusOK || got.Header.Get("Allow") != "OPTIONS,HEAD,GET,PUT" {
		t.Errorf("the proxy: %d, allows %q", got.StatusCode, got.Header.Get("Allow"))
	}
	if got := options(rest.Base + "/nosuch"); got.StatusCode != http.StatusNotFound || got.Header.Get("Allow") != "" {
		t.Errorf("what is not served: %d, allows %q", got.StatusCode, got.Header.Get("Allow"))
	}
}

// Callers are told whether their changes are accepted here, and where else. If no mechanism is off, the list is empty.
func TestWhereChangesGo(t *testing.T) {
	for _, tt := range []struct {
		local bool
		path  string
		want  bool
	}{
		{true, "/info?user.name=ann", true},
		{true, "/info", false},
		{false, "/info?user.name=ann", false},
	} {
		r := httptest.NewRequest(http.MethodGet, rest.HeddleBase+tt.path, nil)
		r.RemoteAddr = "127.0.0.1:5000"
		w := httptest.NewRecorder()
		New(Options{RM: demo(), Local: tt.local, ClientAddress: "0.0.0.0:8032"}).ServeHTTP(w, r)
		var info rest.Info
		if err := rest.Parse(w.Body.Bytes(), "", &info); err != nil || info.RESTChanges != tt.want || info.ClientAddress != "0.0.0.0:8032" || info.Off == nil {
			t.Errorf("%+v: %v, %s", tt, err, w.Body)
		}
	}
}
