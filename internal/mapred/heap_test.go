package mapred

import "testing"

func TestHeap(t *testing.T) {
	for options, want := range map[string][2]string{
		"":                             {"", ""},
		"-Xms8m -Dx=-Xmx2g":            {"", ""},
		"-Xmx1t":                       {"", ""}, // not a unit of MapReduce
		"-Xmx1073741824":               {"1073741824", ""},
		"-Xmx200M -Dx=y -Xmx1K -Xmx1t": {"1", "k"},
		"-Dx\n-Xmx3G":                  {"3", "g"},
	} {
		if digits, unit := Heap(options); digits != want[0] || unit != want[1] {
			t.Errorf("%q: %q %q, want %q", options, digits, unit, want)
		}
	}
}
