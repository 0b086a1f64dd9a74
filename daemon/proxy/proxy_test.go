package proxy

import (
	"context"
	"errors"
	"net/url"
	"testing"
)

// A master names its own address, so these are addresses that somebody could try to make the daemon fetch.
func TestNoForbiddenAddress(t *testing.T) {
	w := &Way{Private: []uint16{8032}}
	tests := []struct {
		address string
		loop    bool // loopback is allowed
		ok      bool
	}{
		{"192.0.2.7:80", false, true},
		{"[2001:db8::1]:80", false, true},
		{"127.0.0.1:80", false, false},
		{"127.0.0.1:80", true, true},
		{"127.0.0.1:8032", true, false},
		{"127.9.9.9:8032", true, false},
		{"[::1]:80", false, false},
		{"[::ffff:127.0.0.1]:80", false, false},
		{"[::ffff:127.0.0.1]:8032", true, false},
		{"169.254.169.254:80", true, false},
		{"[::ffff:169.254.169.254]:80", true, false},
		{"[fe80::1%eth0]:80", true, false},
		{"0.0.0.0:80", true, false},
		{"[::]:80", true, false},
		{"224.0.0.1:80", true, false},
		{"255.255.255.255:80", true, false},
		{"[ff02::1]:80", true, false},
		{"192.0.2.7:8032", false, true}, // a port of another machine
		{"nonsense", true, false},
	}
	for _, tt := range tests {
		err := w.check(AllowLoopback(context.Background(), tt.loop), "tcp", tt.address, nil)
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrTarget) {
			t.Errorf("%s (loopback %v): %v, want allowed %v", tt.address, tt.loop, err, tt.ok)
		}
	}
}

func TestMayLoop(t *testing.T) {
	tests := []struct {
		name, target string
		way          Way
		want         bool
	}{
		{"all of the cluster is here", "http://anywhere:80", Way{Local: true}, true},
		{"its own node", "http://node7:80", Way{}, true},
		{"the host of the pages", "http://rm:80", Way{WebHost: "rm:8088"}, true},
		{"another name", "http://localhost:80", Way{WebHost: "rm:8088"}, false},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.target)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.way.MayLoop("node7", u); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTarget(t *testing.T) {
	tests := map[string]string{
		"": "", "N/A": "", "node1:8080": "http://node1:8080", "http://node1:8080/x": "http://node1:8080/x", "https://a": "https://a",
		"ftp://node1": "", "javascript://x/%0aalert(1)": "", "http://u:p@node1": "", "http://": "", "://": "",
	}
	for in, want := range tests {
		got := ""
		if u := Target(in); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("Target(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	tests := []struct{ target, rest, query, want string }{
		{"http://a", "", "", "http://a/"},
		{"http://a/base", "", "", "http://a/base"},
		{"http://a/base/", "x%2Fy", "q=1", "http://a/base/x%2Fy?q=1"},
		{"http://a/?old=1", "x", "", "http://a/x?old=1"},
		{"http://a/ui?view=/", "", "q=1", "http://a/ui?view=/&q=1"},
		{"http://a/ui/#/tez-app/application_1_0001", "", "", "http://a/ui/#/tez-app/application_1_0001"},
		{"http://a/ui/#%2Fx", "y", "", "http://a/ui/y#%2Fx"},
	}
	for _, tt := range tests {
		if got := Join(Target(tt.target), tt.rest, tt.query).String(); got != tt.want {
			t.Errorf("Join(%q, %q, %q) = %q, want %q", tt.target, tt.rest, tt.query, got, tt.want)
		}
	}
}

func TestCrowd(t *testing.T) {
	c := NewCrowd[string](3, 2)
	for _, who := range []string{"one", "one"} {
		if !c.Enter(who) {
			t.Fatal("turned away below the limit")
		}
	}
	if c.Enter("one") {
		t.Error("one may have more than its part")
	}
	if !c.Enter("two") {
		t.Error("another is kept waiting")
	}
	if c.Enter("three") {
		t.Error("more than there is room for")
	}
	c.Leave("one")
	if !c.Enter("three") {
		t.Error("a place that was given back cannot be taken")
	}
	c.Leave("one")
	c.Leave("two")
	c.Leave("three")
	if len(c.of) != 0 || c.total != 0 {
		t.Errorf("%d of %v are left", c.total, c.of)
	}
}
