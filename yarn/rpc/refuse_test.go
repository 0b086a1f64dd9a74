package rpc

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"heddle/yarn/wire"
)

// The server's answer to everything that a client may do wrong: after status FATAL the connection ends, after ERROR it
// goes on.
func TestRefusals(t *testing.T) {
	type header = wire.RpcRequestHeader
	change := func(id int32, f func(*header)) *header { h := head(id); f(h); return h }
	context := func(user, realUser string) string {
		info := &wire.UserInformation{EffectiveUser: &user}
		if realUser != "" {
			info.RealUser = &realUser
		}
		return hexFrame(head(callContext), &wire.IpcConnectionContext{UserInfo: info})
	}
	call := func(protocol string, version uint64, method string) string {
		return hexFrame(head(7), &wire.RequestHeader{MethodName: &method, DeclaringClassProtocolName: &protocol, ClientProtocolVersion: &version}, &killReq{})
	}
	opened := hexSimpleHeader + hexSimpleContext
	b := newBench()
	s, addr := startServer(t, Options{Protocols: b.protocol()})
	for _, one := range []struct {
		name, bytes string
		call        uint32
		code        wire.RpcErrorCode
		class       string
		message     string // a part of it
		why         string // in Stats.Refused; "" if nothing was refused
	}{
		{"wrong magic", "68727077090000", 4294967295, wire.RpcErrorCode_FATAL_VERSION_MISMATCH, ClassVersion, "version", "version"},
		{"later version", "687270630a0000", 4294967295, wire.RpcErrorCode_FATAL_VERSION_MISMATCH, ClassVersion, "client version 10", "version"},
		{"unknown authentication", "68727063090001", 4294967295, wire.RpcErrorCode_FATAL_UNAUTHORIZED, ClassIPC, "0x01", "auth"},
		{"empty frame", hexSimpleHeader + "00000000", 4294967295, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "0 bytes", "frame"},
		{"128 MiB announced at first", hexSimpleHeader + "08000000", 4294967295, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "1 to 65536", "frame"},
		{"128 MiB announced later", opened + "08000000", 4294967295, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "1 to 16777216", "frame"},
		{"garbage for a header", opened + "00000004ffffffff", 4294967295, wire.RpcErrorCode_FATAL_DESERIALIZING_REQUEST, ClassServer, "length", "message"},
		{"header without an id", opened + "000000050408021000", 4294967295, wire.RpcErrorCode_FATAL_DESERIALIZING_REQUEST, ClassServer, "callId", "message"},
		{"client id too short", opened + hexFrame(change(7, func(h *header) { h.ClientId = []byte{1} })), 4294967295, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "clientId", "order"},
		{"continuation", opened + hexFrame(change(7, func(h *header) { h.RpcOp = wire.RpcRequestHeader_RPC_CONTINUATION_PACKET.Enum() })), 7, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "rpcOp 1", "order"},
		{"no operation", opened + hexFrame(change(7, func(h *header) { h.RpcOp = nil })), 7, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "rpcOp", "order"},
		{"Writable call", opened + hexFrame(change(7, func(h *header) { h.RpcKind = wire.RpcKind_RPC_WRITABLE.Enum() })), 7, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "rpcKind 1", "order"},
		{"unknown negative id", opened + hexFrame(head(-2)), 4294967294, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "-2", "order"},
		{"call before the context", hexSimpleHeader + hexCall, 0, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "before the connection context", "order"},
		{"second context", opened + hexSimpleContext, 4294967293, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "already sent", "order"},
		{"context before SASL", hexSASLHeader + hexSimpleContext, 4294967293, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "before SASL", "order"},
		{"SASL without having said so", hexSimpleHeader + hexNegotiate, 4294967263, wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "not requested", "order"},
		{"context nobody can read", hexSimpleHeader + hexFrame(head(callContext), head(1)), 4294967293, wire.RpcErrorCode_FATAL_UNAUTHORIZED, ClassAccessControl, "effectiveUser", "context"},
		{"context without a message", hexSimpleHeader + hexFrame(head(callContext)), 4294967293, wire.RpcErrorCode_FATAL_DESERIALIZING_REQUEST, ClassServer, "length", "message"},
		{"nobody", hexSimpleHeader + context("", ""), 4294967293, wire.RpcErrorCode_FATAL_UNAUTHORIZED, ClassAccessControl, "effectiveUser", "context"},
		{"user with a long name", hexSimpleHeader + context(strings.Repeat("a", maxUser+1), ""), 4294967293, wire.RpcErrorCode_FATAL_UNAUTHORIZED, ClassAccessControl, "256", "context"},
		{"real user that is not text", hexSimpleHeader + context("alice", "\xff"), 4294967293, wire.RpcErrorCode_FATAL_UNAUTHORIZED, ClassAccessControl, "UTF-8", "context"},
		{"call without a method", opened + hexFrame(head(7)), 7, wire.RpcErrorCode_FATAL_DESERIALIZING_REQUEST, ClassServer, "length", "message"},
		{"call without a request", opened + hexFrame(head(7), &wire.RequestHeader{MethodName: new("echo"), DeclaringClassProtocolName: new(clientPB), ClientProtocolVersion: new(uint64(1))}), 7, wire.RpcErrorCode_FATAL_DESERIALIZING_REQUEST, ClassServer, "length", "message"},
		{"unknown protocol", opened + call("org.example.NoPB", 1, "echo"), 7, wire.RpcErrorCode_ERROR_NO_SUCH_PROTOCOL, ClassNoProtocol, "org.example.NoPB", "protocol"},
		{"unknown method", opened + call(clientPB, 1, "dance"), 7, wire.RpcErrorCode_ERROR_NO_SUCH_METHOD, ClassNoMethod, "dance", "method"},
		{"other version of the protocol", opened + call(clientPB, 2, "echo"), 7, wire.RpcErrorCode_ERROR_RPC_VERSION_MISMATCH, ClassVersion, "client = 2", "protocol"},
		{"request that cannot be read", opened + hexMethod(7, "echo", &wire.GetQueueInfoRequest{QueueName: new("\x08")}), 7, wire.RpcErrorCode_ERROR_RPC_SERVER, ClassServer, "echo cannot be read", "message"},
		{"plain error", opened + hexMethod(7, "plain", &killReq{}), 7, wire.RpcErrorCode_ERROR_APPLICATION, ClassYarn, "it did not work", ""},
		{"error with a class, wrapped", opened + hexMethod(7, "wrapped", &killReq{}), 7, wire.RpcErrorCode_ERROR_APPLICATION, ClassAccessControl, "not yours", ""},
		{"answer without what it must have", opened + hexMethod(7, "incomplete", &killReq{}), 7, wire.RpcErrorCode_ERROR_SERIALIZING_RESPONSE, ClassYarn, "identifier", ""},
		{"fatal error", opened + hexMethod(7, "fatal", &killReq{}), 7, wire.RpcErrorCode_FATAL_UNKNOWN, ClassYarn, "go away", ""},
		{"panic", opened + hexMethod(7, "panics", &killReq{}), 7, wire.RpcErrorCode_FATAL_UNKNOWN, ClassYarn, "internal error", "panic"},
	} {
		t.Run(one.name, func(t *testing.T) {
			before := s.Stats().Refused[one.why]
			p := connect(t, addr)
			p.send(one.bytes)
			h, rest := p.answer()
			if h.GetCallId() != one.call || h.GetErrorDetail() != one.code || h.GetExceptionClassName() != one.class || !strings.Contains(h.GetErrorMsg(), one.message) {
				t.Errorf("answer %v", h)
			}
			if h.ClientId == nil || h.RetryCount == nil || h.GetServerIpcVersionNum() != Version || len(rest) > 0 {
				t.Errorf("answer %v, then %x", h, rest)
			}
			want := wire.RpcStatus_ERROR
			if one.code >= wire.RpcErrorCode_FATAL_UNKNOWN {
				want = wire.RpcStatus_FATAL
			}
			if h.GetStatus() != want {
				t.Errorf("status %v, want %v", h.GetStatus(), want)
			}
			if want == wire.RpcStatus_FATAL {
				p.gone()
			} else {
				p.send(hexMethod(8, "echo", &killReq{}))
				if h, _ := p.answer(); h.GetCallId() != 8 || h.GetStatus() != wire.RpcStatus_SUCCESS {
					t.Errorf("the connection does not go on: %v", h)
				}
			}
			if one.why != "" && s.Stats().Refused[one.why] != before+1 {
				t.Errorf("not counted as %s: %v", one.why, s.Stats().Refused)
			}
		})
	}
}

