package clients

import (
	"heddle"
	"heddle/rm"
	"heddle/yarn/translate"
	"heddle/yarn/wire"
)

// resource is an amount as YARN writes it.
func (s *service) resource(a heddle.Resource) *wire.Resource {
	return translate.Units(s.o.ExtraResources).Wire(a)
}

// dims is an amount of a report, to calculate with.
func (s *service) dims(a rm.Amount) heddle.Resource { return a.Resource(s.o.ExtraResources...) }

// told is an amount of a report, as YARN writes it.
func (s *service) told(a rm.Amount) *wire.Resource { return s.resource(s.dims(a)) }

// amount reads a resource.
func (s *service) amount(m *wire.Resource) heddle.Resource {
	return translate.Units(s.o.ExtraResources).Read(m)
}

// unknown is what stands for an amount that there is none of: one of −1. It is never changed.
var unknown = translate.Units(nil).Wire(heddle.Of(-1, -1000))
