package clients

import (
	"math"
	"slices"

	"heddle"
	"heddle/yarn/wire"
)

// The names and units of the two resources that every cluster has.
const (
	memoryName, memoryUnits = "memory-mb", "Mi"
	coresName               = "vcores"
)

// resource is an amount as YARN writes it: memory and vcores twice, others in the map alone. A part of a vcore
// is rounded up, so that nothing above 0 reads as 0.
func (s *service) resource(a heddle.Resource) *wire.Resource {
	m := wireResource(a[heddle.Memory], vcores(a))
	for i, name := range s.o.ExtraResources {
		m.ResourceValueMap = append(m.ResourceValueMap, information(name, "", a[heddle.Extra1+heddle.Dim(i)]))
	}
	return m
}

func wireResource(memory, cores int64) *wire.Resource {
	return &wire.Resource{
		Memory: new(memory), VirtualCores: new(int32(cores)),
		ResourceValueMap: []*wire.ResourceInformation{information(memoryName, memoryUnits, memory), information(coresName, "", cores)},
	}
}

func information(name, units string, v int64) *wire.ResourceInformation {
	return &wire.ResourceInformation{Key: new(name), Value: new(v), Units: new(units), Type: wire.ResourceTypes_COUNTABLE.Enum()}
}

// vcores is an amount's vcores in whole ones.
func vcores(a heddle.Resource) int64 { return min((a[heddle.CPU]+999)/1000, math.MaxInt32) }

// amount reads a resource. Negative numbers stay what they are, for checks to find.
func (s *service) amount(m *wire.Resource) heddle.Resource {
	out := heddle.Of(m.GetMemory(), 1000*int64(m.GetVirtualCores()))
	for _, v := range m.GetResourceValueMap() {
		if i := slices.Index(s.o.ExtraResources, v.GetKey()); i >= 0 {
			out[heddle.Extra1+heddle.Dim(i)] = v.GetValue()
		}
	}
	return out
}

// resourceTypes are all resources there are.
func (s *service) resourceTypes() []*wire.ResourceTypeInfo {
	var list []*wire.ResourceTypeInfo
	add := func(name, units string) {
		list = append(list, &wire.ResourceTypeInfo{Name: new(name), Units: new(units), Type: wire.ResourceTypes_COUNTABLE.Enum()})
	}
	add(memoryName, memoryUnits)
	add(coresName, "")
	for _, name := range s.o.ExtraResources {
		add(name, "")
	}
	return list
}
