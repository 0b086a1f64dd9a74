package conf

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The largest files that are read at all are read in no time, whatever is in them.
func TestLargeFiles(t *testing.T) {
	var names, own, users, deep strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&names, "q%d,", i)
		fmt.Fprintf(&own, "root.q%d.user-settings.u.weight=1\n", i)
		fmt.Fprintf(&users, "root.user-settings.u%d.weight=1\n", i)
		fmt.Fprintf(&deep, "root%s.x=1\n", strings.Repeat(".a", i%100))
	}
	queues := "root.queues=" + names.String() + "\nroot.allow-zero-capacity-sum=true\n"
	for name, c := range map[string]struct{ doc, want string }{
		"queues":  {queues + "root.q0.capacity=100", ""},
		"weights": {queues + "root.q0.capacity=100\n" + own.String() + users.String(), "more than 1000000 weights"},
		"unknown": {"root.queues=a\nroot.a.capacity=100\n" + deep.String(), ""},
	} {
		start := time.Now()
		_, l := disk{capacityFile: cs(c.doc)}.load()
		got := errorLines(l)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %.200s", name, got)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}
