package rpc

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

const (
	clientPB  = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"
	masterPB  = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB"
	trackerPB = "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"
)

// unhex decodes the hexadecimal digits of a test.
func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// exampleID is the client id in the made-up vectors.
var exampleID = [idSize]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// The digest vectors were made by the JDK's own provider.
func TestDigestAsTheJDK(t *testing.T) {
	d := &digest{
		username: "ChAKDgieDRDzgv3G+TIQARDmrafI+f////8B",
		realm:    "default",
		nonce:    "dfugc6xE9fXmSnsC8pXjW178KYfZ2KL+uNuqqOb/",
		cnonce:   "p648vliCbQLrcGGWYLYwcyQr3TdTXA8Dri2qzjxv",
		uri:      "/default",
	}
	const password = "q83vASNFZ4mrze8BI0VniavN7wE="
	if got := d.prove(password, "AUTHENTICATE"); got != "0297fabaf6c5ac9cff1a738f8c65f406" {
		t.Errorf("response %s", got)
	}
	if got := d.prove(password, ""); got != "7b4525d736622450d4d6207849ce5457" {
		t.Errorf("rspauth %s", got)
	}
}

// fixedTokens verifies one token.
type fixedTokens struct{ identifier, password []byte }

func (f fixedTokens) Verify(identifier []byte) ([]byte, string, any, error) {
	if !bytes.Equal(identifier, f.identifier) {
		return nil, "", nil, &Error{Class: ClassInvalidToken, Message: "no such token"}
	}
	return f.password, "alice", "the identity", nil
}

