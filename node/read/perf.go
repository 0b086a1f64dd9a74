package read

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// A Heap is what a Java process reports about its heap in the file that jstat reads too. Sizes are in bytes. They lag:
// with G1 by up to what was allocated since the last collection, with other collectors by moments. G1 also counts a few
// bytes too many.
type Heap struct {
	Used      int64
	Committed int64 // what the process has from the system for it, used or not
	Max       int64 // its maximum size: -Xmx
	// Live is what has been in use for longer, or was at some time: what the last full collection left if the parallel
	// collector says so, otherwise everything in the oldest generation. For a collector without generations it is Used.
	Live int64
	// Young, Full and Concurrent are jstat's YGC, FGC and CGC. Each collector counts in its own way: Shenandoah's cycles
	// are full ones.
	Young, Full, Concurrent Collections
}

// Collections are those of one kind since the process started.
type Collections struct {
	Count int64
	Time  time.Duration // in which the process did nothing else
}

// The format of hsperfdata, version 2, as defined by the JDK's perfMemory.hpp and perfData.hpp: a head, then entries with
// a head, a name and a value each. After the magic comes the byte order of everything else.
const (
	perfMagic   = 0xcafec0c0
	perfMajor   = 2
	perfHead    = 32
	entryHead   = 20
	maxPerf     = 1 << 20 // bytes; a JDK makes 32 KiB unless -XX:PerfDataMemorySize says otherwise
	maxSize     = 1 << 49 // bytes in a part of a heap: two of them, in MiB, are less than 1<<31
	generations = 2       // young and old; without generations the whole heap is the old one
	collectors  = 3
)

// ParsePerf reads an hsperfdata file.
func ParsePerf(data []byte) (Heap, error) {
	var p perf
	err := entries(data, p.take)
	if err != nil {
		return Heap{}, fmt.Errorf("hsperfdata: %w", err)
	}
	h, err := p.heap()
	if err != nil {
		return Heap{}, fmt.Errorf("hsperfdata: %w", err)
	}
	return h, nil
}

