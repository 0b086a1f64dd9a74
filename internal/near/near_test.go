package near

import "testing"

func TestNames(t *testing.T) {
	profiles := []string{"capacity", "fair", "fifo"}
	for _, c := range []struct{ written, want string }{
		{"capcity", "did you mean capacity? There are capacity, fair and fifo"},
		{"Fair", "did you mean fair? There are capacity, fair and fifo"},
		{"fiar", "did you mean fair? There are capacity, fair and fifo"},
		{"fxxr", "there are capacity, fair and fifo"}, // two of four letters are wrong
		{"fai", "did you mean fair? There are capacity, fair and fifo"},
		{"nothing", "there are capacity, fair and fifo"},
		{"x", "there are capacity, fair and fifo"}, // no letter of it would be left
		{"", "there are capacity, fair and fifo"},
	} {
		if got := Names(c.written, profiles); got != c.want {
			t.Errorf("%q: %s, want %s", c.written, got, c.want)
		}
	}
	if got := Names("defalut", []string{"default"}); got != "did you mean default? There is only default" {
		t.Error(got)
	}
	if got := Names("x", nil); got != "there are none" {
		t.Error(got)
	}
	if name, ok := Name("mab", []string{"map", "mat"}); !ok || name != "map" {
		t.Errorf("of two as near: %s, %v", name, ok)
	}
}
