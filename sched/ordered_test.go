package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/policy"
)

// The blocks of an order hold the same as a sorted slice, in the same order.
func TestOrderedIsASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o ordered
		var twin []entry
		grow := rapid.IntRange(2, 9).Draw(t, "grow") // number of inserts in ten steps
		for i := range rapid.IntRange(1, 1500).Draw(t, "steps") {
			if len(twin) == 0 || (i*7+i/3)%10 < grow {
				e := entry{policy.Key{int64(i*i%5 - 2), int64(i % 3), int64(i * 31 % 11)}, int32(i)}
				o.insert(e.key, e.id)
				at, _ := slices.BinarySearchFunc(twin, e, order)
				twin = slices.Insert(twin, at, e)
			} else {
				at := rapid.IntRange(0, len(twin)-1).Draw(t, "remove")
				o.remove(twin[at].key, twin[at].id)
				twin = slices.Delete(twin, at, at+1)
			}
		}
		if got := slices.Concat(o.blocks...); !slices.Equal(got, twin) {
			t.Fatalf("the order holds\n%v\nnot\n%v", got, twin)
		}
		if o.len() != len(twin) {
			t.Fatalf("it counts %d of %d", o.len(), len(twin))
		}
		for _, e := range twin {
			if !o.has(e.key, e.id) {
				t.Fatalf("%v is not found", e)
			}
		}
		if o.has(policy.Key{9, 9, 9}, 1) {
			t.Fatal("what never was there is found")
		}
		for _, b := range o.blocks {
			if len(b) >= blockSize {
				t.Fatalf("a block of %d entries", len(b))
			}
		}
	})
}

func order(a, b entry) int {
	switch {
	case a == b:
		return 0
	case a.before(&b.key, b.id):
		return -1
	}
	return 1
}

func TestOrderedRefusesWhatIsNotThere(t *testing.T) {
	for name, o := range map[string]*ordered{"empty": {}, "other": {blocks: [][]entry{{{policy.Key{1}, 1}}}}} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("removing what is not there passed")
				}
			}()
			o.remove(policy.Key{1}, 2)
		})
	}
}
