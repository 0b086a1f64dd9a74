package rpc

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

var (
	goodToken  = &Token{Identifier: []byte("identifier"), Password: []byte("password")}
	goodTokens = fixedTokens{goodToken.Identifier, goodToken.Password}
)

// exchange sends a SASL message and reads the answer.
func (p *peer) exchange(m *wire.RpcSasl) (*wire.RpcResponseHeader, *wire.RpcSasl) {
	p.t.Helper()
	p.send(hexSASL(m))
	h, rest := p.answer()
	if h.GetCallId() != 4294967263 || h.ClientId == nil || len(h.ClientId) > 0 || h.GetRetryCount() != -1 {
		p.t.Errorf("header of a SASL answer: %v", h)
	}
	if len(rest) == 0 {
		return h, nil
	}
	body, _, err := delimited(rest)
	if err != nil {
		p.t.Fatal(err)
	}
	answer := new(wire.RpcSasl)
	if err := proto.Unmarshal(body, answer); err != nil {
		p.t.Fatal(err)
	}
	return h, answer
}

// respond answers a challenge as token would.
func respond(t *testing.T, challenge []byte, token *Token) []byte {
	t.Helper()
	_, nonce, err := readChallenge(challenge)
	if err != nil {
		t.Fatal(err)
	}
	d := &digest{passwordText(token.Identifier), "default", nonce, newNonce(), "/default"}
	return d.response(passwordText(token.Password))
}

func state(s wire.RpcSasl_SaslState) *wire.RpcSasl { return &wire.RpcSasl{State: &s} }

func initiate(token []byte, auths ...*wire.RpcSasl_SaslAuth) *wire.RpcSasl {
	m := state(wire.RpcSasl_INITIATE)
	m.Token, m.Auths = token, auths
	return m
}

func TestTokenCalls(t *testing.T) {
	who := make(chan Call, 1)
	_, addr := startServer(t, Options{Tokens: goodTokens, Protocols: []Protocol{{masterPB, map[string]Method{
		"allocate": Serve(func(_ context.Context, c *Call, _ *killReq) (*killResp, error) {
			who <- *c
			return &killResp{}, nil
		}),
	}}}})
	c, err := Dial(t.Context(), addr, ClientOptions{Protocol: masterPB, Token: goodToken})
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Call(t.Context(), "allocate", &killReq{}, &killResp{}); err != nil {
		t.Error(err)
	}
	if got := <-who; got.User != "alice" || got.Identity != "the identity" {
		t.Errorf("call %+v", got)
	}
	if err = c.Close(); err != nil {
		t.Error(err)
	}
}

// A client may request the challenge after its choice, and with its first message.
func TestChallengeOnDemand(t *testing.T) {
	_, addr := startServer(t, Options{Tokens: goodTokens, Protocols: newBench().protocol()})
	for name, negotiates := range map[string]bool{"after NEGOTIATE": true, "at once": false} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, addr)
			p.send(hexSASLHeader)
			if negotiates {
				p.exchange(state(wire.RpcSasl_NEGOTIATE))
			}
			_, m := p.exchange(initiate([]byte{}, tokenAuth()))
			if m.GetState() != wire.RpcSasl_CHALLENGE {
				t.Fatalf("answer %v", m)
			}
			answer := state(wire.RpcSasl_RESPONSE)
			answer.Token = respond(t, m.Token, goodToken)
			if _, m = p.exchange(answer); m.GetState() != wire.RpcSasl_SUCCESS || !strings.HasPrefix(string(m.Token), "rspauth=") {
				t.Fatalf("answer %v", m)
			}
			// A client may claim a user only if the token names the same one.
			p.send(hexSimpleContext + hexMethod(3, "echo", &killReq{}))
			if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
				t.Errorf("answer %v", h)
			}
		})
	}
}

// A client that chooses without having asked gets the offer again; a choice that was not offered is refused.
func TestChoiceThatWasNotOffered(t *testing.T) {
	_, addr := startServer(t, Options{Tokens: goodTokens})
	kerberos := &wire.RpcSasl_SaslAuth{Method: new("KERBEROS"), Mechanism: new("GSSAPI")}
	p := connect(t, addr)
	p.send(hexSASLHeader)
	if _, m := p.exchange(initiate([]byte("x"), kerberos)); m.GetState() != wire.RpcSasl_NEGOTIATE || len(m.GetAuths()) != 1 {
		t.Fatalf("answer %v", m)
	}
	h, _ := p.exchange(initiate([]byte("x"), kerberos))
	if h.GetExceptionClassName() != ClassAccessControl || h.GetErrorMsg() != "KERBEROS authentication is not enabled.  Available:[TOKEN]" {
		t.Errorf("answer %v", h)
	}
	p.gone()
}

