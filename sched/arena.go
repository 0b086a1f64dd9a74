package sched

import "heddle"

// arena holds the decisions of one step.
type arena struct {
	admits   bin[heddle.Admit]
	rejects  bin[heddle.Reject]
	launches bin[heddle.Launch]
	adopts   bin[heddle.Adopt]
	books    bin[heddle.Book]
	unbooks  bin[heddle.Unbook]
	resizes  bin[heddle.Resize]
	weighs   bin[heddle.Weigh]
	suspends bin[heddle.Suspend]
	resumes  bin[heddle.Resume]
	kills    bin[heddle.Kill]
}

func (a *arena) reset() {
	a.admits.n, a.rejects.n, a.launches.n, a.adopts.n = 0, 0, 0, 0
	a.books.n, a.unbooks.n = 0, 0
	a.resizes.n, a.weighs.n, a.suspends.n, a.resumes.n, a.kills.n = 0, 0, 0, 0, 0
}

const piece = 32

// A bin holds decisions of one type. It grows by pieces, so that none is ever moved: a single step may launch thousands
// of containers.
type bin[T any] struct {
	pieces []*[piece]T
	n      int
}

// put keeps v until the next reset.
func (b *bin[T]) put(v T) *T {
	x := b.next()
	*x = v
	return x
}

// next returns room for one more decision, which the caller must fill completely.
func (b *bin[T]) next() *T {
	at := uint(b.n)
	if at/piece == uint(len(b.pieces)) {
		b.pieces = append(b.pieces, new([piece]T))
	}
	b.n++
	return &b.pieces[at/piece][at%piece]
}
