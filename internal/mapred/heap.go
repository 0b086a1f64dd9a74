package mapred

import (
	"regexp"
	"strings"
)

var heapOption = regexp.MustCompile(`.*(?:^|\s)-Xmx(\d+)([gGmMkK]?)(?:\s|$)`)

// Heap is the heap that the options of a JVM state last: its digits, and the unit g, m or k, which is empty for bytes. Both are
// empty where MapReduce finds none.
func Heap(options string) (digits, unit string) {
	m := heapOption.FindStringSubmatch(options)
	if m == nil {
		return "", ""
	}
	return m[1], strings.ToLower(m[2])
}
