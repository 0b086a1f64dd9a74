package rpc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

// A script is a connection whose peer has sent all its bytes and reads everything.
type script struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (s *script) Read(b []byte) (int, error)       { return s.in.Read(b) }
func (s *script) Write(b []byte) (int, error)      { return s.out.Write(b) }
func (s *script) Close() error                     { return nil }
func (s *script) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: "script"} }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// scripted returns a server's connection that reads b.
func scripted(s *Server, b []byte) (*conn, *script) {
	sc := &script{in: bytes.NewReader(b)}
	return newConn(s, sc, netip.AddrPort{}), sc
}

// The seven bytes are accepted or refused, and nothing else happens.
func FuzzConnectionHeader(f *testing.F) {
	for _, s := range []string{hexSimpleHeader, hexSASLHeader, "687270630a0000", "68727063080000", "474554202f2048", "68727063090001", "68"} {
		f.Add(unhex(s))
	}
	s := NewServer(Options{Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, _ := scripted(s, b)
		defer c.finish()
		err := c.greet()
		good := len(b) >= headerSize && string(b[:5]) == "hrpc\x09" && (b[6] == authNone || b[6] == authSASL)
		var refused *refusal
		switch {
		case good != (err == nil):
			t.Errorf("header %x: %v", b, err)
		case len(b) < headerSize && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Errorf("header %x: %v", b, err)
		case len(b) >= headerSize && err != nil && !errors.As(err, &refused):
			t.Errorf("header %x: %v", b, err)
		}
	})
}

// A conversation of arbitrary bytes ends without a panic, and its answers are whole frames.
func FuzzConversation(f *testing.F) {
	for _, s := range []string{
		hexSimpleContext + hexCall, hexNegotiate + hexSimpleContext, hexMethod(1, "echo", &killReq{}), hexFrame(head(callPing)),
		hexSimpleContext + hexMethod(1, "big", &killReq{Diagnostics: new("x")}) + hexMethod(2, "plain", &killReq{}),
	} {
		f.Add(unhex(hexSimpleHeader+s), true)
		f.Add(unhex(hexSASLHeader+s), false)
	}
	protocols := newBench().protocol()
	for _, name := range []string{"waitForIt", "panics"} {
		delete(protocols[0].Methods, name)
	}
	quiet := slog.New(slog.DiscardHandler)
	servers := map[bool]*Server{
		true:  NewServer(Options{Protocols: protocols, Log: quiet}),
		false: NewServer(Options{Protocols: protocols, Log: quiet, Tokens: goodTokens}),
	}
	f.Fuzz(func(t *testing.T, b []byte, simple bool) {
		s := servers[simple]
		c, sc := scripted(s, b)
		err := c.greet()
		for err == nil {
			err = c.frame()
		}
		c.calls.Wait()
		c.leave(err)
		c.finish()
		if s.Stats().Panics > 0 {
			t.Fatal("panic")
		}
		if sc.out.Len() > 0 && !bytes.HasPrefix(sc.out.Bytes(), []byte("HTTP")) {
			for sc.out.Len() > 0 {
				if _, _, err := readAnswer(&sc.out); err != nil {
					t.Fatalf("answer: %v", err)
				}
			}
		}
	})
}

// However bytes arrive, the splitter cuts them as a simple loop over them does.
func FuzzSplitter(f *testing.F) {
	f.Add(unhex(hexSimpleContext+hexCall), uint8(3))
	f.Add(unhex("0000000001"), uint8(0))
	f.Add(unhex("7fffffff00"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		const limit = 4096
		s := splitter{r: &steps{bytes.NewReader(b), int(step) + 1}, limit: limit}
		for rest := b; ; {
			got, err := s.next()
			if len(s.buf) > max(firstInput, 2*len(b)) {
				t.Fatalf("%d bytes arrived, the buffer has %d", len(b), len(s.buf))
			}
			length := -1
			if len(rest) >= lengthSize {
				length = int(binary.BigEndian.Uint32(rest))
			}
			_, tooLong := errors.AsType[*tooLongError](err)
			switch {
			case len(rest) == 0:
				if !errors.Is(err, io.EOF) {
					t.Fatalf("at the end: %v", err)
				}
				return
			case length == 0 || length > limit:
				if !tooLong {
					t.Fatalf("length %d: %v", length, err)
				}
				return
			case length < 0 || len(rest) < lengthSize+length:
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("in the middle of a frame: %v", err)
				}
				return
			case err != nil || !bytes.Equal(got, rest[lengthSize:lengthSize+length]):
				t.Fatalf("frame %x, %v", got, err)
			}
			rest = rest[lengthSize+length:]
		}
	})
}

// steps reads a few bytes at a time.
type steps struct {
	io.Reader
	n int
}

