package measure

import "testing"

func TestParseTakesTheLastLine(t *testing.T) {
	f, err := Parse([]byte("some noise\n{\"scan_ns\":12.5,\"peak_rss_mib\":3}\n\n"))
	if err != nil || f["scan_ns"] != 12.5 || f[PeakMemory] != 3 {
		t.Errorf("got %v, %v", f, err)
	}
	for _, bad := range []string{"", "\n", "no figures\n", "{\"a\":1}\nnoise\n"} {
		if f, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, f)
		}
	}
}

func TestSlots(t *testing.T) {
	for _, s := range Shapes {
		if s.Slots() != 11 {
			t.Errorf("%s: %d slots a node, want 10 for the asks and 1 more", s.Name, s.Slots())
		}
	}
	if s := (Shape{Nodes: 3, Asks: 10}); s.Slots() != 5 {
		t.Errorf("10 asks on 3 nodes: %d slots, want 5", s.Slots())
	}
}