func TestSASLRefusals(t *testing.T) {
	s, addr := startServer(t, Options{Tokens: goodTokens})
	for _, one := range []struct {
		name     string
		messages func(challenge []byte) []*wire.RpcSasl // after the answer to NEGOTIATE
		class    string
		text     string
	}{
		{"second NEGOTIATE", func([]byte) []*wire.RpcSasl { return []*wire.RpcSasl{state(wire.RpcSasl_NEGOTIATE)} }, ClassAccessControl, "Client already attempted negotiation"},
		{"no choice", func([]byte) []*wire.RpcSasl { return []*wire.RpcSasl{initiate([]byte("x"))} }, ClassSASL, "malformed"},
		{"two choices", func([]byte) []*wire.RpcSasl { return []*wire.RpcSasl{initiate([]byte("x"), tokenAuth(), tokenAuth())} }, ClassSASL, "malformed"},
		{"SIMPLE", func([]byte) []*wire.RpcSasl {
			return []*wire.RpcSasl{initiate(nil, &wire.RpcSasl_SaslAuth{Method: new("SIMPLE"), Mechanism: new("")})}
		}, ClassAccessControl, "SIMPLE authentication is not enabled.  Available:[TOKEN]"},
		{"no token", func([]byte) []*wire.RpcSasl { return []*wire.RpcSasl{initiate(nil, tokenAuth())} }, ClassSASL, "Client did not send a token"},
		{"asks twice for a challenge", func([]byte) []*wire.RpcSasl {
			return []*wire.RpcSasl{initiate([]byte{}, tokenAuth()), initiate([]byte{}, tokenAuth())}
		}, ClassSASL, "already initiated"},
		{"RESPONSE at once", func(c []byte) []*wire.RpcSasl {
			m := state(wire.RpcSasl_RESPONSE)
			m.Token = respond(t, c, goodToken)
			return []*wire.RpcSasl{m}
		}, ClassSASL, "without a CHALLENGE"},
		{"WRAP", func([]byte) []*wire.RpcSasl { return []*wire.RpcSasl{state(wire.RpcSasl_WRAP)} }, ClassSASL, "unsupported state WRAP"},
		{"SUCCESS", func([]byte) []*wire.RpcSasl { return []*wire.RpcSasl{state(wire.RpcSasl_SUCCESS)} }, ClassSASL, "unsupported state SUCCESS"},
		{"garbage", func([]byte) []*wire.RpcSasl { return []*wire.RpcSasl{initiate([]byte("\x00\xff"), tokenAuth())} }, ClassSASL, "DIGEST-MD5"},
		{"unknown token", func(c []byte) []*wire.RpcSasl {
			return []*wire.RpcSasl{initiate(respond(t, c, &Token{Identifier: []byte("other"), Password: goodToken.Password}), tokenAuth())}
		}, ClassInvalidToken, "no such token"},
		{"wrong password", func(c []byte) []*wire.RpcSasl {
			return []*wire.RpcSasl{initiate(respond(t, c, &Token{Identifier: goodToken.Identifier, Password: []byte("passwort")}), tokenAuth())}
		}, ClassSASL, "password"},
		{"empty password", func(c []byte) []*wire.RpcSasl {
			return []*wire.RpcSasl{initiate(respond(t, c, &Token{Identifier: goodToken.Identifier}), tokenAuth())}
		}, ClassSASL, "password"},
		{"nonce of another connection", func([]byte) []*wire.RpcSasl {
			return []*wire.RpcSasl{initiate(respond(t, challenge(newNonce()), goodToken), tokenAuth())}
		}, ClassSASL, "nonce"},
	} {
		t.Run(one.name, func(t *testing.T) {
			before := s.Stats().Refused["sasl"]
			p := connect(t, addr)
			p.send(hexSASLHeader)
			_, offer := p.exchange(state(wire.RpcSasl_NEGOTIATE))
			var h *wire.RpcResponseHeader
			for _, m := range one.messages(offer.Auths[0].Challenge) {
				h, _ = p.exchange(m)
			}
			if h.GetStatus() != wire.RpcStatus_FATAL || h.GetErrorDetail() != wire.RpcErrorCode_FATAL_UNAUTHORIZED ||
				h.GetExceptionClassName() != one.class || !strings.Contains(h.GetErrorMsg(), one.text) {
				t.Errorf("answer %v", h)
			}
			p.gone()
			if s.Stats().Refused["sasl"] != before+1 {
				t.Error("not counted")
			}
		})
	}
}

