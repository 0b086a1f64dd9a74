package rpc

import (
	"cmp"
	"context"
	"net/netip"
	"reflect"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/internal/budget"
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
	// After is set by a handler that wants the answer to leave so long after it returns. Meanwhile the call holds nothing but its place
	// among those of its connection.
	After time.Duration
}

// A Method is what [Serve] makes of a handler.
type Method struct {
	decode       func([]byte) (proto.Message, error)
	invoke       func(context.Context, *Call, proto.Message) (proto.Message, error)
	takes, gives protoreflect.MessageDescriptor
	bytes        int // of a request at most
	elements     int // of the lists in it at most
	long         bool
	inTurn       bool
}

// How much a request may be where its method says nothing else.
const (
	defaultBytes    = 1 << 20
	defaultElements = 20_000
)

// Within returns the method with requests of at most so many bytes, and so many elements of the lists in them; 0 leaves the
// limit as it is.
func (m Method) Within(bytes, elements int) Method {
	m.bytes, m.elements = cmp.Or(bytes, m.bytes), cmp.Or(elements, m.elements)
	return m
}

// Long returns the method as one whose answers may be long, because they list: only so many are put together at once.
func (m Method) Long() Method {
	m.long = true
	return m
}

// InTurn returns the method as one whose calls are read and written in turn, where the server has [Turns].
func (m Method) InTurn() Method {
	m.inTurn = true
	return m
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
	request       *shape
	worst         int64                              // bytes that a byte of a request becomes
	answers       map[protoreflect.FieldNumber]int64 // bytes of an element of each list of an answer
	expected      budget.Expectation                 // bytes that an answer takes up
	calls, failed atomic.Uint64
}

// decoding reads what a peer sends.
var decoding = proto.UnmarshalOptions{RecursionLimit: maxDepth}

// Serve makes a method of handler f. Req and Resp are pointers to generated messages. F gets a request of its
// own for every call, which it may keep, and runs beside other calls of the same connection; its context ends
// with the connection. What it returns must not change until it was sent.
func Serve[Req, Resp proto.Message](f func(context.Context, *Call, Req) (Resp, error)) Method {
	message := reflect.TypeFor[Req]().Elem()
	var req Req
	var resp Resp
	return Method{
		takes: req.ProtoReflect().Descriptor(), gives: resp.ProtoReflect().Descriptor(), bytes: defaultBytes, elements: defaultElements,
		decode: func(b []byte) (proto.Message, error) {
			req := reflect.New(message).Interface().(Req)
			return req, decoding.Unmarshal(b, req)
		},
		invoke: func(ctx context.Context, call *Call, req proto.Message) (proto.Message, error) {
			return f(ctx, call, req.(Req))
		},
	}
}
