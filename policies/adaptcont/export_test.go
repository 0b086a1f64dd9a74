package adaptcont

// Waves returns the largest wave of each job, given its number of maps.
func Waves(queue string, containers int, maps []int) []int {
	return played(with(queue), containers, maps)
}