// These get no frame.
func TestRefusedWithoutAFrame(t *testing.T) {
	_, addr := startServer(t, Options{})
	p := connect(t, addr)
	if _, err := p.Write([]byte("GET / HTTP/1.1\r\nHost: here\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(p); !bytes.HasPrefix(b, []byte("HTTP/1.1 404 ")) {
		t.Errorf("answer %q", b)
	}
	for name, bytes := range map[string]string{
		"earlier version":  "68727063080000",
		"negative version": "68727063ff0000",
		"asks for the end": hexSimpleHeader + hexFrame(&wire.RpcRequestHeader{CallId: new(int32(-1)), ClientId: []byte{}, RpcOp: wire.RpcRequestHeader_RPC_CLOSE_CONNECTION.Enum()}),
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, addr)
			p.send(bytes)
			p.gone()
		})
	}
}

func TestTokenPortTakesNoSimple(t *testing.T) {
	s, addr := startServer(t, Options{Tokens: fixedTokens{}})
	p := connect(t, addr)
	p.send(hexSimpleHeader + hexSimpleContext + hexCall)
	h, _ := p.answer()
	if h.GetCallId() != 4294967295 || h.GetErrorDetail() != wire.RpcErrorCode_FATAL_UNAUTHORIZED || h.GetExceptionClassName() != ClassAccessControl ||
		h.GetErrorMsg() != "SIMPLE authentication is not enabled.  Available:[TOKEN]" {
		t.Errorf("answer %v", h)
	}
	p.gone()
	if s.Stats().Refused["auth"] != 1 {
		t.Error("not counted")
	}
}

// A panic outside of calls ends the connection too, and the log says where it happened.
func TestVerifierThatPanics(t *testing.T) {
	var log bytes.Buffer
	s, addr := startServer(t, Options{Tokens: panicky{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	_, err := Dial(context.Background(), addr, ClientOptions{Token: &Token{Identifier: []byte("id"), Password: []byte("pw")}})
	if err == nil || !strings.Contains(err.Error(), ClassYarn) {
		t.Errorf("dialling: %v", err)
	}
	if s.Stats().Panics != 1 {
		t.Error("not counted")
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"a mistake", "panicky", "refuse_test.go", addr[:len("127.0.0.1:")]} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("%q is not in the log: %s", part, &log)
		}
	}
}

type panicky struct{}

func (panicky) Verify([]byte) ([]byte, string, any, error) { panic("a mistake") }
