package adaptcont

import (
	"heddle"
	"heddle/policy"
)

// Waves returns the largest wave of each job, given its number of maps.
func Waves(queue string, containers int, maps []int) []int {
	return played(with(queue), containers, maps)
}

// Played reports whether waves were simulated since it was last called.
func Played(p policy.Size) bool {
	const mark = heddle.Time(-1)
	s := p.(*Sizer)
	if len(s.jobs) == 0 || s.jobs[0].at == mark {
		return false
	}
	s.jobs[0].at = mark
	return true
}
