package token

import (
	"errors"
	"fmt"
	"math"
)

// A reader reads what Hadoop's Writable classes write. After the first error it reads nothing more and returns zero
// values.
type reader struct {
	rest []byte
	err  error
}

var errShort = errors.New("the bytes end too early")

// vint reads a variable-length number: one byte for -112 to 127; otherwise the first byte gives the sign and the number
// of bytes that follow, highest first; a negative number is stored as its complement.
func (r *reader) vint() int32 {
	b := r.take(1)
	if r.err != nil {
		return 0
	}
	first := int(int8(b[0]))
	if first >= -112 {
		return int32(first)
	}
	n, negative := -112-first, false
	if n > 8 {
		n, negative = n-8, true
	}
	var v uint64
	for _, c := range r.take(n) {
		v = v<<8 | uint64(c)
	}
	if r.err == nil && v > math.MaxInt32 {
		r.err = errors.New("a number does not fit in 32 bits")
	}
	if r.err != nil {
		return 0
	}
	if negative {
		return ^int32(v)
	}
	return int32(v)
}

// take returns the next n bytes, not copied.
func (r *reader) take(n int) []byte {
	if r.err == nil && n > len(r.rest) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// bytes reads bytes after their count. They are never nil, because the fields that hold them are required.
func (r *reader) bytes() []byte {
	n := r.vint()
	if n < 0 {
		r.err = fmt.Errorf("a length of %d", n)
	}
	return append([]byte{}, r.take(int(n))...)
}

// text reads a text after its length in bytes.
func (r *reader) text() string { return string(r.bytes()) }

// appendVint appends v in the format of [reader.vint].
func appendVint(b []byte, v int32) []byte {
	if v >= -112 && v <= 127 {
		return append(b, byte(v))
	}
	first, u := byte(0x90), uint32(v) // -112
	if v < 0 {
		first, u = 0x88, uint32(^v) // -120
	}
	n := 4
	for n > 1 && u>>(8*(n-1)) == 0 {
		n--
	}
	b = append(b, first-byte(n))
	for ; n > 0; n-- {
		b = append(b, byte(u>>(8*(n-1))))
	}
	return b
}

// appendBytes appends v after its length.
func appendBytes[T ~string | ~[]byte](b []byte, v T) []byte {
	return append(appendVint(b, int32(len(v))), v...)
}
