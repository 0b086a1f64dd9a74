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

// A Call is what a handler is told about the call that it answers.
type Call struct {
	Method   string
	User     string // the user to act for: what the client claims on a SIMPLE port, the token's on a TOKEN port
	RealUser string // who acts for User; "" if User itself does
	Addr     netip.AddrPort
	// ClientID, ID and Retry identify the call: a client that retries it sends the same id with the next Retry. All
	// connections of a client have one ClientID; it is zero if the client sent none.
	ClientID [idSize]byte
	ID       int32
	Retry    int32
	Context  string // what the client says it works for, at most 128 bytes; only for logs
	Identity any    // what [Verifier.Verify] returned; nil on a SIMPLE port
	// After is set by a handler to delay the answer by this much after it returns. Meanwhile the call holds only its
	// place among those of its connection.
	After time.Duration
}

// A Method is a handler as wrapped by [Serve].
type Method struct {
	decode       func([]byte) (proto.Message, error)
	invoke       func(context.Context, *Call, proto.Message) (proto.Message, error)
	takes, gives protoreflect.MessageDescriptor
	bytes        int // maximum in a request
	elements     int // maximum in its lists
	long         bool
	inTurn       bool
}

// Limits of a request unless its method sets others.
const (
	defaultBytes    = 1 << 20
	defaultElements = 20_000
)

// Within returns the method with requests limited to this many bytes, and to this many elements in their lists; 0 leaves
// a limit as it is.
func (m Method) Within(bytes, elements int) Method {
	m.bytes, m.elements = cmp.Or(bytes, m.bytes), cmp.Or(elements, m.elements)
	return m
}

// Long returns the method marked as one with long answers, such as lists: only a limited number is made at once.
func (m Method) Long() Method {
	m.long = true
	return m
}

// InTurn returns the method marked as one whose calls are read and written in turn, if the server has [Turns].
func (m Method) InTurn() Method {
	m.inTurn = true
	return m
}

// A Protocol is the methods of one of Hadoop's protocols by name. Name is its full name as clients call it, for example
// org.apache.hadoop.yarn.api.ApplicationClientProtocolPB.
type Protocol struct {
	Name    string
	Methods map[string]Method
}

// A Verifier knows the passwords of tokens.
type Verifier interface {
	// Verify returns the password of the token with that identifier, the user it stands for, and a value for
	// [Call.Identity]. Its error goes to the client: an [Error] with its class, any other as SecretManager$InvalidToken.
	// It must be safe for concurrent use.
	Verify(identifier []byte) (password []byte, user string, identity any, err error)
}

// served is a server's method with its counters.
type served struct {
	Method
	name          string
	request       *shape
	worst         int64                              // bytes that a byte of a request can become
	answers       map[protoreflect.FieldNumber]int64 // bytes of an element of each list of an answer
	expected      budget.Expectation                 // bytes of memory that an answer takes
	calls, failed atomic.Uint64
}

// decoding decodes messages from a peer.
var decoding = proto.UnmarshalOptions{RecursionLimit: maxDepth}

// Serve makes a method of handler f. Req and Resp are pointers to generated messages. Each call of f gets its own
// request, which f may keep, and runs concurrently with other calls of the same connection; its context ends with the
// connection. What f returns must not change until it has been sent.
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