// A response is good for one connection, once: a replay on the same or another connection authenticates nobody. And a
// token cannot be used to act as another user.
func TestReplayAndOtherUser(t *testing.T) {
	_, addr := startServer(t, Options{Tokens: goodTokens})
	begin := func() (*peer, []byte) {
		p := connect(t, addr)
		p.send(hexSASLHeader)
		_, offer := p.exchange(state(wire.RpcSasl_NEGOTIATE))
		return p, offer.Auths[0].Challenge
	}
	p, c := begin()
	response := initiate(respond(t, c, goodToken), tokenAuth())
	if _, m := p.exchange(response); m.GetState() != wire.RpcSasl_SUCCESS {
		t.Fatalf("answer %v", m)
	}
	if h, _ := p.exchange(response); h.GetErrorDetail() != wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER || h.GetErrorMsg() != "Negotiation is already complete" {
		t.Errorf("answer %v", h)
	}
	p.gone()
	p, _ = begin()
	if h, _ := p.exchange(response); h.GetStatus() != wire.RpcStatus_FATAL {
		t.Errorf("answer %v", h)
	}
	p, c = begin()
	p.exchange(initiate(respond(t, c, goodToken), tokenAuth()))
	p.send(hexFrame(head(callContext), &wire.IpcConnectionContext{UserInfo: &wire.UserInformation{EffectiveUser: new("bob")}}))
	if h, _ := p.answer(); h.GetErrorDetail() != wire.RpcErrorCode_FATAL_UNAUTHORIZED || h.GetExceptionClassName() != ClassAccessControl {
		t.Errorf("answer %v", h)
	}
	p.gone()
}

// How a client with a token reacts to servers that cannot or will not accept it.
func TestClientRefusesServers(t *testing.T) {
	offer := func(auths ...*wire.RpcSasl_SaslAuth) *wire.RpcSasl {
		m := state(wire.RpcSasl_NEGOTIATE)
		m.Auths = auths
		return m
	}
	challenged := func(text string) *wire.RpcSasl_SaslAuth {
		a := tokenAuth()
		a.Challenge = []byte(text)
		return a
	}
	good := offer(challenged(string(challenge("abc"))))
	for _, one := range []struct {
		name    string
		answers []*wire.RpcSasl
		text    string
	}{
		{"switch to simple", []*wire.RpcSasl{state(wire.RpcSasl_SUCCESS)}, "takes no token"},
		{"nothing offered", []*wire.RpcSasl{offer()}, "offers []"},
		{"Kerberos offered", []*wire.RpcSasl{offer(&wire.RpcSasl_SaslAuth{Method: new("KERBEROS"), Mechanism: new("GSSAPI")})}, "KERBEROS/GSSAPI"},
		{"other algorithm", []*wire.RpcSasl{offer(challenged(`realm="default",nonce="abc",algorithm=md5`))}, "algorithm"},
		{"no nonce", []*wire.RpcSasl{offer(challenged(`realm="default",algorithm=md5-sess`))}, "nonce"},
		{"integrity wanted", []*wire.RpcSasl{offer(challenged(`nonce="abc",qop="auth-int,auth-conf",algorithm=md5-sess`))}, "qop"},
		{"quotation in the nonce", []*wire.RpcSasl{offer(challenged(`nonce="a\"bc",algorithm=md5-sess`))}, "quotation"},
		{"no challenge after all", []*wire.RpcSasl{offer(tokenAuth()), state(wire.RpcSasl_SUCCESS)}, "CHALLENGE"},
		{"no proof", []*wire.RpcSasl{good, state(wire.RpcSasl_SUCCESS)}, "did not prove"},
		{"wrong proof", []*wire.RpcSasl{good, {State: wire.RpcSasl_SUCCESS.Enum(), Token: []byte("rspauth=00000000000000000000000000000000")}}, "did not prove"},
		{"no success", []*wire.RpcSasl{good, state(wire.RpcSasl_NEGOTIATE)}, "not with SUCCESS"},
	} {
		t.Run(one.name, func(t *testing.T) {
			c, far := pipeClient(t)
			failed := make(chan error, 1)
			go func() { failed <- c.begin(ClientOptions{Token: goodToken}) }()
			p := &peer{far, t}
			expect(t, p, "header", hexSASLHeader)
			for _, m := range one.answers {
				if err := skipFrame(p); err != nil {
					t.Fatal(err)
				}
				b, err := appendMessage(appendResponseHeader(beginFrame(nil), callSASL, noRetry, nil, nil), m)
				if err != nil {
					t.Fatal(err)
				}
				endFrame(b, 0)
				if _, err := far.Write(b); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-failed; err == nil || !strings.Contains(err.Error(), one.text) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A token port's clients without a token, or with one that nobody issued, are told so.
func TestDialErrors(t *testing.T) {
	_, addr := startServer(t, Options{Tokens: goodTokens})
	_, err := Dial(t.Context(), addr, ClientOptions{Token: &Token{Identifier: []byte("other")}})
	var e *Error
	if !errors.As(err, &e) || e.Class != ClassInvalidToken || e.Code != wire.RpcErrorCode_FATAL_UNAUTHORIZED {
		t.Errorf("dialling with an unknown token: %v", err)
	}
	c, err := Dial(t.Context(), addr, ClientOptions{User: "alice", Protocol: masterPB})
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Call(t.Context(), "allocate", &killReq{}, &killResp{}); !errors.As(err, &e) || e.Class != ClassAccessControl {
		t.Errorf("calling without a token: %v", err)
	}
	if err = c.Close(); err != nil {
		t.Error(err)
	}
	if _, err = Dial(t.Context(), "127.0.0.1:1", ClientOptions{}); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("dialling nobody: %v", err)
	}
}
