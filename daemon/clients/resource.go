package clients

import (
	"heddle"
	"heddle/rm"
	"heddle/yarn/translate"
	"heddle/yarn/wire"
)

// resource converts an amount to YARN's form.
func (s *service) resource(a heddle.Resource) *wire.Resource {
	return s.units.Wire(a)
}

// dims converts an amount of a report to one to calculate with.
func (s *service) dims(a rm.Amount) heddle.Resource { return a.Resource(s.o.ExtraResources...) }

// told converts an amount of a report to YARN's form.
func (s *service) told(a rm.Amount) *wire.Resource { return s.resource(s.dims(a)) }

// amount reads a resource.
func (s *service) amount(m *wire.Resource) heddle.Resource {
	return s.units.Read(m)
}

// unknown stands for an amount that does not exist: −1. It is never changed.
var unknown = translate.Units(nil).Wire(heddle.Of(-1, -1000))
