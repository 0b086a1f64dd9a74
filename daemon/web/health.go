package web

import "net/http"

// healthz answers 200 while the process answers at all.
func (s *site) healthz(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") }

// readyz answers 200 once recovery is done and every port answers, 503 before that and while the loop or disk hangs.
func (s *site) readyz(w http.ResponseWriter, _ *http.Request) {
	h, status := s.RM.Health(), http.StatusOK
	if h.Unready != "" {
		w.Header().Set("Retry-After", "1")
		status = http.StatusServiceUnavailable
	}
	plain(w, status, h.Text())
}

// isActive answers load balancers as YARN does: this ResourceManager is the active one, and there is no other.
func (s *site) isActive(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusOK, "I am Active!")
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the client is gone if this fails
}
