package rpc

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// leastRate is how many bytes a second of a large answer a peer has to read on average.
const leastRate = 1 << 20

// pieces writes out a message in pieces.
type pieces struct {
	b     []byte
	write func([]byte) error
}

// message writes m, of the given size, field by field if it is large. Fields are in descriptor order, with unknown ones
// last.
func (p *pieces) message(m protoreflect.Message, size int) (err error) {
	if size <= keepOutput {
		return p.append(m.Interface())
	}
	for i := 0; i < m.Descriptor().Fields().Len() && err == nil; i++ {
		f := m.Descriptor().Fields().Get(i)
		if !m.Has(f) {
			continue
		}
		switch v := m.Get(f); {
		case f.Message() == nil || f.IsMap():
			one := m.New()
			one.Set(f, v)
			err = p.append(one.Interface())
		case f.IsList():
			for j := 0; j < v.List().Len() && err == nil; j++ {
				err = p.inner(f, v.List().Get(j).Message())
			}
		default:
			err = p.inner(f, v.Message())
		}
	}
	p.b = append(p.b, m.GetUnknown()...)
	return err
}

// inner writes a message that is a field.
func (p *pieces) inner(f protoreflect.FieldDescriptor, m protoreflect.Message) error {
	size := proto.Size(m.Interface())
	p.b = protowire.AppendVarint(protowire.AppendTag(p.b, f.Number(), protowire.BytesType), uint64(size))
	return p.message(m, size)
}

// append writes a message as a whole, and sends the buffer once it is large enough.
func (p *pieces) append(m proto.Message) (err error) {
	if p.b, err = (proto.MarshalOptions{AllowPartial: true}).MarshalAppend(p.b, m); err == nil && len(p.b) >= keepOutput {
		err = p.write(p.b)
		p.b = p.b[:0]
	}
	return err
}
