package serve

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/daemon"
	"heddle/daemon/clients"
	"heddle/node/api"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// The limits of RPC match the documentation.
func TestDocumentedLimits(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocols.md")
	must(t, err)
	page := regexp.MustCompile("([0-9]),([0-9]{3})").ReplaceAllString(strings.Join(strings.Fields(string(text)), " "), "$1$2")
	asks, works, nodes := limits(daemon.Config{})
	if works.CallsAt != nodes.CallsAt {
		t.Error("docs/protocols.md has one number of calls for masters and NodeManagers")
	}
	for _, want := range []string{
		fmt.Sprintf("On each port %d connections, on that of NodeManagers %d; %d from one address, %g s to say hello, %g s for a frame of at most %d MiB.",
			rpc.DefaultConns, nodes.Conns, rpc.DefaultConnsPer, rpc.DefaultHandshake.Seconds(), rpc.DefaultFrameTime.Seconds(), rpc.DefaultFrame>>20),
		fmt.Sprintf("nothing is said for %g minutes ends too", rpc.DefaultIdle.Minutes()),
		fmt.Sprintf("On each port %d calls are answered at once, of one connection %d, and %d where NodeManagers call. Of one address it is %d,",
			rpc.DefaultCalls, rpc.DefaultCallsPer, nodes.CallsPer, works.CallsAt),
		fmt.Sprintf("where clients and administrators call it is %d, and %d of one user there", asks.CallsAt, asks.CallsOf),
		fmt.Sprintf("waits for it for %g s", asks.Patience.Seconds()),
		fmt.Sprintf("takes nothing of its answer for %g s", rpc.DefaultWrite.Seconds()),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/protocols.md lacks %q", want)
		}
	}
}

// from connects from its own address, as another machine would.
func from(t *testing.T, addr, to string) net.Conn {
	d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(addr), 0))}
	c, err := d.DialContext(t.Context(), "tcp", to)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// stays reports whether a connection survives a number of others from its address.
func stays(t *testing.T, addr, to string, others int) bool {
	t.Helper()
	first := from(t, addr, to)
	must(t, answered(first))
	for range others {
		must(t, answered(from(t, addr, to)))
	}
	err := answered(first)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return err == nil
}

// answered makes a request on a connection. A connection without one would be closed after a few seconds.
func answered(c net.Conn) error {
	err := c.SetDeadline(time.Now().Add(30 * time.Second))
	if err == nil {
		_, err = io.WriteString(c, "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	if err != nil {
		return err
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r.Body)
	return errors.Join(err, r.Body.Close())
}

// One address may have as many agents as NodeManagers.
func TestAgentsOfOneAddress(t *testing.T) {
	f := newFixture(t, false)
	if !stays(t, "127.0.0.1", f.d.Agents.String(), 250) {
		t.Error("an agent's connection is ended")
	}
}

// The configuration says how many connections one address may have to the web port.
func TestReadersOfOneAddress(t *testing.T) {
	if stays(t, "127.0.0.2", newFixture(t, false).d.Web.String(), 250) {
		t.Error("one of 251 connections is not ended where nothing is said")
	}
	f := newFixture(t, false, func(c *daemon.Config) { c.WebConnsPer = 300 })
	if !stays(t, "127.0.0.2", f.d.Web.String(), 250) {
		t.Error("one of 251 connections is ended where there may be 300")
	}
}

// The configuration says how many connections one address may have to each RPC port, and how many calls of clients and
// administrators are answered at a time.
func TestCallersOfOneAddress(t *testing.T) {
	f := newFixture(t, false, func(c *daemon.Config) { c.ConnsPer = 5 })
	for _, to := range []netip.AddrPort{f.d.Client, f.d.Scheduler, f.d.Tracker, f.d.Admin} {
		first := from(t, "127.0.0.2", to.String())
		silent(t, first, 100*time.Millisecond)
		for range 5 {
			from(t, "127.0.0.2", to.String())
		}
		must(t, first.SetReadDeadline(time.Now().Add(2*time.Second))) // sooner than a silent connection is closed
		if _, err := first.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%v: one of six connections is not ended where there may be five", to)
		}
	}
	for _, want := range []struct{ said, at, of, conns int }{{0, 16, 8, 10_000}, {5, 5, 3, 10_000}, {1, 1, 1, 10_000}} {
		if asks, _, _ := limits(daemon.Config{CallsPer: want.said}); asks.CallsAt != want.at || asks.CallsOf != want.of || asks.Conns != want.conns {
			t.Errorf("%+v: %+v", want, asks)
		}
	}
	if asks, works, nodes := limits(daemon.Config{ConnsPer: 50_000}); asks.Conns != 100_000 || works.Conns != 100_000 || nodes.Conns != 100_000 {
		t.Errorf("50,000 connections of an address: %d, %d, %d in all", asks.Conns, works.Conns, nodes.Conns)
	}
}