// saslOf returns the RpcSasl inside a recorded frame.
func saslOf(t *testing.T, frame []byte) *wire.RpcSasl {
	t.Helper()
	_, rest, err := delimited(frame[lengthSize:])
	if err != nil {
		t.Fatal(err)
	}
	body, _, err := delimited(rest)
	if err != nil {
		t.Fatal(err)
	}
	m := new(wire.RpcSasl)
	if err := proto.Unmarshal(body, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Two recorded handshakes are replayed from the server's side: with the recorded nonce every answer must be the recorded
// one, byte for byte. Then from the client's side: its response must be the recorded one.
func TestRecordedHandshakes(t *testing.T) {
	for _, one := range []struct {
		name, offer, initiate, success string
		identifier, password           string
	}{
		{
			"master", hexMasterOffer, hexMasterInitiate, hexMasterSuccess,
			"0a0d0a09080610d39e9ce59f3410011099aeab9101", "bb7227f27285f1292d5e32ff69964e5a63cccdb8",
		},
		{
			"node", hexNodeOffer, hexNodeInitiate, hexNodeSuccess,
			"0a0d0a09080610d39e9ce59f341001120e0a093132372e302e302e3210e93e1a04726f6f7420a887dcfe04", "c0745d4f89fb22a2ce75195b844397ba0467f225",
		},
	} {
		t.Run(one.name, func(t *testing.T) {
			offer := saslOf(t, unhex(one.offer))
			_, nonce, err := readChallenge(offer.Auths[0].Challenge)
			if err != nil {
				t.Fatal(err)
			}
			s := &saslServer{verifier: fixedTokens{unhex(one.identifier), unhex(one.password)}, nonce: nonce}
			answer := func(m *wire.RpcSasl) string {
				got, err := s.step(m)
				if err != nil {
					t.Fatal(err)
				}
				b := appendResponseHeader(beginFrame(nil), callSASL, noRetry, nil, nil)
				if b, err = appendMessage(b, got); err != nil {
					t.Fatal(err)
				}
				endFrame(b, 0)
				return hex.EncodeToString(b)
			}
			negotiate := saslOf(t, unhex(hexNegotiate))
			if d := cmp.Diff(one.offer, answer(negotiate)); d != "" {
				t.Errorf("offer (-recorded +ours):\n%s", d)
			}
			initiate := saslOf(t, unhex(one.initiate))
			if d := cmp.Diff(one.success, answer(initiate)); d != "" {
				t.Errorf("success (-recorded +ours):\n%s", d)
			}
			has, err := directives(initiate.Token)
			if err != nil {
				t.Fatal(err)
			}
			d := &digest{base64.StdEncoding.EncodeToString(unhex(one.identifier)), "default", nonce, has["cnonce"], "/default"}
			if d := cmp.Diff(string(initiate.Token), string(d.response(passwordText(unhex(one.password))))); d != "" {
				t.Errorf("response (-recorded +ours):\n%s", d)
			}
		})
	}
}

// A master's whole recorded conversation gets the same answers as from the stock server.
func TestRecordedMaster(t *testing.T) {
	_, rest, err := delimited(unhex(hexMasterRegistered)[lengthSize:])
	if err != nil {
		t.Fatal(err)
	}
	body, _, err := delimited(rest)
	if err != nil {
		t.Fatal(err)
	}
	answer := new(wire.RegisterApplicationMasterResponse)
	if err := proto.Unmarshal(body, answer); err != nil {
		t.Fatal(err)
	}
	s := NewServer(Options{
		Tokens: fixedTokens{unhex("0a0d0a09080610d39e9ce59f3410011099aeab9101"), unhex("bb7227f27285f1292d5e32ff69964e5a63cccdb8")},
		Protocols: []Protocol{{masterPB, map[string]Method{
			"registerApplicationMaster": Serve(func(_ context.Context, c *Call, req *wire.RegisterApplicationMasterRequest) (*wire.RegisterApplicationMasterResponse, error) {
				if c.User != "alice" || c.Identity != "the identity" || req.GetRpcPort() != -1 {
					t.Errorf("call %+v, request %v", *c, req)
				}
				return answer, nil
			}),
		}}},
	})
	c, sc := scripted(s, unhex(hexMasterBegins+hexMasterInitiate+hexMasterRegisters))
	defer c.finish()
	if err := c.greet(); err != nil {
		t.Fatal(err)
	}
	offer := saslOf(t, unhex(hexMasterOffer))
	if _, c.sasl.nonce, err = readChallenge(offer.Auths[0].Challenge); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = c.frame()
	}
	c.calls.Wait()
	if d := cmp.Diff(hexMasterOffer+hexMasterSuccess+hexMasterRegistered, hex.EncodeToString(sc.out.Bytes())); d != "" {
		t.Errorf("answers (-recorded +ours), %v:\n%s", err, d)
	}
}

func TestOfferBytes(t *testing.T) {
	s := &saslServer{verifier: fixedTokens{}, nonce: "dfugc6xE9fXmSnsC8pXjW178KYfZ2KL+uNuqqOb/"}
	b, err := appendMessage(appendResponseHeader(beginFrame(nil), callSASL, noRetry, nil, nil), s.offer())
	if err != nil {
		t.Fatal(err)
	}
	endFrame(b, 0)
	if d := cmp.Diff(hexOffer, hex.EncodeToString(b)); d != "" {
		t.Errorf("offer (-want +got):\n%s", d)
	}
}

// pipeClient returns a client whose begin was not run, and the other end of its connection.
func pipeClient(t *testing.T) (*Client, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return &Client{
		nc: near, id: exampleID, in: splitter{r: near, limit: DefaultFrame},
		out: newOutbox(near, DefaultOutput, DefaultWrite, func(int) {}), protocol: clientPB,
	}, far
}

// expect reads as many bytes as want has from conn and compares them.
func expect(t *testing.T, conn io.Reader, what, want string) {
	t.Helper()
	b := make([]byte, len(want)/2)
	n, err := io.ReadFull(conn, b)
	if d := cmp.Diff(want, hex.EncodeToString(b[:n])); d != "" {
		t.Fatalf("%s: %v; (-want +got):\n%s", what, err, d)
	}
}

func TestClientBytes(t *testing.T) {
	c, far := pipeClient(t)
	failed := make(chan error, 1)
	go func() {
		if err := c.begin(ClientOptions{Protocol: clientPB, User: "alice"}); err != nil {
			failed <- err
			return
		}
		failed <- c.request(0, "getNewApplication", &wire.GetNewApplicationRequest{})
	}()
	expect(t, far, "header and context", hexSimpleHeader+hexSimpleContext)
	expect(t, far, "call", hexCall)
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

func TestClientTokenBytes(t *testing.T) {
	c, far := pipeClient(t)
	token := &Token{Identifier: unhex("0a0d0a09080610d39e9ce59f3410011099aeab9101"), Password: unhex("bb7227f27285f1292d5e32ff69964e5a63cccdb8")}
	failed := make(chan error, 1)
	go func() { failed <- c.begin(ClientOptions{Protocol: masterPB, Token: token}) }()
	expect(t, far, "header and NEGOTIATE", hexMasterBegins)
	if _, err := far.Write(unhex(hexMasterOffer)); err != nil {
		t.Fatal(err)
	}
	// Except for the client's nonce and what depends on it, the answer has the recorded bytes.
	initiate := make([]byte, len(hexMasterInitiate)/2)
	if _, err := io.ReadFull(far, initiate); err != nil {
		t.Fatal(err)
	}
	want := unhex(hexMasterInitiate)
	for _, key := range []string{`cnonce="`, `response=`} {
		at := bytes.Index(want, []byte(key)) + len(key)
		n := map[string]int{`cnonce="`: 40, `response=`: 32}[key]
		copy(want[at:at+n], initiate[at:at+n])
	}
	if d := cmp.Diff(hex.EncodeToString(want), hex.EncodeToString(initiate)); d != "" {
		t.Fatalf("INITIATE (-recorded +ours):\n%s", d)
	}
	m := saslOf(t, initiate)
	offer := saslOf(t, unhex(hexMasterOffer))
	_, nonce, err := readChallenge(offer.Auths[0].Challenge)
	if err != nil {
		t.Fatal(err)
	}
	s := &saslServer{verifier: fixedTokens{token.Identifier, token.Password}, nonce: nonce, offered: true}
	success, err := s.step(m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := appendMessage(appendResponseHeader(beginFrame(nil), callSASL, noRetry, nil, nil), success)
	if err != nil {
		t.Fatal(err)
	}
	endFrame(b, 0)
	if _, err = far.Write(b); err != nil {
		t.Fatal(err)
	}
	expect(t, far, "context", hexTokenContext)
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

// What recorded Hadoop clients send in one go is answered with the recorded bytes.
func TestServerBytes(t *testing.T) {
	var seen []Call
	note := func(c *Call) { seen = append(seen, *c) }
	answer := new(wire.RegisterNodeManagerResponse)
	_, rest, err := delimited(unhex(hexNodeRegistered)[lengthSize:])
	if err != nil {
		t.Fatal(err)
	}
	body, _, err := delimited(rest)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(body, answer); err != nil {
		t.Fatal(err)
	}
	fail := false
	_, addr := startServer(t, Options{Protocols: []Protocol{
		{clientPB, map[string]Method{
			"getNewApplication": Serve(func(_ context.Context, c *Call, _ *wire.GetNewApplicationRequest) (*wire.GetNewApplicationResponse, error) {
				note(c)
				if fail {
					return nil, &Error{Class: "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException", Message: "x"}
				}
				return &wire.GetNewApplicationResponse{}, nil
			}),
		}},
		{trackerPB, map[string]Method{
			"registerNodeManager": Serve(func(_ context.Context, c *Call, req *wire.RegisterNodeManagerRequest) (*wire.RegisterNodeManagerResponse, error) {
				note(c)
				if req.GetNodeId().GetHost() != "127.0.0.2" {
					t.Errorf("request %v", req)
				}
				return answer, nil
			}),
		}},
	}})

	p := connect(t, addr)
	p.send(hexSimpleHeader + hexSimpleContext + hexCall)
	expect(t, p, "answer", hexEmpty)
	fail = true
	p.send(hexCall)
	expect(t, p, "error", hexError)
	p.send(hexCall)
	expect(t, p, "error, the connection goes on", hexError)

	p = connect(t, addr)
	p.send(hexSASLHeader + hexNegotiate)
	expect(t, p, "switch to simple", hexSwitch)
	p.send(hexSimpleContext + hexCall)
	expect(t, p, "answer after the switch", hexError)

	p = connect(t, addr)
	p.send(hexNodeBegins + hexNodeRegisters)
	expect(t, p, "registration", hexNodeRegistered)

	last := seen[len(seen)-1]
	if last.User != "root" || last.Method != "registerNodeManager" || !last.Addr.IsValid() {
		t.Errorf("call %+v", last)
	}
	if first := seen[0]; first.User != "alice" || first.ClientID != exampleID || first.ID != 0 || first.Retry != 0 || first.Identity != nil {
		t.Errorf("call %+v", first)
	}
}
