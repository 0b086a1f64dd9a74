package main

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	all := ""
	for _, s := range suites {
		for _, name := range s.must {
			all += "--- PASS: " + name + " (0.10s)\r\n"
		}
	}
	skipped := strings.Replace(all, "--- PASS: TestScope", "--- SKIP: TestScope", 1)
	for _, x := range []struct{ out, bad string }{
		{all + over + "0\r\n", ""},
		{all + over + "1\r\n", "some tests failed"},
		{all, "did not come to their end"},
		{skipped + over + "0\r\n", "TestScope of ./node/groups did not run"},
	} {
		v := verdict{passed: map[string]bool{}}
		if err := v.read(strings.NewReader(x.out)); err != nil {
			t.Fatal(err)
		}
		err := v.judge()
		if (err == nil) != (x.bad == "") || err != nil && !strings.Contains(err.Error(), x.bad) {
			t.Errorf("%q: %v, want %q", x.out, err, x.bad)
		}
	}
}
