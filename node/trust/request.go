package trust

import (
	"fmt"
	"net/http"
	"time"
)

// NodeOf returns the node named in the certificate of a request's sender. ok is false if there is no certificate that is
// valid now: a connection may outlive the certificate that it began with.
func NodeOf(r *http.Request) (name string, ok bool) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return "", false
	}
	c := r.TLS.VerifiedChains[0][0]
	if time.Now().After(c.NotAfter) || CheckNode(c.Subject.CommonName) != nil {
		return "", false
	}
	return c.Subject.CommonName, true
}

// SpeaksFor returns an error if the sender of a request may not speak for a node. Over TLS the sender needs the node's
// certificate. Without TLS, which is only for loopback, everybody on this machine may.
func SpeaksFor(r *http.Request, node string) error {
	if r.TLS == nil {
		return nil
	}
	switch name, ok := NodeOf(r); {
	case !ok:
		return fmt.Errorf("no valid certificate for node %.80q; heddle node join gets one", node)
	case name != node:
		return fmt.Errorf("the certificate is for node %s, and an agent acts only for its own node, not for %.80q", name, node)
	}
	return nil
}
