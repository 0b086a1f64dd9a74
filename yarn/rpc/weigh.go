package rpc

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// A message's decoded size is computed from its bytes before it is decoded: two bytes of a request can become hundreds.

const (
	leastCall   = 8 << 10 // bytes of an empty call: its goroutine, and its answer
	copies      = 2       // of a request in memory: as decoded, and as its handler keeps it
	pointerSize = 16      // of an element in a list that grew: its pointer, and space for as many more
	textSize    = 32      // of a text besides its bytes
	encodedSize = 512     // of an already encoded element of an answer, besides its bytes: the struct, in which no field is set
	// shortRequest is the size in bytes up to which a request is assumed to be the worst case, and is not examined.
	shortRequest = 512
)

// A shape describes what a message is decoded into.
type shape struct {
	size  int64  // of the Go struct
	parts []part // by field number
}

// A part is a field of a message.
type part struct {
	name   string
	of     *shape // nil if it is no message
	many   bool
	scalar bool
}

// shapes are the shapes of messages by name.
type shapes map[protoreflect.FullName]*shape

// of returns the shape of a message.
func (all shapes) of(d protoreflect.MessageDescriptor) *shape {
	if s := all[d.FullName()]; s != nil {
		return s
	}
	s := &shape{}
	all[d.FullName()] = s
	if t, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName()); err == nil {
		s.size = int64(reflect.TypeOf(t.Zero().Interface()).Elem().Size())
	}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if n := int(f.Number()) + 1; n > len(s.parts) {
			s.parts = append(s.parts, make([]part, n-len(s.parts))...)
		}
		p := part{name: string(f.Name()), many: f.IsList()}
		switch f.Kind() {
		case protoreflect.MessageKind, protoreflect.GroupKind:
			p.of = all.of(f.Message())
		case protoreflect.StringKind, protoreflect.BytesKind:
		default:
			p.scalar = true
		}
		s.parts[f.Number()] = p
	}
	return s
}

// worst returns how many bytes a byte of a request can become at most. An empty field has two.
func (all shapes) worst() int64 {
	most := int64(2 * textSize)
	for _, s := range all {
		for _, p := range s.parts {
			if p.of != nil {
				most = max(most, p.of.size+pointerSize)
			}
		}
	}
	return copies * most / 2
}

// whole returns the memory of a message that has each of its fields once, without its texts.
func (s *shape) whole(depth int) int64 {
	n := s.size
	for _, p := range s.parts {
		switch {
		case p.name == "":
		case p.of == nil:
			n += pointerSize
		case depth > 0:
			n += p.of.whole(depth-1) + pointerSize
		}
	}
	return n
}

// A scale weighs a message.
type scale struct {
	bytes    int64 // memory when decoded
	elements int   // in lists
	most     int   // maximum number of elements
	of       string
}

// weigh adds the memory of a message, up to the first list with too many elements: w.of is its name.
func (w *scale) weigh(s *shape, b []byte, depth int) {
	w.bytes += s.size
	for len(b) > 0 && w.elements <= w.most {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return // decoding reports what is wrong
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(number, kind, b)
		if size < 0 {
			return
		}
		value := b[:size]
		b = b[size:]
		var p part
		if int(number) < len(s.parts) {
			p = s.parts[number]
		}
		w.part(p, kind, value, n, depth)
	}
}

// part adds the memory of one field.
func (w *scale) part(p part, kind protowire.Type, value []byte, tag, depth int) {
	if p.name == "" { // an unknown field is kept as it is, in a buffer that grows
		w.bytes += 2 * int64(tag+len(value))
		return
	}
	count := 1
	w.bytes += pointerSize
	if kind == protowire.BytesType {
		inner, _ := protowire.ConsumeBytes(value)
		switch {
		case p.of == nil && p.scalar: // packed
			count = len(inner)
			w.bytes += int64(count) * pointerSize
		case p.of == nil:
			w.bytes += textSize + int64(len(inner))
		case depth < maxDepth:
			w.weigh(p.of, inner, depth+1)
		}
	}
	if p.many && w.elements <= w.most {
		if w.elements += count; w.elements > w.most {
			w.of = p.name
		}
	}
}

// tooLong is the error for a request of too many bytes.
func (m *served) tooLong(bytes uint64) error {
	return fmt.Errorf("the request of %s has %d bytes; at most %d are accepted", m.name, bytes, m.bytes)
}

// weigh returns how many bytes of memory a request takes, or why it is refused.
func (m *served) weigh(b []byte) (int64, error) {
	if len(b) > m.bytes {
		return 0, m.tooLong(uint64(len(b)))
	}
	if len(b) <= shortRequest {
		return leastCall + int64(len(b))*m.worst, nil
	}
	w := scale{most: m.elements}
	w.weigh(m.request, b, 0)
	if w.elements > w.most {
		return 0, fmt.Errorf("the request of %s has more than %d elements in its lists; the limit was exceeded in %s", m.name, w.most, w.of)
	}
	return leastCall + copies*w.bytes, nil
}

// answerBytes returns the memory of an answer of this encoded size until it has left. Most of its texts are shared with
// what it describes, and are in memory anyway.
func (m *served) answerBytes(resp proto.Message, size int) int64 {
	if size <= leastCall/2 {
		return 0
	}
	n := int64(size)/8 + int64(min(size, 2*keepOutput)) // it is sent in pieces
	r := resp.ProtoReflect()
	for i := range r.Descriptor().Fields().Len() {
		f := r.Descriptor().Fields().Get(i)
		if f.IsList() && f.Message() != nil {
			n += elementBytes(r.Get(f).List(), m.answers[f.Number()])
		} else if f.Message() != nil && r.Has(f) {
			n += int64(size) // it may contain lists
		}
	}
	return n
}

// elementBytes returns the memory of a list with this much for each element; already encoded elements take their actual
// size.
func elementBytes(list protoreflect.List, each int64) (n int64) {
	for i := range list.Len() {
		if b := list.Get(i).Message().GetUnknown(); len(b) > 0 {
			n += encodedSize + int64(len(b))
		} else {
			n += each
		}
	}
	return n
}

// newServed prepares a method for a server.
func newServed(name string, m Method, all shapes) *served {
	s := &served{Method: m, name: name, answers: map[protoreflect.FieldNumber]int64{}}
	own := shapes{} // only those of this request, for the worst case
	s.request = own.of(m.takes)
	s.worst = own.worst()
	for i := range m.gives.Fields().Len() {
		if f := m.gives.Fields().Get(i); f.IsList() && f.Message() != nil {
			s.answers[f.Number()] = all.of(f.Message()).whole(2)
		}
	}
	return s
}
