package rpc

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"heddle/yarn/wire"
)

// The headers of calls and answers are read and written by hand here: they are in every frame, and generated code
// allocates for each of their fields.

// idSize is the length of a client id.
const idSize = 16

// A requestHeader is the first message of every frame to a server.
type requestHeader struct {
	op      int32 // of wire.RpcRequestHeader_Operation; −1 if not set
	kind    int32 // of wire.RpcKind; −1 if not set
	call    int32
	retry   int32
	client  []byte // points into the frame
	context []byte // of the caller, for logs; points into the frame
}

// parseRequestHeader reads a wire.RpcRequestHeader. It ignores unknown fields.
func parseRequestHeader(b []byte) (requestHeader, error) {
	h := requestHeader{op: -1, kind: -1, retry: noRetry}
	var hasCall, hasClient bool
	err := fields(b, func(f field) error {
		switch f.key {
		case varint(1):
			h.kind = int32(f.number)
		case varint(2):
			h.op = int32(f.number)
		case varint(3):
			h.call, hasCall = int32(protowire.DecodeZigZag(f.number&0xffffffff)), true
		case bytesOf(4):
			h.client, hasClient = f.bytes, true
		case varint(5):
			h.retry = int32(protowire.DecodeZigZag(f.number & 0xffffffff))
		case bytesOf(7):
			return fields(f.bytes, func(f field) error {
				if f.key == bytesOf(1) {
					h.context = f.bytes
				}
				return nil
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return h, fmt.Errorf("RPC request header: %w", err)
	case !hasCall || !hasClient:
		return h, errors.New("RPC request header: callId and clientId must be set")
	}
	return h, nil
}

// appendRequestHeader appends a wire.RpcRequestHeader with its length.
func appendRequestHeader(b []byte, call, retry int32, client []byte) []byte {
	size := 4 + 1 + sizeZigZag(call) + 1 + protowire.SizeBytes(len(client)) + 1 + sizeZigZag(retry)
	b = protowire.AppendVarint(b, uint64(size))
	b = append(b, 0x08, byte(wire.RpcKind_RPC_PROTOCOL_BUFFER), 0x10, byte(wire.RpcRequestHeader_RPC_FINAL_PACKET))
	b = protowire.AppendVarint(append(b, 0x18), zigZag(call))
	b = protowire.AppendBytes(append(b, 0x22), client)
	return protowire.AppendVarint(append(b, 0x28), zigZag(retry))
}

// A methodHeader is the second message of a call: which method is called.
type methodHeader struct {
	method   []byte // points into the frame, as does protocol
	protocol []byte
	version  uint64
}

// parseMethodHeader reads a wire.RequestHeader.
func parseMethodHeader(b []byte) (methodHeader, error) {
	var h methodHeader
	var hasVersion bool
	err := fields(b, func(f field) error {
		switch f.key {
		case bytesOf(1):
			h.method = f.bytes
		case bytesOf(2):
			h.protocol = f.bytes
		case varint(3):
			h.version, hasVersion = f.number, true
		}
		return nil
	})
	switch {
	case err != nil:
		return h, fmt.Errorf("request header: %w", err)
	case h.method == nil || h.protocol == nil || !hasVersion:
		return h, errors.New("request header: methodName, declaringClassProtocolName and clientProtocolVersion must be set")
	}
	return h, nil
}

// appendMethodHeader appends a wire.RequestHeader with its length. The version of every protocol is 1.
func appendMethodHeader(b []byte, method, protocol string) []byte {
	size := 1 + protowire.SizeBytes(len(method)) + 1 + protowire.SizeBytes(len(protocol)) + 2
	b = protowire.AppendVarint(b, uint64(size))
	b = protowire.AppendString(append(b, 0x0a), method)
	b = protowire.AppendString(append(b, 0x12), protocol)
	return append(b, 0x18, protocolVersion)
}

// protocolVersion is the version of every Hadoop protocol of this form.
const protocolVersion = 1

// A responseHeader is the first message of every frame from a server.
type responseHeader struct {
	call   int32
	retry  int32
	status int32
	client []byte // points into the frame
	err    *Error // if status is not success
}

// parseResponseHeader reads a wire.RpcResponseHeader.
func parseResponseHeader(b []byte) (responseHeader, error) {
	h := responseHeader{retry: noRetry, status: -1}
	var hasCall bool
	var class, message []byte
	var code wire.RpcErrorCode
	err := fields(b, func(f field) error {
		switch f.key {
		case varint(1):
			h.call, hasCall = int32(uint32(f.number)), true
		case varint(2):
			h.status = int32(f.number)
		case bytesOf(4):
			class = f.bytes
		case bytesOf(5):
			message = f.bytes
		case varint(6):
			code = wire.RpcErrorCode(f.number)
		case bytesOf(7):
			h.client = f.bytes
		case varint(8):
			h.retry = int32(protowire.DecodeZigZag(f.number & 0xffffffff))
		}
		return nil
	})
	switch {
	case err != nil:
		return h, fmt.Errorf("RPC response header: %w", err)
	case !hasCall || h.status < 0 || h.status > int32(wire.RpcStatus_FATAL):
		return h, errors.New("RPC response header: callId must be set, and status to SUCCESS, ERROR or FATAL")
	}
	if h.status != int32(wire.RpcStatus_SUCCESS) {
		h.err = &Error{string(class), string(message), code}
	}
	return h, nil
}

// appendResponseHeader appends a wire.RpcResponseHeader with its length; failed is nil for a success. In an answer the
// call id is unsigned, in a request it is signed.
func appendResponseHeader(b []byte, call, retry int32, client []byte, failed *Error) []byte {
	id := uint64(uint32(call))
	size := 1 + protowire.SizeVarint(id) + 2 + 2 + 1 + protowire.SizeBytes(len(client)) + 1 + sizeZigZag(retry)
	status := wire.RpcStatus_SUCCESS
	if failed != nil {
		status = wire.RpcStatus_ERROR
		if failed.fatal() {
			status = wire.RpcStatus_FATAL
		}
		size += 1 + protowire.SizeBytes(len(failed.Class)) + 1 + protowire.SizeBytes(len(failed.Message)) +
			1 + protowire.SizeVarint(uint64(failed.code()))
	}
	b = protowire.AppendVarint(b, uint64(size))
	b = protowire.AppendVarint(append(b, 0x08), id)
	b = append(b, 0x10, byte(status), 0x18, Version)
	if failed != nil {
		b = protowire.AppendString(append(b, 0x22), failed.Class)
		b = protowire.AppendString(append(b, 0x2a), failed.Message)
		b = protowire.AppendVarint(append(b, 0x30), uint64(failed.code()))
	}
	b = protowire.AppendBytes(append(b, 0x3a), client)
	return protowire.AppendVarint(append(b, 0x40), zigZag(retry))
}

// zigZag encodes a sint32 for the wire.
func zigZag(v int32) uint64 { return uint64(uint32(v<<1) ^ uint32(v>>31)) }

func sizeZigZag(v int32) int { return protowire.SizeVarint(zigZag(v)) }

// A fieldKey is a field's number and wire type.
type fieldKey struct {
	num protowire.Number
	typ protowire.Type
}

func varint(n protowire.Number) fieldKey  { return fieldKey{n, protowire.VarintType} }
func bytesOf(n protowire.Number) fieldKey { return fieldKey{n, protowire.BytesType} }

// A field is one field of a message: number is set for a varint, bytes for a field with a length.
type field struct {
	key    fieldKey
	number uint64
	bytes  []byte
}

// fields calls f for each field of message b.
func fields(b []byte, f func(field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		one := field{key: fieldKey{num, typ}}
		switch typ {
		case protowire.VarintType:
			one.number, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			one.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("field %d: %w", num, protowire.ParseError(n))
		}
		if err := f(one); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
