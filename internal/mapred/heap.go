package mapred

import (
	"regexp"
	"strings"
)

var heapOption = regexp.MustCompile(`.*(?:^|\s)-Xmx(\d+)([gGmMkK]?)(?:\s|$)`)

// Heap returns the last heap size in the options of a JVM: its digits and its unit g, m or k, which is empty for bytes.
// Both are empty if MapReduce finds none.
func Heap(options string) (digits, unit string) {
	m := heapOption.FindStringSubmatch(options)
	if m == nil {
		return "", ""
	}
	return m[1], strings.ToLower(m[2])
}
