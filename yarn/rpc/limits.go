package rpc

import "time"

// Limits bound what peers can cost a [Server]. A field that is 0 has the default named in its comment.
type Limits struct {
	FirstFrame int           // bytes of a frame before the connection is authenticated: DefaultFirstFrame
	Frame      int           // bytes of a frame after it: DefaultFrame
	Input      int           // bytes in the input buffers of all connections above 64 KiB each: DefaultInput
	Work       int           // bytes of the requests being answered in all; above it nothing is read: DefaultWork
	Output     int           // bytes of answers waiting on one connection; further calls of it wait: DefaultOutput
	Unsent     int           // bytes of answers that have not left in all; above it large ones end their connection: DefaultUnsent
	Conns      int           // connections in all: DefaultConns
	ConnsPer   int           // connections from one address: DefaultConnsPer
	Calls      int           // calls being answered in all; above it nothing is read: DefaultCalls
	CallsPer   int           // calls being answered on one connection: DefaultCallsPer
	Handshake  time.Duration // from accept to the connection context: DefaultHandshake
	FrameTime  time.Duration // from the first byte of a frame to its last: DefaultFrameTime
	Idle       time.Duration // without a frame and without a call being answered: DefaultIdle
	Write      time.Duration // for at most 256 KiB of answers to leave: DefaultWrite
}

// Defaults of [Limits].
const (
	DefaultFirstFrame = 64 << 10
	DefaultFrame      = 16 << 20
	DefaultInput      = 256 << 20
	DefaultWork       = 32 << 20
	DefaultOutput     = 1 << 20
	DefaultUnsent     = 256 << 20
	DefaultConns      = 10_000
	DefaultConnsPer   = 1_000
	DefaultCalls      = 4_096
	DefaultCallsPer   = 64
	DefaultHandshake  = 5 * time.Second
	DefaultFrameTime  = 30 * time.Second
	DefaultIdle       = 2 * time.Minute
	DefaultWrite      = 10 * time.Second
)

const (
	maxUser  = 256 // bytes of a user's name
	maxDepth = 64  // of messages inside each other in what a peer sends
)

// withDefaults fills in what is 0.
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
	number(&l.Input, DefaultInput)
	number(&l.Work, DefaultWork)
	number(&l.Output, DefaultOutput)
	number(&l.Unsent, DefaultUnsent)
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
