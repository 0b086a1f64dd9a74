package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/sim"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]heddle.Resource{
		"8192MiB,8":   heddle.Of(8192, 8000),
		"8GiB,8":      heddle.Of(8192, 8000),
		"1.5GiB, 2":   heddle.Of(1536, 2000),
		"1TiB,96":     heddle.Of(1<<20, 96000),
		" 512 MiB ,1": heddle.Of(512, 1000),
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                "want memory and vcores",
		"8192MiB":         "want memory and vcores",
		"8192,8":          "MiB, GiB or TiB",
		"8GB,8":           "MiB, GiB or TiB",
		"8gib,8":          "MiB, GiB or TiB",
		"GiB,8":           `"" is not a number`,
		"xGiB,8":          "is not a number",
		"-1GiB,8":         "want 1 MiB to",
		"0MiB,8":          "want 1 MiB to",
		"1e30GiB,8":       "want 1 MiB to",
		"1.5MiB,8":        "want whole MiB",
		"8GiB,0":          "vcores",
		"8GiB,1.5":        "vcores",
		"8GiB,8,8":        "vcores",
		"8GiB,":           "vcores",
		"InfGiB,8":        "want 1 MiB to",
		"NaNGiB,8":        "is not a number",
		"8GiB,9999999999": "vcores",
	} {
		if got, err := parseSize(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestLists(t *testing.T) {
	for text, want := range map[string][]string{
		"a":                             {"a"},
		"a,b , c":                       {"a", "b", "c"},
		"a,,b":                          {"a", "", "b"},
		"f --set p={d: {x: 1, y: 2}},c": {"f --set p={d: {x: 1, y: 2}}", "c"},
		`f --set p="x,y",c`:             {`f --set p="x,y"`, "c"},
		"a},b":                          {"a}", "b"},
	} {
		if got := splitList(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSpecs(t *testing.T) {
	for text, want := range map[string][]string{
		"fair":                                  {"fair"},
		"my profile.yaml":                       {"my profile.yaml"},
		"fair --set a=b":                        {"fair", "a=b"},
		"fair --set=a=b":                        {"fair", "a=b"},
		"fair --agent":                          {"fair"},
		"fair --agent --set a=b":                {"fair", "a=b"},
		"fair --set a=b --as stock --agent":     {"fair", "a=b"},
		"fair --as=heddle --set a=b":            {"fair", "a=b"},
		"fair --ideal-agent --set a=b":          {"fair", "a=b"},
		"fair --set place.map={d: 1} --set c=d": {"fair", "place.map={d: 1}", "c=d"},
	} {
		s, err := parseSpec(text)
		agent := strings.TrimSpace(regexp.MustCompile("[a-z-]*agent|$").FindString(text))
		if s.agent != strings.TrimPrefix(agent, "--") || (s.as == "stock") != strings.Contains(text, "stock") || (s.as == "heddle") != strings.Contains(text, "heddle") {
			t.Errorf("%q: agent %q, as %q", text, s.agent, s.as)
		}
		if got := append([]string{s.name}, s.set...); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "--set a=b", "fair --set", "fair --set ", "fair --sets a=b", "--agent", "fair --set  --set a=b", "fair --as", "fair --as jobs", "fair --agents", "fair --agent --ideal-agent"} {
		if s, err := parseSpec(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, s)
		}
	}
}

func TestAmounts(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0.0 s", 45.24: "45.2 s", 59.97: "1 m 0 s", 61: "1 m 1 s", 610: "10 m 10 s", 3599.6: "1 h 0 m", 86355: "23 h 59 m", 3 * 86400: "3 d 0 h", 1e6: "11 d 14 h",
	} {
		if got := span(s); got != want {
			t.Errorf("%g s is %s, want %s", s, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "0.977 KiB", 1 << 20: "1 MiB", 1500 << 20: "1.46 GiB", 1_023_625 << 20: "0.976 TiB", 1 << 62: "4 EiB"} {
		if got := amount(n); got != want {
			t.Errorf("%d bytes are %s, want %s", n, got, want)
		}
	}
	for x, want := range map[float64]string{0: "0", 950: "950", 12345: "12.3k", 999.7: "1k", 999_600: "1M", 1.24e6: "1.24M"} {
		if got := thousands(x); got != want {
			t.Errorf("%g is %s, want %s", x, got, want)
		}
	}
}

// The bar counts runs and the jobs of those under way, and never reaches its end before the last run.
func TestBar(t *testing.T) {
	b := &bar{began: time.Now().Add(-10 * time.Second), jobs: 10, runs: make([]sim.Progress, 4), ended: make([]bool, 4)}
	if got := b.before(); got != "0 of 4 runs done, simulated 0s " {
		t.Errorf("at the start: %q", got)
	}
	b.done(0, &sim.Result{Events: 600_000})
	b.report(1, sim.Progress{Now: heddle.Time(90 * heddle.Second), Events: 300_000, Jobs: 5})
	b.report(2, sim.Progress{Now: heddle.Time(700 * heddle.Second), Events: 100_000, Jobs: 10})
	if got, want := b.position(), int64(1000+500+999); got != want {
		t.Errorf("at %d of 4000 steps, want %d", got, want)
	}
	if got := b.before(); got != "1 of 4 runs done, simulated 1m30s " {
		t.Errorf("on the way: %q", got)
	}
	if got := b.after(); got != " 100k events/s, 6s left" {
		t.Errorf("on the way: %q", got)
	}
	for i := range b.runs {
		b.done(i, &sim.Result{Events: 1})
	}
	if got := b.position(); got != 4000 {
		t.Errorf("at the end: %d of 4000 steps", got)
	}
}
