package rm

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/yarn/wire"
)

// resource reads an amount. Negative and huge numbers stay what they are as far as they go, for checks to find.
func (r *RM) resource(m *wire.Resource) heddle.Resource {
	out := heddle.Of(m.GetMemory(), 1000*int64(m.GetVirtualCores()))
	for _, v := range m.GetResourceValueMap() {
		if i := slices.Index(r.cfg.ExtraResources, v.GetKey()); i >= 0 {
			out[heddle.Extra1+heddle.Dim(i)] = v.GetValue()
		}
	}
	return out
}

// wireResource is an amount as YARN writes it: memory and vcores twice, others in the map alone. Part of a
// vcore is not told: rounded up, so that nothing above 0 reads as 0.
func (r *RM) wireResource(a heddle.Resource) *wire.Resource {
	cores := min((a[heddle.CPU]+999)/1000, math.MaxInt32)
	m := &wire.Resource{Memory: proto.Int64(a[heddle.Memory]), VirtualCores: proto.Int32(int32(cores)), ResourceValueMap: []*wire.ResourceInformation{
		{Key: proto.String("memory-mb"), Value: proto.Int64(a[heddle.Memory]), Units: proto.String("Mi"), Type: wire.ResourceTypes_COUNTABLE.Enum()},
		{Key: proto.String("vcores"), Value: proto.Int64(cores), Units: proto.String(""), Type: wire.ResourceTypes_COUNTABLE.Enum()},
	}}
	for i, name := range r.cfg.ExtraResources {
		m.ResourceValueMap = append(m.ResourceValueMap, &wire.ResourceInformation{
			Key: proto.String(name), Value: proto.Int64(a[heddle.Extra1+heddle.Dim(i)]), Units: proto.String(""), Type: wire.ResourceTypes_COUNTABLE.Enum(),
		})
	}
	return m
}

func (r *RM) resourceTypes() []*wire.ResourceTypeInfo {
	list := []*wire.ResourceTypeInfo{
		{Name: proto.String("memory-mb"), Units: proto.String("Mi"), Type: wire.ResourceTypes_COUNTABLE.Enum()},
		{Name: proto.String("vcores"), Units: proto.String(""), Type: wire.ResourceTypes_COUNTABLE.Enum()},
	}
	for _, name := range r.cfg.ExtraResources {
		list = append(list, &wire.ResourceTypeInfo{Name: proto.String(name), Units: proto.String(""), Type: wire.ResourceTypes_COUNTABLE.Enum()})
	}
	return list
}

// maximum is the largest container there can be: as configured, and no larger than the largest node once there
// are any.
func (r *RM) maximum() heddle.Resource {
	if v := r.core.View(); v.Live() > 0 {
		return r.sch.Maximum.Min(v.Largest())
	}
	return r.sch.Maximum
}

// text is an amount for people, as YARN writes it.
func (r *RM) text(a heddle.Resource) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<memory:%d, vCores:%d", a[heddle.Memory], a[heddle.CPU]/1000)
	for i, name := range r.cfg.ExtraResources {
		fmt.Fprintf(&b, ", %s:%d", name, a[heddle.Extra1+heddle.Dim(i)])
	}
	return b.String() + ">"
}

// sortedRows is an attempt's request table in a fixed order.
func (t *attempt) sortedRows() []*wire.ResourceRequest {
	keys := slices.SortedFunc(maps.Keys(t.rows), func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.allocID, b.allocID), strings.Compare(a.place, b.place))
	})
	out := make([]*wire.ResourceRequest, len(keys))
	for i, k := range keys {
		out[i] = t.rows[k]
	}
	return out
}
