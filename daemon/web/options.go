package web

import (
	"net/http"
	"slices"
	"strings"
)

// optionRoutes answers OPTIONS for everything registered so far with a method. Hadoop's own clients start with OPTIONS,
// and take any status but 200 as a refusal.
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

// allow answers OPTIONS with the methods of a resource, for everybody. It grants nothing to pages of other sites, since
// it does not name them.
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
