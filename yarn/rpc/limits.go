package rpc

import "time"

// Limits bound what peers can cost a [Server]. A field that is 0 has the default named in its comment.
type Limits struct {
	FirstFrame int           // bytes of a frame before the connection is authenticated: DefaultFirstFrame
	Frame      int           // bytes of a frame after it: DefaultFrame
	Output     int           // bytes of answers waiting on one connection; further calls on it wait: DefaultOutput
	Conns      int           // connections in all: DefaultConns
	ConnsPer   int           // connections from one address; a new one closes the one that has been idle longest: DefaultConnsPer
	Calls      int           // calls being answered in all; at the limit nothing is read: DefaultCalls
	CallsPer   int           // calls being answered on one connection: DefaultCallsPer
	CallsOf    int           // calls being answered for one user at one address, on all connections; 0 for no such limit
	CallsAt    int           // calls being answered for one address, on all connections; 0 for no such limit
	Handshake  time.Duration // from accept to the connection context: DefaultHandshake
	FrameTime  time.Duration // from the first byte of a frame to its last: DefaultFrameTime
	Idle       time.Duration // without a frame and without a call being answered: DefaultIdle
	Write      time.Duration // for at most 256 KiB of answers to leave: DefaultWrite
	Patience   time.Duration // maximum wait for memory that a call needs; 0 for no limit
	Pause      time.Duration // between the 64 KiB reads of a large frame; 0 for none
}

// Defaults of [Limits].
const (
	DefaultFirstFrame = 64 << 10
	DefaultFrame      = 16 << 20
	DefaultOutput     = 1 << 20
	DefaultConns      = 10_000
	DefaultConnsPer   = 1_000
	DefaultCalls      = 4_096
	DefaultCallsPer   = 64
	DefaultHandshake  = 5 * time.Second
	DefaultFrameTime  = 30 * time.Second
	DefaultIdle       = 2 * time.Minute
	DefaultWrite      = 10 * time.Second
)

// Memory for input and for calls, in bytes, if no budgets are given.
const (
	DefaultInput  = 64 << 20
	DefaultMemory = 128 << 20
)

const (
	maxUser  = 256 // bytes in a user's name
	maxDepth = 64  // nesting depth of messages from a peer
)

// withDefaults fills in fields that are 0.
func (l Limits) withDefaults() Limits {
	number := func(v *int, preset int) {
		if *v <= 0 {
			*v = preset
		}
	}
	span := func(v *time.Duration, preset time.Duration) {
		if *v <= 0 {
			*v = preset
		}
	}
	number(&l.FirstFrame, DefaultFirstFrame)
	number(&l.Frame, DefaultFrame)
	number(&l.Output, DefaultOutput)
	number(&l.Conns, DefaultConns)
	number(&l.ConnsPer, DefaultConnsPer)
	number(&l.Calls, DefaultCalls)
	number(&l.CallsPer, DefaultCallsPer)
	span(&l.Handshake, DefaultHandshake)
	span(&l.FrameTime, DefaultFrameTime)
	span(&l.Idle, DefaultIdle)
	span(&l.Write, DefaultWrite)
	return l
}
