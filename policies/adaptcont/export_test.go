package adaptcont

// Waves returns the largest wave of each of so many maps.
func Waves(queue string, containers int, maps []int) []int {
	return played(with(queue), containers, maps)
}
