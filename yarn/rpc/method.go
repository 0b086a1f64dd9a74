package rpc

import (
	"context"
	"net/netip"
	"reflect"
	"sync/atomic"

	"google.golang.org/protobuf/proto"
)

// A Call is what a handler is told of the call it answers.
type Call struct {
	Method   string
	User     string // the one to act for: what the client claims on a SIMPLE port, the token's on a TOKEN port
	RealUser string // who acts for User; "" where User itself does
	Addr     netip.AddrPort
	// ClientID, ID and Retry say which call this is: a client that sends one again sends the same id with the
	// next Retry. All connections of a client have one ClientID; it is zero where a client sent none.
	ClientID [idSize]byte
	ID       int32
	Retry    int32
	Context  string // what the client says it works for, at most 128 bytes; for logs alone
	Identity any    // what [Verifier.Verify] returned; nil on a SIMPLE port
}

// A Method is what [Serve] makes of a handler.
type Method struct {
	decode func([]byte) (proto.Message, error)
	invoke func(context.Context, *Call, proto.Message) (proto.Message, error)
}

// A Protocol is the methods of one of Hadoop's protocols by their names. Name is its full name with which
// clients call it, for example org.apache.hadoop.yarn.api.ApplicationClientProtocolPB.
type Protocol struct {
	Name    string
	Methods map[string]Method
}

// A Verifier knows the passwords of tokens.
type Verifier interface {
	// Verify returns the password of the token with that identifier, the user it stands for, and anything a
	// handler shall see as [Call.Identity]. Its error goes to the client: an [Error] with its class, any other
	// as SecretManager$InvalidToken. It is called from many goroutines.
	Verify(identifier []byte) (password []byte, user string, identity any, err error)
}

// A server's method with its counters.
type served struct {
	Method
	name          string
	calls, failed atomic.Uint64
}

// decoding reads what a peer sends.
var decoding = proto.UnmarshalOptions{RecursionLimit: maxDepth}

// Serve makes a method of handler f. Req and Resp are pointers to generated messages. F gets a request of its
// own for every call, which it may keep, and runs beside other calls of the same connection; its context ends
// with the connection. What it returns must not change until it was sent.
func Serve[Req, Resp proto.Message](f func(context.Context, *Call, Req) (Resp, error)) Method {
	message := reflect.TypeFor[Req]().Elem()
	return Method{
		decode: func(b []byte) (proto.Message, error) {
			req := reflect.New(message).Interface().(Req)
			return req, decoding.Unmarshal(b, req)
		},
		invoke: func(ctx context.Context, call *Call, req proto.Message) (proto.Message, error) {
			return f(ctx, call, req.(Req))
		},
	}
}
