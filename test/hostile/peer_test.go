package hostile_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

const (
	clientProtocol  = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"
	masterProtocol  = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB"
	trackerProtocol = "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"
)

// dialled counts connections.
var dialled atomic.Int64

// dial connects from a given address, as another machine would.
func dial(ctx context.Context, from, to string) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0))}
	c, err := d.DialContext(ctx, "tcp", to)
	if err == nil {
		dialled.Add(1)
	}
	return c, err
}

// until closes a connection when ctx ends, so that pending reads and writes return.
func until(ctx context.Context, c net.Conn) {
	context.AfterFunc(ctx, func() { _ = c.Close() })
}

// hello returns the beginning of a user's connection.
func hello(user, protocol string) []byte {
	return append([]byte("hrpc\x09\x00\x00"), frame(-3, &wire.IpcConnectionContext{UserInfo: &wire.UserInformation{EffectiveUser: &user}, Protocol: &protocol})...)
}

// call returns a frame that calls a method.
func call(id int32, protocol, method string, q proto.Message) []byte {
	return frame(id, &wire.RequestHeader{MethodName: &method, DeclaringClassProtocolName: &protocol, ClientProtocolVersion: proto.Uint64(1)}, q)
}

// frame returns a frame of messages.
func frame(id int32, messages ...proto.Message) []byte {
	head := &wire.RpcRequestHeader{
		RpcKind: wire.RpcKind_RPC_PROTOCOL_BUFFER.Enum(), RpcOp: wire.RpcRequestHeader_RPC_FINAL_PACKET.Enum(), CallId: &id, ClientId: make([]byte, 16),
	}
	b := []byte{0, 0, 0, 0}
	for _, m := range append([]proto.Message{head}, messages...) {
		body, err := proto.Marshal(m)
		if err != nil {
			panic(err) // the caller left out a required field
		}
		b = append(binary.AppendUvarint(b, uint64(len(body))), body...)
	}
	return padded(b, 0)
}

// padded returns a frame with so many more bytes, which mean nothing.
func padded(b []byte, bytes int) []byte {
	b = append(b, make([]byte, bytes)...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// answer reads the header of an answer and skips the rest of it.
func answer(r *bufio.Reader) (*wire.RpcResponseHeader, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	left := &io.LimitedReader{R: r, N: int64(binary.BigEndian.Uint32(length[:]))}
	in := bufio.NewReader(left)
	h := &wire.RpcResponseHeader{}
	if err := protodelim.UnmarshalFrom(in, h); err != nil {
		return nil, err
	}
	_, err := io.Copy(io.Discard, in)
	return h, err
}

// tally counts the results of hostile calls, and the connections that were made.
type tally struct{ Answered, Refused, Cut, Made int }

// read reads that many answers.
func (n *tally) read(r *bufio.Reader, answers int) {
	for range answers {
		switch h, err := answer(r); {
		case err != nil:
			n.Cut++
			return
		case h.GetStatus() == wire.RpcStatus_SUCCESS:
			n.Answered++
		default:
			n.Refused++
		}
	}
}

func (n *tally) add(o tally) {
	n.Answered += o.Answered
	n.Refused += o.Refused
	n.Cut += o.Cut
}

func (n tally) String() string {
	return fmt.Sprintf("%d connections, %d answered, %d refused, %d cut", n.Made, n.Answered, n.Refused, n.Cut)
}

// over reports whether an error is due to the end of an attack or of its connection.
func over(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, net.ErrClosed)
}

func clientOptions(user string) rpc.ClientOptions {
	return rpc.ClientOptions{Protocol: clientProtocol, User: user}
}
