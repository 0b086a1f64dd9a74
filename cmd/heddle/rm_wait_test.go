package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heddle/client"
)

// A command says what it waits for once that takes longer than people like to wait, and only then.
func TestWaitingSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		a := &app{err: &said}
		w := a.waiting(1, func() string { return "waiting for it " })
		time.Sleep(patience - time.Millisecond)
		w.at(0)
		w.end()
		time.Sleep(patience)
		synctest.Wait()
		if said.Len() > 0 {
			t.Errorf("something short was announced: %q", said.String())
		}

		w = a.waiting(1, func() string { return "waiting for it " })
		time.Sleep(2 * patience)
		synctest.Wait()
		w.at(1)
		w.end()
		w.end()
		if got := said.String(); got != "heddle: waiting for it\n" {
			t.Errorf("said %q", got)
		}
	})
}

// A user who stops waiting is told about every application that was still ending, and none is reported as over.
func TestKillStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			answer(w, http.StatusAccepted, []byte(`{"state":"RUNNING"}`))
			if strings.Contains(r.URL.Path, "_0002") {
				stop()
			}
			return
		}
		answer(w, http.StatusOK, []byte(`{"app":{"id":"application_1_0001","state":"RUNNING","finalStatus":"UNDEFINED"}}`))
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	rows, errs := killAll(ctx, c, []string{"application_1_0001", "application_1_0002"}, func() {})
	for _, k := range rows {
		if k.Killed || k.Error == "" {
			t.Errorf("%+v", k)
		}
	}
	if len(errs) != 2 {
		t.Errorf("%v", errs)
	}
	if rows, _ = killAll(ctx, c, []string{"application_1_0001"}, func() {}); rows[0].Error != "stopped" {
		t.Errorf("stopped before anything was asked: %q", rows[0].Error)
	}
}
