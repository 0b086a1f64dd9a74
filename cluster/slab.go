package cluster

import "heddle"

const slabChunk = 512

// A slab holds containers without one allocation each, finds them by id, and keeps the lists they are in. Slot 0 means
// none.
type slab struct {
	chunks []*chunk
	slots  int32 // slots ever used, including slot 0
	free   []*Container
	last   heddle.ContainerID
	base   int // number of the first page
	pages  []*page
	live   int
}

// A chunk holds the containers of consecutive slots. Their links are stored separately and close together: taking a
// container out of its lists touches four neighbours, and only their links.
type chunk struct {
	containers [slabChunk]Container
	links      [slabChunk]links
}

// A page maps consecutive container ids to slots.
type page struct {
	at   [slabChunk]int32
	live int
}

// A list is one of the two lists that a granted container is in, newest first.
type list uint8

const (
	onNode list = iota
	ofApp
)

// links are the slots of a container's neighbours in each list.
type links [2]struct{ prev, next int32 }

func (s *slab) new() *Container {
	x := s.take()
	s.last++
	*x = Container{id: s.last, slot: x.slot}
	p := int(s.last)/slabChunk - s.base
	for p >= len(s.pages) {
		s.pages = append(s.pages, &page{})
	}
	s.pages[p].at[s.last%slabChunk] = x.slot
	s.pages[p].live++
	s.live++
	return x
}

// take returns the object of the container that ended last, or one never used.
func (s *slab) take() *Container {
	if n := len(s.free); n > 0 {
		x := s.free[n-1]
		s.free = s.free[:n-1]
		return x
	}
	if s.slots%slabChunk == 0 {
		s.chunks = append(s.chunks, new(chunk))
	}
	s.slots = max(s.slots, 1)
	x := s.at(s.slots)
	x.slot = s.slots
	s.slots++
	return x
}

// at returns the container in a slot, or nil for slot 0.
func (s *slab) at(slot int32) *Container {
	if slot == 0 {
		return nil
	}
	return &s.chunks[uint32(slot)/slabChunk].containers[uint32(slot)%slabChunk]
}

func (s *slab) links(slot int32) *links {
	return &s.chunks[uint32(slot)/slabChunk].links[uint32(slot)%slabChunk]
}

func (s *slab) get(id heddle.ContainerID) *Container {
	p := uint64(id)/slabChunk - uint64(s.base) // ids before the first page, or below 0, come out too large
	if p >= uint64(len(s.pages)) {
		return nil
	}
	return s.at(s.pages[p].at[uint64(id)%slabChunk])
}

func (s *slab) drop(x *Container) {
	p := int(x.id)/slabChunk - s.base
	s.pages[p].at[x.id%slabChunk] = 0
	s.pages[p].live--
	s.live--
	for len(s.pages) > 1 && s.pages[0].live == 0 {
		s.pages[0] = nil
		s.pages = s.pages[1:]
		s.base++
	}
	s.free = append(s.free, x)
}

// push puts the container in a slot at the front of a list.
func (s *slab) push(l list, first *int32, slot int32) {
	k := &s.links(slot)[l]
	k.prev, k.next = 0, *first
	if k.next != 0 {
		s.links(k.next)[l].prev = slot
	}
	*first = slot
}

// unlink removes the container in a slot from a list.
func (s *slab) unlink(l list, first *int32, slot int32) {
	k := &s.links(slot)[l]
	if k.prev == 0 {
		*first = k.next
	} else {
		s.links(k.prev)[l].next = k.next
	}
	if k.next != 0 {
		s.links(k.next)[l].prev = k.prev
	}
}

// after returns the next container in a list, or nil at the end.
func (s *slab) after(l list, x *Container) *Container { return s.at(s.links(x.slot)[l].next) }