func (s *steps) Read(b []byte) (int, error) { return s.Reader.Read(b[:min(len(b), s.n)]) }

// The hand-written code reads headers as generated code does.
func FuzzRPCHeader(f *testing.F) {
	for _, s := range []string{hexSimpleContext, hexCall, hexNegotiate, hexEmpty, hexError, hexMasterRegisters} {
		b, rest, err := delimited(unhex(s)[lengthSize:])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		if b, _, err = delimited(rest); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var request wire.RpcRequestHeader
		h, err := parseRequestHeader(b)
		if proto.Unmarshal(b, &request) == nil {
			if err != nil {
				t.Fatalf("request header: %v", err)
			}
			if h.call != request.GetCallId() || h.retry != request.GetRetryCount() || !bytes.Equal(h.client, request.ClientId) ||
				request.RpcOp != nil && h.op != int32(*request.RpcOp) || request.RpcKind != nil && h.kind != int32(*request.RpcKind) || string(h.context) != request.GetCallerContext().GetContext() {
				// Generated code merges a context in several parts; nobody sends one.
				if request.CallerContext == nil || bytes.Count(b, []byte{0x3a}) < 2 {
					t.Fatalf("request header %+v, want %v", h, &request)
				}
			}
		}
		var response wire.RpcResponseHeader
		answer, err := parseResponseHeader(b)
		if proto.Unmarshal(b, &response) == nil && err == nil {
			if uint32(answer.call) != response.GetCallId() || answer.retry != response.GetRetryCount() || !bytes.Equal(answer.client, response.ClientId) {
				t.Fatalf("response header %+v, want %v", answer, &response)
			}
			if e := answer.err; e != nil && (e.Class != response.GetExceptionClassName() || e.Message != response.GetErrorMsg()) {
				t.Fatalf("error %+v, want %v", e, &response)
			}
		}
		var method wire.RequestHeader
		m, err := parseMethodHeader(b)
		if good := proto.Unmarshal(b, &method) == nil; good != (err == nil) ||
			good && (string(m.method) != method.GetMethodName() || string(m.protocol) != method.GetDeclaringClassProtocolName() || m.version != method.GetClientProtocolVersion()) {
			t.Fatalf("method header %+v, %v, want %v", m, err, &method)
		}
	})
}

// No message authenticates a client that does not know the password.
func FuzzSASL(f *testing.F) {
	for _, s := range []string{hexNegotiate, hexMasterOffer, hexMasterInitiate, hexMasterSuccess} {
		_, rest, err := delimited(unhex(s)[lengthSize:])
		if err != nil {
			f.Fatal(err)
		}
		b, _, err := delimited(rest)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, b)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := &saslServer{verifier: goodTokens, nonce: "+nXL+HmFcZEKrc2qZdb+tHbaKWG/ROobwTKtM/wB"}
		for _, b := range [][]byte{first, second} {
			var m wire.RpcSasl
			if decoding.Unmarshal(b, &m) != nil {
				continue
			}
			answer, err := s.step(&m)
			if s.done || answer != nil && answer.GetState() == wire.RpcSasl_SUCCESS {
				t.Fatal("somebody got in")
			}
			if (answer == nil) == (err == nil) {
				t.Fatalf("answer %v, error %v", answer, err)
			}
		}
	})
}

// A response that was read reads the same after encoding it again.
func FuzzDigestResponse(f *testing.F) {
	const nonce = "dfugc6xE9fXmSnsC8pXjW178KYfZ2KL+uNuqqOb/"
	d := &digest{"ChAKDgieDRDzgv3G+TIQARDmrafI+f////8B", "default", nonce, "p648vliCbQLrcGGWYLYwcyQr3TdTXA8Dri2qzjxv", "/default"}
	f.Add(d.response("q83vASNFZ4mrze8BI0VniavN7wE="))
	f.Add([]byte(`username="AAAA", realm="default",nonce="` + nonce + `" ,nc=00000001,cnonce="\"",digest-uri="/default",response=0297fabaf6c5ac9cff1a738f8c65f406`))
	f.Add(challenge(nonce))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, _ = readChallenge(b)
		identifier, got, hash, err := readResponse(b, nonce)
		if err != nil {
			return
		}
		if len(identifier) == 0 || base64.StdEncoding.EncodeToString(identifier) != got.username || got.nonce != nonce || len(hash) != digestResponse {
			t.Fatalf("identifier %x, %+v, %q", identifier, got, hash)
		}
		if bytes.ContainsAny([]byte(got.cnonce), "\"\\") {
			return // it would need escaping
		}
		again, same, _, err := readResponse(got.response("password"), nonce)
		if err != nil || !bytes.Equal(again, identifier) || *same != *got {
			t.Fatalf("%+v was read again as %+v, %v", got, same, err)
		}
	})
}
