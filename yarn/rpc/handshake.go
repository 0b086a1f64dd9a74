package rpc

import (
	"time"
	"unicode/utf8"

	"heddle/yarn/wire"
)

// notHTTP is sent to a browser or a monitor that mistakes this for an HTTP port.
const notHTTP = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" +
	"This port speaks Hadoop RPC. The web pages have a port of their own.\r\n"

// greet reads the connection header.
func (c *conn) greet() error {
	head, err := c.in.take(headerSize)
	if err != nil {
		return err
	}
	c.s.count.bytesIn.Add(headerSize)
	refuse := func(why reason, code wire.RpcErrorCode, class, format string, args ...any) error {
		return &refusal{why, nobody, errorf(code, class, format, args...), ""}
	}
	version := head[4]
	switch {
	case string(head[:4]) == "GET ":
		return &refusal{refusedHeader, nobody, nil, notHTTP}
	case string(head[:4]) != magic || version != Version:
		// Before version 9 answers had another format: such a client could not read this one.
		if int8(version) < Version {
			return &refusal{why: refusedVersion, to: nobody}
		}
		return refuse(refusedVersion, wire.RpcErrorCode_FATAL_VERSION_MISMATCH, ClassVersion,
			"Server IPC version %d cannot communicate with client version %d", Version, int8(version))
	}
	switch auth := head[6]; {
	case auth == authSASL:
		c.sasl = newSASLServer(c.s.tokens)
		return nil
	case auth == authNone && c.s.tokens == nil:
		return nil
	case auth == authNone:
		return refuse(refusedAuth, wire.RpcErrorCode_FATAL_UNAUTHORIZED, ClassAccessControl,
			"SIMPLE authentication is not enabled.  Available:[TOKEN]")
	default:
		return refuse(refusedAuth, wire.RpcErrorCode_FATAL_UNAUTHORIZED, ClassIPC,
			"authentication 0x%02x of the connection header is unknown; want 0x00 (SIMPLE) or 0xdf (SASL)", auth)
	}
}

// head reads the header of a frame, and returns what follows it.
func (c *conn) head(b []byte) (h requestHeader, to echo, rest []byte, err error) {
	head, rest, err := delimited(b)
	if err == nil {
		h, err = parseRequestHeader(head)
	}
	if err != nil {
		return h, nobody, nil, c.unreadable(nobody, err)
	}
	to = echo{call: h.call, retry: h.retry}
	switch len(h.client) {
	case 0:
		to.anonymous = true
	case idSize:
		copy(to.client[:], h.client)
	default:
		return h, nobody, nil, c.disorder(nobody, "clientId has %d bytes, must have %d or none", len(h.client), idSize)
	}
	return h, to, rest, nil
}

// handle acts on a frame. An error ends the connection.
func (c *conn) handle(b []byte) error {
	h, to, rest, err := c.head(b)
	if err != nil {
		return err
	}
	switch {
	case h.op == int32(wire.RpcRequestHeader_RPC_CLOSE_CONNECTION):
		return errBye
	case h.op != int32(wire.RpcRequestHeader_RPC_FINAL_PACKET):
		return c.disorder(to, "rpcOp %d of the RPC request header is not implemented; want 0", h.op)
	case h.call >= 0 && h.kind != int32(wire.RpcKind_RPC_PROTOCOL_BUFFER):
		return c.disorder(to, "rpcKind %d of the RPC request header is not implemented; want 2", h.kind)
	case h.call >= 0 && !c.open:
		return c.disorder(to, "a call came before the connection context")
	case h.call >= 0:
		return c.called(h, to, rest)
	case h.call == callPing:
		return nil
	case h.call == callContext:
		return c.introduced(to, rest)
	case h.call == callSASL:
		return c.negotiate(to, rest)
	default:
		return c.disorder(to, "no call has the id %d", h.call)
	}
}

// introduced reads the connection context: after it there may be calls.
func (c *conn) introduced(to echo, b []byte) error {
	switch {
	case c.open:
		return c.disorder(to, "the connection context was already sent")
	case c.sasl != nil && !c.sasl.done:
		return c.disorder(to, "the connection context came before SASL was done")
	}
	body, _, err := delimited(b)
	if err != nil {
		return c.unreadable(to, err)
	}
	var context wire.IpcConnectionContext
	if err := decoding.Unmarshal(body, &context); err != nil {
		return c.unreadable(to, err)
	}
	user, realUser := context.GetUserInfo().GetEffectiveUser(), context.GetUserInfo().GetRealUser()
	refuse := func(format string, args ...any) error {
		return &refusal{refusedContext, to, errorf(wire.RpcErrorCode_FATAL_UNAUTHORIZED, ClassAccessControl, format, args...), ""}
	}
	for _, name := range [...]string{user, realUser} {
		if len(name) > maxUser || !utf8.ValidString(name) {
			return refuse("the connection context has a user name that is longer than %d bytes or not UTF-8", maxUser)
		}
	}
	switch {
	case c.sasl != nil && c.sasl.verifier != nil:
		// The token names the user; a client may repeat it.
		if user != "" && user != c.sasl.user || realUser != "" {
			return refuse("Authenticated user (%s) doesn't match what the client claims to be (%s)", c.sasl.user, user)
		}
		c.user, c.identity = c.sasl.user, c.sasl.identity
	case user == "":
		return refuse("the connection context names no effectiveUser")
	default:
		c.user, c.realUser = user, realUser
	}
	c.s.introduce(c)
	c.open, c.armed = true, time.Time{}
	c.in.limit = c.s.limits.Frame
	c.out.write = c.s.limits.Write
	return nil
}

// unreadable refuses what cannot be decoded, disorder what came out of order.
func (c *conn) unreadable(to echo, err error) error {
	return &refusal{refusedMessage, to, errorf(wire.RpcErrorCode_FATAL_DESERIALIZING_REQUEST, ClassServer, "%v", err), ""}
}

func (c *conn) disorder(to echo, format string, args ...any) error {
	return &refusal{refusedOrder, to, errorf(wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, format, args...), ""}
}
