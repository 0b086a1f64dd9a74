package trust

import (
	"fmt"
	"net/http"
	"time"
)

// NodeOf returns which node the sender of a request has a certificate of. It is false where there is none that is valid
// now: a connection may outlive the certificate that it began with.
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

// SpeaksFor says why the sender of a request may not speak for a node. Over TLS it needs the node's certificate. In the
// clear, which is for loopback alone, everybody on this machine may.
func SpeaksFor(r *http.Request, node string) error {
	if r.TLS == nil {
		return nil
	}
	switch name, ok := NodeOf(r); {
	case !ok:
		return fmt.Errorf("no valid certificate, so nobody speaks for node %.80q; heddle node join gets one", node)
	case name != node:
		return fmt.Errorf("the certificate is node %s's, and an agent speaks for its own node alone, not for %.80q", name, node)
	}
	return nil
}
