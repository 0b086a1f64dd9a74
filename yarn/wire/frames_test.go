package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/yarn/wire"
)

// Call numbers that are not calls.
const (
	saslCall    = -33
	contextCall = -3
)

// A recording says which side wrote each flush of a file in testdata.
type recording struct {
	file, sides string
	method      string // what is answered, if the file begins with an answer
}

var recordings = []recording{
	{"register-node", ">><", ""},
	{"first-heartbeat", "><", ""},
	{"out-of-band-heartbeat", "><", ""},
	{"cleanup-heartbeat", "<", "nodeHeartbeat"},
	{"unregister-node", "><", ""},
	{"master-register", "><><><", ""},
	{"allocate", "><><", ""},
	{"finish", "><<", ""},
	{"start-containers", "<><><", ""},
	{"submit", "><", ""},
}

// Every recorded message has only defined fields, and is written again with the same bytes.
func TestRecordedFrames(t *testing.T) {
	for _, r := range recordings {
		t.Run(r.file, func(t *testing.T) {
			flushes := flushes(t, r.file)
			if len(flushes) != len(r.sides) {
				t.Fatalf("%d flushes, want %d", len(flushes), len(r.sides))
			}
			method := r.method
			for i, flush := range flushes {
				flush = bytes.TrimPrefix(flush, []byte("hrpc\x09\x00\x00"))
				flush = bytes.TrimPrefix(flush, []byte("hrpc\x09\x00\xdf"))
				for len(flush) > 0 {
					var messages []proto.Message
					n := 4 + int(binary.BigEndian.Uint32(flush))
					messages, method = decode(t, r.sides[i], flush[4:n], method)
					for _, m := range messages {
						if f := unknown(m.ProtoReflect()); f != "" {
							t.Errorf("flush %d: %s has unknown fields", i, f)
						}
					}
					if got := encode(t, messages); !bytes.Equal(got, flush[:n]) {
						t.Errorf("flush %d: is written as\n%x, was\n%x", i, got, flush[:n])
					}
					flush = flush[n:]
				}
			}
		})
	}
}

// flushes reads a file of testdata.
func flushes(t *testing.T, file string) [][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file + ".hex")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for part := range strings.SplitSeq(string(text), "\n\n") {
		b, err := hex.DecodeString(strings.Join(strings.Fields(part), ""))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, b)
	}
	return all
}

// decode reads the messages of a frame written by one side. It returns the method that is called, or that was called.
func decode(t *testing.T, side byte, frame []byte, method string) ([]proto.Message, string) {
	t.Helper()
	next := func(m proto.Message) {
		b, n := protowire.ConsumeBytes(frame)
		if n < 0 {
			t.Fatalf("%T: %v", m, protowire.ParseError(n))
		}
		if err := proto.Unmarshal(b, m); err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		frame = frame[n:]
	}
	var messages []proto.Message
	if side == '>' {
		header := &wire.RpcRequestHeader{}
		next(header)
		messages = append(messages, header)
		switch header.GetCallId() {
		case saslCall:
			messages = append(messages, &wire.RpcSasl{})
		case contextCall:
			messages = append(messages, &wire.IpcConnectionContext{})
		default:
			call := &wire.RequestHeader{}
			next(call)
			method = call.GetMethodName()
			messages = append(messages, call, message(t, method, 0))
		}
	} else {
		header := &wire.RpcResponseHeader{}
		next(header)
		messages = append(messages, header)
		if int32(header.GetCallId()) == saslCall {
			messages = append(messages, &wire.RpcSasl{})
		} else {
			messages = append(messages, message(t, method, 1))
		}
	}
	next(messages[len(messages)-1])
	if len(frame) > 0 {
		t.Errorf("%d bytes are left over", len(frame))
	}
	return messages, method
}

// message returns an empty message of a method: 0 is the request, 1 the response.
func message(t *testing.T, method string, i int) proto.Message {
	t.Helper()
	m, ok := methods[method]
	if !ok {
		t.Fatalf("method %q is not in the table", method)
	}
	return m[i].ProtoReflect().New().Interface()
}

// encode writes a frame.
func encode(t *testing.T, messages []proto.Message) []byte {
	t.Helper()
	frame := make([]byte, 4)
	for _, m := range messages {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		frame = protowire.AppendBytes(frame, b)
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// unknown names a message in m, or m, that has fields outside its definition; "" if there is none.
func unknown(m protoreflect.Message) string {
	if len(m.GetUnknown()) > 0 {
		return string(m.Descriptor().FullName())
	}
	found := ""
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := 0; i < v.List().Len() && found == ""; i++ {
				found = unknown(v.List().Get(i).Message())
			}
		default:
			found = unknown(v.Message())
		}
		return found == ""
	})
	return found
}
