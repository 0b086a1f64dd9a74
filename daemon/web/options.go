package web

import (
	"net/http"
	"slices"
	"strings"
)

// optionRoutes has OPTIONS answered for all that is served so far by a method. Hadoop's own clients begin with it,
// and take anything but 200 for a refusal to let them in.
func (s *site) optionRoutes() {
	methods := map[string][]string{}
	for _, pattern := range s.paths {
		if method, path, ok := strings.Cut(pattern, " "); ok {
			methods[path] = append(methods[path], method)
		}
	}
	methods[proxyPrefix] = passedOn
	for path, m := range methods {
		s.mux.Handle("OPTIONS "+path, allow(m))
	}
}

// allow answers OPTIONS: it names the methods of a resource to everybody. It grants pages of other sites nothing,
// for which it would have to name them.
func allow(methods []string) http.Handler {
	all := []string{http.MethodOptions}
	if slices.Contains(methods, http.MethodGet) {
		all = append(all, http.MethodHead)
	}
	for _, m := range methods {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	text := strings.Join(all, ",")
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", text)
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(http.StatusOK)
	})
}
