package rm

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"heddle"
	"heddle/yarn/wire"
)

// Units are the names of the resources that [heddle.Extra1] and Extra2 count.
type Units []string

// Read reads an amount. Negative and huge numbers stay what they are, for checks to find.
func (u Units) Read(m *wire.Resource) heddle.Resource {
	out := heddle.Of(m.GetMemory(), 1000*int64(m.GetVirtualCores()))
	for _, v := range m.GetResourceValueMap() {
		if i := slices.Index(u, v.GetKey()); i >= 0 {
			out[heddle.Extra1+heddle.Dim(i)] = v.GetValue()
		}
	}
	return out
}

// Wire is an amount as YARN writes it: memory and vcores twice, others in the map alone. Part of a vcore is not
// told: rounded up, so that nothing above 0 reads as 0.
func (u Units) Wire(a heddle.Resource) *wire.Resource {
	cores := Vcores(a)
	m := &wire.Resource{Memory: &a[heddle.Memory], VirtualCores: new(int32(cores)), ResourceValueMap: []*wire.ResourceInformation{
		information("memory-mb", "Mi", a[heddle.Memory]), information("vcores", "", cores),
	}}
	for i, name := range u {
		m.ResourceValueMap = append(m.ResourceValueMap, information(name, "", a[heddle.Extra1+heddle.Dim(i)]))
	}
	return m
}

// Vcores is an amount's processors in whole vcores, rounded up.
func Vcores(a heddle.Resource) int64 {
	milli := a[heddle.CPU]
	if milli > 0 {
		milli += 999
	}
	return min(milli/1000, math.MaxInt32)
}

func information(name, units string, v int64) *wire.ResourceInformation {
	return &wire.ResourceInformation{Key: &name, Value: &v, Units: &units, Type: wire.ResourceTypes_COUNTABLE.Enum()}
}

// Types are all resources there are.
func (u Units) Types() []*wire.ResourceTypeInfo {
	info := func(name, units string) *wire.ResourceTypeInfo {
		return &wire.ResourceTypeInfo{Name: &name, Units: &units, Type: wire.ResourceTypes_COUNTABLE.Enum()}
	}
	list := []*wire.ResourceTypeInfo{info("memory-mb", "Mi"), info("vcores", "")}
	for _, name := range u {
		list = append(list, info(name, ""))
	}
	return list
}

func (r *RM) resource(m *wire.Resource) heddle.Resource { return Units(r.cfg.ExtraResources).Read(m) }

func (r *RM) wireResource(a heddle.Resource) *wire.Resource {
	return Units(r.cfg.ExtraResources).Wire(a)
}

// maxAmount is more of anything than a machine has; sums over maxNodes of it still fit.
const maxAmount = 1 << 42

// plausible reports whether what a node says is an amount that can be counted with.
func plausible(a heddle.Resource) bool {
	return !a.AnyNegative() && a.Fits(heddle.Resource{maxAmount, maxAmount, maxAmount, maxAmount})
}

// maximum is the largest container there can be: as configured, and no larger than the largest node once there
// are any, unless larger ones may still come back after a start: masters that ask for the same again would be refused.
func (r *RM) maximum() heddle.Resource {
	if v := r.core.View(); v.Live() > 0 && !r.recovering() {
		return r.sch.Maximum.Min(v.Largest())
	}
	return r.sch.Maximum
}

// largest is the largest container there can be for an application of a queue.
func (r *RM) largest(queue string) heddle.Resource {
	q, ok := r.queues[queue]
	if !ok {
		return r.maximum()
	}
	return r.sch.Queues[q].LargestOf(r.maximum())
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
