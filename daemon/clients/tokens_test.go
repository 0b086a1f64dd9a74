package clients

import (
	"bufio"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"heddle/daemon"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// A client gets a token, which its renewer renews and its owner or its renewer cancels, as with a stock ResourceManager
// without Kerberos.
func TestDelegationTokens(t *testing.T) {
	o := Options{
		Access:     daemon.Access{Owner: "yarn"},
		ProxyUsers: map[string]daemon.ProxyUser{"oozie": {Users: []string{"ann"}, From: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}},
	}
	addr := serveOn(t, rpc.Options{Protocols: []rpc.Protocol{Client(stock(), o)}})
	dial := func(user, real string) *rpc.Client {
		c, err := rpc.Dial(t.Context(), addr, rpc.ClientOptions{Protocol: ClientName, User: user, RealUser: real})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	get := func(c *rpc.Client, renewer string) *wire.Token {
		t.Helper()
		p := &wire.GetDelegationTokenResponse{}
		if err := c.Call(t.Context(), "getDelegationToken", &wire.GetDelegationTokenRequest{Renewer: &renewer}, p); err != nil {
			t.Fatal(err)
		}
		return p.GetToken()
	}
	ann, proxied, renewer, owner, eve := dial("ann", ""), dial("ann", "oozie"), dial("mr token", ""), dial("yarn", ""), dial("eve", "")
	before := time.Now().UnixMilli()
	mine, through, bare := get(ann, "mr token"), get(proxied, "mr token"), get(ann, "")
	parsed := func(k *wire.Token) *wire.YARNDelegationTokenIdentifier {
		t.Helper()
		id, err := token.ParseDelegation(k.GetIdentifier())
		if err != nil || k.GetKind() != token.DelegationKind || k.GetService() != "" || len(k.GetPassword()) != 20 {
			t.Fatalf("%v, %v", k, err)
		}
		return id
	}
	first, second := parsed(mine), parsed(through)
	if first.GetOwner() != "ann" || first.GetRenewer() != "mr token" || first.RealUser != nil || second.GetRealUser() != "oozie" {
		t.Errorf("%v, and through a proxy user %v", first, second)
	}
	if at := first.GetIssueDate(); at < before || at > time.Now().UnixMilli() || first.GetMaxDate() != at+7*24*3600*1000 {
		t.Errorf("issued at %d, good until %d", at, first.GetMaxDate())
	}
	if first.GetSequenceNumber() == second.GetSequenceNumber() || first.GetMasterKeyId() != second.GetMasterKeyId() {
		t.Errorf("two tokens of one start: %v, %v", first, second)
	}

	with := func(change func(*wire.YARNDelegationTokenIdentifier)) *wire.Token {
		id := proto.CloneOf(first)
		change(id)
		return token.Delegation(id, token.Key{ID: 1, Bytes: []byte("of an earlier start")}, "")
	}
	day := 24 * time.Hour.Milliseconds()
	hour := time.Now().Add(time.Hour).UnixMilli()
	soon := with(func(id *wire.YARNDelegationTokenIdentifier) { id.MaxDate = &hour })
	over := with(func(id *wire.YARNDelegationTokenIdentifier) { id.MaxDate = &before })
	garbage := &wire.Token{Identifier: []byte("\xff"), Password: []byte{}, Kind: new(""), Service: new("")}
	for _, x := range []struct {
		name        string
		c           *rpc.Client
		k           *wire.Token
		until       int64 // at most a second before
		class, text string
	}{
		{"its renewer", renewer, mine, before + day, "", ""},
		{"the daemon's user", owner, mine, before + day, "", ""},
		{"near its end", renewer, soon, hour, "", ""},
		{"its owner", ann, mine, 0, rpc.ClassAccessControl, "ann tries to renew a token of ann with non-matching renewer mr token"},
		{"another", eve, mine, 0, rpc.ClassAccessControl, "non-matching renewer mr token"},
		{"without a renewer", owner, bare, 0, rpc.ClassAccessControl, "without a renewer"},
		{"expired", renewer, over, 0, rpc.ClassYarn, "mr token tried to renew an expired token of ann"},
		{"garbage", renewer, garbage, 0, rpc.ClassYarn, "identifier of a token RM_DELEGATION_TOKEN"},
	} {
		p := &wire.RenewDelegationTokenResponse{}
		err := x.c.Call(t.Context(), "renewDelegationToken", &wire.RenewDelegationTokenRequest{Token: x.k}, p)
		if x.class != "" {
			t.Log(x.name)
			wantClass(t, err, x.class, x.text)
		} else if got := int64(p.GetNewExpiryTime()); err != nil || got < x.until || got > x.until+10_000 {
			t.Errorf("%s: renewed until %d, want %d: %v", x.name, got, x.until, err)
		}
	}
	for _, x := range []struct {
		name        string
		c           *rpc.Client
		k           *wire.Token
		class, text string
	}{
		{"its owner", ann, mine, "", ""},
		{"its renewer", renewer, mine, "", ""},
		{"its owner, through a proxy user", proxied, mine, "", ""},
		{"another", eve, mine, rpc.ClassAccessControl, "eve is not authorized to cancel the token of ann: only ann and its renewer mr token are"},
		{"the daemon's user", owner, bare, rpc.ClassAccessControl, "yarn is not authorized"},
		{"garbage", ann, garbage, rpc.ClassYarn, "identifier of a token RM_DELEGATION_TOKEN"},
	} {
		err := x.c.Call(t.Context(), "cancelDelegationToken", &wire.CancelDelegationTokenRequest{Token: x.k}, &wire.CancelDelegationTokenResponse{})
		if x.class != "" {
			t.Log(x.name)
			wantClass(t, err, x.class, x.text)
		} else if err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// A client that has a token begins with SASL. It is told to go on without, and calls as the user that it states.
func TestClientWithAToken(t *testing.T) {
	addr := serveOn(t, rpc.Options{Protocols: []rpc.Protocol{Client(stock(), Options{})}})
	c := send(t, addr, 0xdf, // SASL
		frame(t, -33, &wire.RpcSasl{State: wire.RpcSasl_NEGOTIATE.Enum()}),
		frame(t, -3, &wire.IpcConnectionContext{UserInfo: &wire.UserInformation{EffectiveUser: new("ann")}, Protocol: new(ClientName)}),
		frame(t, 0, calls(ClientName, "getDelegationToken"), &wire.GetDelegationTokenRequest{Renewer: new("x")}))
	in := bufio.NewReader(c)
	read := func(m proto.Message) {
		t.Helper()
		head := &wire.RpcResponseHeader{}
		if err := binary.Read(in, binary.BigEndian, new(uint32)); err != nil {
			t.Fatal(err)
		}
		if err := protodelim.UnmarshalFrom(in, head); err != nil || head.GetStatus() != wire.RpcStatus_SUCCESS {
			t.Fatalf("%v, %v", head, err)
		}
		if err := protodelim.UnmarshalFrom(in, m); err != nil {
			t.Fatal(err)
		}
	}
	sasl, got := &wire.RpcSasl{}, &wire.GetDelegationTokenResponse{}
	if read(sasl); sasl.GetState() != wire.RpcSasl_SUCCESS {
		t.Fatalf("NEGOTIATE is answered with %v", sasl)
	}
	read(got)
	if id, err := token.ParseDelegation(got.GetToken().GetIdentifier()); err != nil || id.GetOwner() != "ann" {
		t.Errorf("a token of %v, %v", id, err)
	}
}
