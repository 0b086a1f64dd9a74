package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"google.golang.org/protobuf/proto"

	"heddle/daemon"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// Masters show their pages only to the address of the host of the ResourceManager's pages, wherever those are served.
func TestMastersAreCalledFromWhereTheyExpect(t *testing.T) {
	from := netip.MustParseAddr("127.0.0.9")
	f := newFixture(t, false, func(c *daemon.Config) {
		c.Web, c.ProxySource = netip.MustParseAddrPort("0.0.0.0:0"), from
	})
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.RemoteAddr); err != nil || host != from.String() {
			http.Error(w, "called from "+r.RemoteAddr, http.StatusForbidden)
		}
	}))
	t.Cleanup(pages.Close)
	for state := ""; state != "ALLOCATED"; { // until its master is admitted
		a, err := f.d.RM.Attempt(t.Context(), f.am.Attempt)
		must(t, err)
		state = a.State
	}
	signed := token.AMRM(f.am.Attempt, masterKey)
	master := f.dial(f.d.Scheduler, f.d.RM.Masters().Name, rpc.ClientOptions{Token: &rpc.Token{Identifier: signed.GetIdentifier(), Password: signed.GetPassword(), Kind: signed.GetKind()}})
	must(t, master.Call(t.Context(), "registerApplicationMaster", &wire.RegisterApplicationMasterRequest{
		Host: new("127.0.0.1"), RpcPort: proto.Int32(1), TrackingUrl: new(pages.URL),
	}, &wire.RegisterApplicationMasterResponse{}))
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/proxy/%s/", f.d.Web.Port(), f.app))
	must(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the master's pages are answered %s", resp.Status)
	}
}
