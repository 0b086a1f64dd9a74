package clients

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// serveOn serves protocols on a free port until the test ends.
func serveOn(t *testing.T, o rpc.Options) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := rpc.NewServer(o)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(s.Close(ctx), <-ended); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// send connects with an authentication of the connection header, 0 for none and 0xdf for SASL, and sends frames.
func send(t *testing.T, addr string, auth byte, frames ...[]byte) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Write(slices.Concat([]byte{'h', 'r', 'p', 'c', 9, 0, auth}, slices.Concat(frames...))); err != nil {
		t.Fatal(err)
	}
	return c
}

// frame returns the frame of a call: a header and what follows it.
func frame(t *testing.T, call int32, messages ...proto.Message) []byte {
	t.Helper()
	var b bytes.Buffer
	head := &wire.RpcRequestHeader{
		RpcKind: wire.RpcKind_RPC_PROTOCOL_BUFFER.Enum(), RpcOp: wire.RpcRequestHeader_RPC_FINAL_PACKET.Enum(), CallId: &call, ClientId: make([]byte, 16),
	}
	for _, m := range append([]proto.Message{head}, messages...) {
		if _, err := protodelim.MarshalTo(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(b.Len())), b.Bytes()...)
}

// calls returns the header of a call of a method.
func calls(protocol, method string) *wire.RequestHeader {
	return &wire.RequestHeader{MethodName: &method, DeclaringClassProtocolName: &protocol, ClientProtocolVersion: new(uint64(1))}
}
