package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"heddle/test/hollow"
)

// TestMain is also the ResourceManager, when a test starts one.
func TestMain(m *testing.M) {
	if os.Getenv(asManager) == "" {
		os.Exit(m.Run())
	}
	if err := manage(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A small cluster is filled and measured: every deed that the policy wanted is done once and as wanted.
func TestSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("this takes ten seconds")
	}
	s := settings{
		nodes: 100, containers: 3, shared: 20, deeds: 50, every: 100 * time.Millisecond, measured: 2 * time.Second, profile: "capacity",
		log: slog.New(slog.DiscardHandler),
	}
	steps, err := run(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 3 {
		t.Fatalf("%d steps", len(steps))
	}
	for i, st := range steps {
		if st.beats == 0 || st.resident == 0 || st.failed > 0 || i == 0 && st.syncs > 0 || (len(st.lags) > 0) != (i == 2) {
			t.Errorf("%+v", st)
		}
	}
	var out bytes.Buffer
	if err := table(&out, steps); err != nil || strings.Count(out.String(), "\n") != 4 {
		t.Errorf("%v:\n%s", err, &out)
	}
}

// Settings that cannot be measured are refused, with a reason.
func TestRefused(t *testing.T) {
	usual := settings{nodes: 10, containers: 3, shared: 1, deeds: 10, every: time.Second}
	for want, change := range map[string]func(*settings){
		"nodes":            func(s *settings) { s.nodes = 0 },
		"one deed":         func(s *settings) { s.every = time.Millisecond },
		"there are contai": func(s *settings) { s.deeds = 31 },
		"files open":       func(s *settings) { s.nodes = hollow.MostNodes },
	} {
		s := usual
		if change(&s); s.check() == nil || !strings.Contains(s.check().Error(), want) {
			t.Errorf("%s: %v", want, s.check())
		}
	}
	if err := usual.check(); err != nil {
		t.Error(err)
	}
}

// A weight says when it was wanted.
func TestStamps(t *testing.T) {
	for _, at := range []int64{0, 1, 899_999, 900_000, 12_345_678} {
		for _, lag := range []int64{0, 999, 500_000} {
			if got, ok := since(stamp(at), at*1000+lag*1000+7); !ok || got != time.Duration(lag*1000+7)*time.Microsecond {
				t.Errorf("at %d, %d ms later: %v, %v", at, lag, got, ok)
			}
		}
	}
	for _, weight := range []int64{0, 100, firstStamp - 1, firstStamp + numStamps} {
		if _, ok := since(weight, 0); ok {
			t.Errorf("%d is a stamp", weight)
		}
	}
}

// The median of ten lags is the fifth-shortest.
func TestLag(t *testing.T) {
	s := step{}
	for i := range 10 {
		s.lags = append(s.lags, time.Duration(i+1)*time.Second)
	}
	if got := []time.Duration{s.lag(0.5), s.lag(0.99), s.lag(1), (&step{}).lag(0.5)}; fmt.Sprint(got) != "[5s 10s 10s 0s]" {
		t.Error(got)
	}
}
