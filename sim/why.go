package sim

import (
	"fmt"

	"heddle"
)

// rejection says in words why an application was not accepted.
func rejection(w heddle.Why) string {
	switch w {
	case heddle.NoSuchQueue:
		return "its queue does not exist, has queues below it or is stopped"
	case heddle.AppLimit:
		return "its queue, its user or the cluster has as many applications as it may have"
	case heddle.TooLarge:
		return "its master asks for more than the largest container that the scheduler grants"
	default:
		return "the scheduler refuses it: " + w.String()
	}
}

// tooLarge says why an application failed that asks for more than there can be.
const tooLarge = "it asks for containers above the largest that the scheduler grants"

// mastersFailed says that an application had no master attempts left, and the status with which the last one ended.
func mastersFailed(times int, status heddle.ExitStatus) string {
	var how string
	switch status {
	case heddle.KilledOverPhysical:
		how = "because it used more memory than its container has"
	case 1:
		how = "with exit code 1, as a process that runs out of memory or crashes"
	default:
		how = fmt.Sprintf("with exit code %d", status)
	}
	if times == 1 {
		return "its master failed " + how
	}
	return fmt.Sprintf("its master failed %d times, the last time %s", times, how)
}

// unfinished says why a job has no end.
func (s *Sim) unfinished() string {
	if s.stalled {
		return fmt.Sprintf("it waits for what never comes: nothing ran or ended for %g h", stall.Seconds()/3600)
	}
	return "the run ended before it did"
}