// silent checks that a connection is open, and that nothing arrives on it for a while.
func silent(t *testing.T, c net.Conn, while time.Duration) {
	t.Helper()
	must(t, c.SetReadDeadline(time.Now().Add(while)))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
}

// Clients whose requests do not end leave room for what nodes send.
func TestInputOfClients(t *testing.T) {
	f := newFixture(t, false)
	const announced, sent = 15 << 20, 9 << 20 // the room for half of it is used up, and counted twice
	for _, addr := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"} {
		c := from(t, addr, f.d.Client.String())
		_, err := c.Write(append(hello(t, "ann", clients.ClientName), binary.BigEndian.AppendUint32(nil, announced)...))
		must(t, err)
		_, _ = c.Write(make([]byte, sent)) // part of it is cut off
	}
	tracker := f.dial(f.d.Tracker, f.d.RM.Tracker().Name, rpc.ClientOptions{User: "yarn"})
	q := registers(f.node)
	q.ProtoReflect().SetUnknown(append([]byte{0xfa, 0x7f, 0x80, 0x80, 0x80, 1}, make([]byte, 2<<20)...))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := tracker.Call(ctx, "registerNodeManager", q, &wire.RegisterNodeManagerResponse{}); err != nil {
		t.Error(err)
	}
}

// hello returns the beginning of a user's connection.
func hello(t *testing.T, user, protocol string) []byte {
	b := []byte("hrpc\x09\x00\x00\x00\x00\x00\x00")
	for _, m := range []proto.Message{
		&wire.RpcRequestHeader{RpcKind: wire.RpcKind_RPC_PROTOCOL_BUFFER.Enum(), RpcOp: wire.RpcRequestHeader_RPC_FINAL_PACKET.Enum(), CallId: proto.Int32(-3), ClientId: make([]byte, 16)},
		&wire.IpcConnectionContext{UserInfo: &wire.UserInformation{EffectiveUser: &user}, Protocol: &protocol},
	} {
		body, err := proto.Marshal(m)
		must(t, err)
		b = append(binary.AppendUvarint(b, uint64(len(body))), body...)
	}
	binary.BigEndian.PutUint32(b[7:], uint32(len(b)-11))
	return b
}

// What node agents say is charged to the memory for calls.
func TestAgentsShareMemory(t *testing.T) {
	f := newFixture(t, false)
	body := `{"node":"n1:1","agent":"a","containers":[` + strings.Repeat("{},", 1<<20) + `{}]}`
	resp, err := http.Post("http://"+f.d.Agents.String()+api.Path, "application/json", strings.NewReader(body))
	must(t, err)
	text, err := io.ReadAll(resp.Body)
	must(t, errors.Join(err, resp.Body.Close()))
	if resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), "memory.per_address") {
		t.Errorf("%d: %s; want that it would take too much memory", resp.StatusCode, text)
	}
}
