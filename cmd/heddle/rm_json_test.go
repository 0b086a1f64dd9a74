package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"heddle/yarn/rest"
)

// What -o json prints of applications, explanations and queues is what Heddle serves, member for member.
func TestPrintsWhatIsServed(t *testing.T) {
	url := startFake(t, true, t.Cleanup)
	const id = "application_1795246246143_0007"
	for path, args := range map[string][]string{
		"/apps":                {"app", "list", "--all"},
		"/apps/" + id:          {"app", "status", id},
		"/apps/" + id + "/why": {"why", id},
		"/queues":              {"queue", "list"},
	} {
		resp, err := http.Get(url + rest.HeddleBase + path)
		if err != nil {
			t.Fatal(err)
		}
		served, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		var out bytes.Buffer
		root := newRoot(&app{out: &out, err: io.Discard, log: slog.New(slog.DiscardHandler)})
		root.SetArgs(append(args, "--rm", url, "-o", "json"))
		if err := root.Execute(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		var got, want bytes.Buffer
		if err := json.Compact(&got, out.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&want, served); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%v prints\n%s\nand %s serves\n%s", args, &got, path, &want)
		}
	}
}
