package rpc

import (
	"sync/atomic"
)

// A reason says why a connection or a call was refused.
type reason int

const (
	refusedConns reason = iota
	refusedAddress
	refusedHeader
	refusedVersion
	refusedAuth
	refusedSASL
	refusedDeadline
	refusedFrame
	refusedInput
	refusedOrder
	refusedContext
	refusedProtocol
	refusedMethod
	refusedMessage
	refusedMemory
	refusedOutput
	refusedPanic
	reasons
)

// reasonNames are the keys of [Stats.Refused].
var reasonNames = [reasons]string{
	"connections", "address", "header", "version", "auth", "sasl", "deadline", "frame", "input", "order",
	"context", "protocol", "method", "message", "memory", "output", "panic",
}

// String returns the reason's key in [Stats.Refused].
func (r reason) String() string { return reasonNames[r] }

// Stats are a server's counters at one moment.
type Stats struct {
	Conns    int    // open now
	Accepted uint64 // since the start, including refused ones
	Calls    int    // being answered now
	BytesIn  uint64
	BytesOut uint64
	Panics   uint64
	// Methods counts the calls of every served method, by protocol/method; Failed counts those that were answered with an
	// error.
	Methods map[string]uint64
	Failed  map[string]uint64
	// Refused counts connections that were closed and calls that were refused, by reason: connections and address (limits
	// on both), header, version, auth, sasl, deadline (too slow to authenticate or to send a frame), frame (its length),
	// input (no memory for it), order (a message out of turn), context, protocol, method, message (too large or
	// unreadable), memory (more than an address may have, or than is free in time), output (answers were not read),
	// panic.
	Refused map[string]uint64
}

// counters are the source of [Stats].
type counters struct {
	accepted, bytesIn, bytesOut, panics atomic.Uint64
	calls                               atomic.Int64
	refused                             [reasons]atomic.Uint64
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	conns := len(s.conns)
	s.mu.Unlock()
	st := Stats{
		Conns:    conns,
		Accepted: s.count.accepted.Load(),
		Calls:    int(s.count.calls.Load()),
		BytesIn:  s.count.bytesIn.Load(),
		BytesOut: s.count.bytesOut.Load(),
		Panics:   s.count.panics.Load(),
		Methods:  make(map[string]uint64),
		Failed:   make(map[string]uint64),
		Refused:  make(map[string]uint64, reasons),
	}
	for protocol, methods := range s.protocols {
		for name, m := range methods {
			st.Methods[protocol+"/"+name] = m.calls.Load()
			st.Failed[protocol+"/"+name] = m.failed.Load()
		}
	}
	for r := range s.count.refused {
		st.Refused[reason(r).String()] = s.count.refused[r].Load()
	}
	return st
}
