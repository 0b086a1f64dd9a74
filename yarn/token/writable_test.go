package token

import (
	"encoding/hex"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestVintsAsJavaWritesThem(t *testing.T) {
	for v, want := range map[int32]string{
		0: "00", 127: "7f", 128: "8f80", 255: "8fff", 256: "8e0100", 65535: "8effff", math.MaxInt32: "8c7fffffff",
		-1: "ff", -112: "90", -113: "8770", math.MinInt32: "847fffffff",
	} {
		b := appendVint(nil, v)
		if got := hex.EncodeToString(b); got != want {
			t.Errorf("%d is written as %s, want %s", v, got, want)
		}
		if r := (&reader{rest: b}); r.vint() != v || r.err != nil || len(r.rest) > 0 {
			t.Errorf("%s does not read as %d: %v", want, v, r.err)
		}
	}
}

func TestVints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int32().Draw(t, "v")
		b := appendVint(nil, v)
		r := &reader{rest: append(b, 1, 2)}
		if got := r.vint(); got != v || r.err != nil || len(r.rest) != 2 {
			t.Errorf("%d is written as %x and reads as %d, %d bytes left: %v", v, b, got, len(r.rest), r.err)
		}
		short := &reader{rest: b[:len(b)-1]}
		if short.vint(); short.err == nil {
			t.Errorf("%x reads as a number", b[:len(b)-1])
		}
	})
}