// entries visits the entries of a file that are one number or a text. The arguments of visit are not copied.
func entries(data []byte, visit func(name []byte, number int64, text []byte)) error {
	if len(data) < perfHead || binary.BigEndian.Uint32(data) != perfMagic {
		return fmt.Errorf("the file does not begin with %#x and a header of %d bytes", uint32(perfMagic), perfHead)
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[4] == 1 {
		order = binary.LittleEndian
	}
	if data[5] != perfMajor {
		return fmt.Errorf("the file has version %d; want %d", data[5], perfMajor)
	}
	if data[7] == 0 {
		return errors.New("the process has not filled the file yet")
	}
	at, n := int64(order.Uint32(data[24:])), order.Uint32(data[28:])
	for i := range n {
		if at < perfHead || at+entryHead > int64(len(data)) {
			return fmt.Errorf("entry %d of %d begins at byte %d of %d", i, n, at, len(data))
		}
		rest := data[at:]
		size := int64(order.Uint32(rest))
		if size < entryHead || size > int64(len(rest)) {
			return fmt.Errorf("entry %d of %d has %d bytes; want %d to the %d that are left", i, n, size, entryHead, len(rest))
		}
		e := rest[:size]
		name, length, value := int64(order.Uint32(e[4:])), int64(order.Uint32(e[8:])), int64(order.Uint32(e[16:]))
		if name > size || value > size {
			return fmt.Errorf("entry %d of %d has its name at byte %d, its value at byte %d, and %d bytes", i, n, name, value, size)
		}
		switch kind := e[12]; {
		case kind == 'J' && length == 0 && value+8 <= size:
			visit(ended(e[name:]), int64(order.Uint64(e[value:])), nil)
		case kind == 'B' && value+length <= size:
			visit(ended(e[name:]), 0, ended(e[value:value+length]))
		}
		at += size
	}
	return nil
}

// ended returns what precedes the first zero byte.
func ended(b []byte) []byte {
	before, _, _ := bytes.Cut(b, []byte{0})
	return before
}

// perf is what is extracted from a file.
type perf struct {
	used, committed, max [generations]int64
	count, ticks         [collectors]int64
	frequency            int64 // ticks in a second
	live                 int64 // after the last full collection
	apart                bool  // each generation has its own maximum
	said                 bool  // there was an entry about a generation
	err                  error
}

var (
	ofGeneration = []byte("sun.gc.generation.")
	ofCollector  = []byte("sun.gc.collector.")
	ofSpace      = []byte("space.")
)

// take processes one entry.
func (p *perf) take(name []byte, number int64, text []byte) {
	if rest, ok := bytes.CutPrefix(name, ofGeneration); ok {
		if g, of, ok := numbered(rest, generations); ok {
			p.generation(g, of, name, number)
		}
		return
	}
	if rest, ok := bytes.CutPrefix(name, ofCollector); ok {
		if c, of, ok := numbered(rest, collectors); ok {
			switch string(of) {
			case "invocations":
				p.count[c] = max(number, 0)
			case "time":
				p.ticks[c] = max(number, 0)
			}
		}
		return
	}
	switch string(name) {
	case "sun.os.hrt.frequency":
		p.frequency = number
	case "sun.gc.policy.liveAtLastFullGc":
		p.live = p.size(name, number)
	case "sun.gc.policy.name":
		switch string(text) {
		case "Copy:MSC", "ParScav:MSC", "ParNew:CMS":
			p.apart = true // other collectors move the border: each generation may grow to the whole heap
		}
	}
}

// generation processes an entry of a generation, or of one of its spaces. Capacities of spaces are not used: with
// Shenandoah they say what is reserved.
func (p *perf) generation(g int, of, name []byte, number int64) {
	if rest, ok := bytes.CutPrefix(of, ofSpace); ok {
		if _, kind, ok := numbered(rest, 10); ok && string(kind) == "used" {
			p.said = true
			p.used[g] = p.size(name, p.used[g]+p.size(name, number))
		}
		return
	}
	switch string(of) {
	case "capacity":
		p.committed[g] = p.size(name, number)
	case "maxCapacity":
		p.max[g] = p.size(name, number)
	}
}

// size returns a size if it is in range, or records an error.
func (p *perf) size(name []byte, number int64) int64 {
	if number < 0 || number > maxSize {
		if p.err == nil {
			p.err = fmt.Errorf("%.60q is %d; want 0 to %d bytes", name, number, int64(maxSize))
		}
		return 0
	}
	return number
}

// numbered cuts off a digit, which must be less than below, and a dot.
func numbered(b []byte, below int) (int, []byte, bool) {
	if len(b) < 2 || b[1] != '.' || b[0] < '0' || int(b[0]-'0') >= below {
		return 0, nil, false
	}
	return int(b[0] - '0'), b[2:], true
}

// heap builds the result from the processed entries.
func (p *perf) heap() (Heap, error) {
	if p.err != nil {
		return Heap{}, p.err
	}
	if !p.said {
		return Heap{}, errors.New("no sun.gc.generation: the heap cannot be read")
	}
	const old = generations - 1
	h := Heap{
		Used:      p.used[0] + p.used[old],
		Committed: p.committed[0] + p.committed[old],
		Max:       max(p.max[0], p.max[old]),
		Live:      p.used[old],
	}
	if p.apart {
		h.Max = p.max[0] + p.max[old]
	}
	if p.live > 0 && p.count[1] > 0 {
		h.Live = p.live
	}
	for i, c := range []*Collections{&h.Young, &h.Full, &h.Concurrent} {
		t, err := p.span(p.ticks[i])
		if err != nil {
			return Heap{}, err
		}
		*c = Collections{p.count[i], t}
	}
	return h, nil
}

// span converts ticks to a duration.
func (p *perf) span(ticks int64) (time.Duration, error) {
	if ticks == 0 {
		return 0, nil
	}
	if p.frequency <= 0 {
		return 0, fmt.Errorf("sun.os.hrt.frequency is %d; want ticks per second above 0", p.frequency)
	}
	high, low := bits.Mul64(uint64(ticks), uint64(time.Second))
	if high >= uint64(p.frequency) {
		return 0, fmt.Errorf("%d ticks of 1/%d second are too long", ticks, p.frequency)
	}
	ns, _ := bits.Div64(high, low, uint64(p.frequency))
	if ns > math.MaxInt64 {
		return 0, fmt.Errorf("%d ticks of 1/%d second are too long", ticks, p.frequency)
	}
	return time.Duration(ns), nil
}
