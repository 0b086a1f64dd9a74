package adaptcont

// undone returns how many of the tasks that determine a master's size are still to be done. Maps end before reduces
// begin and there are at least as many of them, so reduces do not count (3.2; 4.1, Constraints).
func undone(maps, finished int) int { return max(maps-finished, 0) }

// bounded returns a wave under a user's limit; 0 = no limit (2.2).
func bounded(wave, limit int) int {
	if limit > 0 {
		return min(wave, limit)
	}
	return wave
}
