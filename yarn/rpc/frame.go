package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	lengthSize = 4        // of a frame's length, big-endian
	firstInput = 1 << 10  // initial size of a connection's input buffer
	keepInput  = 4 << 10  // size to which an empty input buffer is cut down
	freeInput  = 16 << 10 // size above which an input buffer counts against the memory for input
	readPiece  = 64 << 10 // maximum size of one read: nobody else has the processor while it copies
)

// errNoRoom says that the input buffers of one address, or all together, are at their limit.
var errNoRoom = errors.New("no memory left for input: unread data of connections takes up all memory reserved for it")

// A tooLongError says that a peer announced an empty frame, or one above the limit.
type tooLongError struct {
	length uint32
	limit  int
}

func (e *tooLongError) Error() string {
	return fmt.Sprintf("a frame of %d bytes was announced; want 1 to %d", e.length, e.limit)
}

// A splitter cuts its input into frames. Its buffer grows with the bytes that have arrived, never with the length that a
// peer announces.
type splitter struct {
	r     io.Reader
	buf   []byte // buf[start:end] has arrived and was not handed out
	start int
	end   int
	limit int // of a frame's length
	// wait is called before a read, and told whether part of what is needed has arrived; nil for none.
	wait func(begun bool) error
	// room is asked about every change of the buffer's size above freeInput; nil for no limit.
	room func(bytes int) bool
	// pass is called whenever readPiece bytes of a large frame have been read. May be nil.
	pass func()
	read int // bytes of a large frame, since then
	// unwanted is asked about a frame longer than one read, with its first read and its length, and reports whether to
	// skip it. Its error ends the reading. May be nil.
	unwanted func(begin []byte, bytes int) (bool, error)
}

// next returns the next frame without its length, or nil for one that was unwanted. It stays valid until the next call.
func (s *splitter) next() ([]byte, error) {
	head, err := s.peek(lengthSize)
	if err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head)
	if length == 0 || uint64(length) > uint64(s.limit) {
		return nil, &tooLongError{length, s.limit}
	}
	n := lengthSize + int(length)
	if s.unwanted != nil && n > readPiece {
		begin, err := s.peek(readPiece)
		if err != nil {
			return nil, err
		}
		unwanted, err := s.unwanted(begin[lengthSize:], int(length))
		if err != nil {
			return nil, err
		}
		if unwanted {
			return nil, s.skip(n)
		}
	}
	whole, err := s.peek(n)
	if err != nil {
		return nil, err
	}
	s.start += n
	return whole[lengthSize:], nil
}

// skip reads past the next n bytes and does not keep them.
func (s *splitter) skip(n int) error {
	for {
		have := min(n, s.end-s.start)
		s.start += have
		if n -= have; n == 0 {
			return nil
		}
		s.start, s.end = 0, 0
		if s.wait != nil {
			if err := s.wait(true); err != nil {
				return err
			}
		}
		got, err := s.r.Read(s.buf[:min(len(s.buf), readPiece)])
		if s.end = got; err != nil {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		s.large(got)
	}
}

// large records that more of a large frame was read.
func (s *splitter) large(got int) {
	if s.read += got; s.read >= readPiece && s.pass != nil {
		s.read = 0
		s.pass()
	}
}

// take returns the next n bytes, valid until the next call.
func (s *splitter) take(n int) ([]byte, error) {
	b, err := s.peek(n)
	if err != nil {
		return nil, err
	}
	s.start += n
	return b, nil
}

// peek returns the next n bytes without consuming them. If the peer stops before the first of them, the error is io.EOF,
// later io.ErrUnexpectedEOF.
func (s *splitter) peek(n int) ([]byte, error) {
	for s.end-s.start < n {
		begun := s.end > s.start
		if err := s.makeRoom(n); err != nil {
			return nil, err
		}
		if s.wait != nil {
			if err := s.wait(begun); err != nil {
				return nil, err
			}
		}
		got, err := s.r.Read(s.buf[s.end:min(len(s.buf), s.end+readPiece)])
		s.end += got
		if err != nil && s.end-s.start < n {
			if errors.Is(err, io.EOF) && s.end > s.start {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if n > readPiece {
			s.large(got)
		}
	}
	return s.buf[s.start : s.start+n], nil
}

// makeRoom makes space in the buffer for a read on the way to n bytes.
func (s *splitter) makeRoom(n int) error {
	if s.start == s.end {
		s.start, s.end = 0, 0
		if len(s.buf) > keepInput {
			s.resize(keepInput)
		}
	}
	switch {
	case s.buf == nil:
		s.buf = make([]byte, firstInput)
	case s.end == len(s.buf) && s.start > 0, s.start+n > len(s.buf) && n <= len(s.buf):
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end < len(s.buf) {
		return nil
	}
	// At most twice what has arrived: a peer pays a byte for a byte.
	size := 2 * len(s.buf)
	if size > 2*readPiece {
		size = min(size, n)
	}
	if !s.resize(size) {
		return errNoRoom
	}
	return nil
}

// resize moves the unread bytes to the beginning of a buffer of size bytes.
func (s *splitter) resize(size int) bool {
	if s.room != nil && !s.room(max(size-freeInput, 0)-max(len(s.buf)-freeInput, 0)) {
		return false
	}
	grown := takeInput(size)
	s.end = copy(grown, s.buf[s.start:s.end])
	s.start = 0
	giveInput(s.buf)
	s.buf = grown
	return true
}

// inputs are unused buffers of keepInput bytes, of twice that, and so on up to 2*readPiece. Without them, connections whose
// frames are larger than what they keep would leave several buffers to the garbage collector with each frame.
var inputs [6]sync.Pool

// inputsOf returns the pool of buffers of a size, or nil if those are not kept.
func inputsOf(size int) *sync.Pool {
	for i := range inputs {
		if size == keepInput<<i {
			return &inputs[i]
		}
	}
	return nil
}

// takeInput returns a buffer.
func takeInput(size int) []byte {
	if p := inputsOf(size); p != nil {
		if b, ok := p.Get().(*[]byte); ok {
			return *b
		}
	}
	return make([]byte, size)
}

// giveInput takes back a buffer that nobody uses any more.
func giveInput(b []byte) {
	if p := inputsOf(len(b)); p != nil {
		p.Put(&b)
	}
}

// release gives the buffer back.
func (s *splitter) release() {
	if s.room != nil && len(s.buf) > freeInput {
		s.room(freeInput - len(s.buf))
	}
	giveInput(s.buf)
	s.buf, s.start, s.end = nil, 0, 0
}

// delimited cuts a message off the front of b: a varint, and as many bytes as that says.
func delimited(b []byte) (message, rest []byte, err error) {
	message, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, nil, fmt.Errorf("a message's length does not fit the %d bytes that are left: %w", len(b), protowire.ParseError(n))
	}
	return message, b[n:], nil
}

// beginFrame appends space for the length of a frame; endFrame fills it in for the frame that begins at position at.
func beginFrame(b []byte) []byte { return append(b, 0, 0, 0, 0) }

func endFrame(b []byte, at int) {
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-lengthSize))
}
