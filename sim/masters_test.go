package sim

import (
	"testing"

	"heddle"
	"heddle/policies/adaptcont"
	"heddle/policy"
	"heddle/policy/policytest"
)

// A job whose master a profile makes larger than any node gets one that a node can hold, and ends like others.
func TestMastersFitTheirNodes(t *testing.T) {
	for _, base := range []string{"adaptcont", "heddle"} {
		p := profile{name: base, base: base, set: []string{"size.am={adaptcont.dynamic: {queue: capacity, unit_wave: 2}}"}}
		o := givenWorld(nodes(12, 2, heddle.Of(1024, 1000)), mapReduce("small", 0, lasting(2, 5), nil), mapReduce("large", 1, lasting(60, 5), nil))
		for i := range o.Workload.Jobs {
			o.Workload.Jobs[i].Master = heddle.Of(1024, 1000)
		}
		o.MaxTime = at(3600)
		states(t, p.run(t, o), Succeeded, Succeeded)
	}
}

// small makes every master small if its command allows it.
type small struct{ to heddle.Resource }

func (s small) Size(_ policy.View, a *policy.App, _ heddle.Kind, asked heddle.Resource) heddle.Resource {
	if a.Facts().MasterHeap == 0 {
		return asked
	}
	return s.to
}

// A master that has too little memory fails as a real one does, and the next one has what was asked for. The first
// one's failure does not count, so that the job could have lost another.
func TestMastersThatAreTooSmall(t *testing.T) {
	o := fullWorld(nodes(2, 1, heddle.Of(16384, 8000)), mapReduce("m", 0, lasting(20, 10), nil))
	o.NoAgents = true // as a ResourceManager sees it
	s := bare()
	s.Size[heddle.AM] = small{heddle.Of(170, 1000)}
	r := under(t, s, o)
	states(t, r, Succeeded)
	masters := kept(r, 0, heddle.AM)
	if len(masters) != 2 || masters[0].Size != heddle.Of(170, 1000) || masters[0].Status != 1 || masters[1].Size != heddle.Of(1536, 1000) {
		t.Errorf("masters %+v", masters)
	}
}

// A job's master reports what lived in its heap, and AdaptCont gives the next master of that user and name the memory
// it needs according to that. The first one gets the least that is given if nothing was measured.
func TestMastersSayWhatLivesInTheirHeaps(t *testing.T) {
	first, second := mapReduce("first", 0, lasting(20, 10), nil), mapReduce("second", 300, lasting(20, 10), nil)
	first.Program, second.Program = "sort", "sort"
	for _, isGiven := range []bool{false, true} {
		o := fullWorld(nodes(2, 1, heddle.Of(16384, 8000)), first, second)
		o.NoAgents, o.Given = true, isGiven
		sizer, err := adaptcont.NewDynamic(policytest.Args("queue: capacity"))
		if err != nil {
			t.Fatal(err)
		}
		s := bare()
		s.Size[heddle.AM], s.Feeds.Heaps = sizer, true
		r := under(t, s, o)
		states(t, r, Succeeded, Succeeded)
		if a, b := r.Jobs[0].MasterMemory, r.Jobs[1].MasterMemory; a != 384 || b != 256 {
			t.Errorf("given %v: masters of %d and %d MiB, want 384 and 256", isGiven, a, b)
		}
	}
}
