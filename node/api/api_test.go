package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"heddle/node/api"
)

// TestCheck breaks each bound alone.
func TestCheck(t *testing.T) {
	sync := func(change func(s *api.Sync)) *api.Sync {
		s := &api.Sync{
			Node: "host:8041", Agent: "a", Containers: []api.Container{{ID: "c"}}, Failed: []api.Failure{{ID: "c"}},
			Outputs: []api.Output{{Attempt: "a"}}, Heaps: []api.Heap{{ID: "c"}}, DiskBusy: api.MaxDiskBusy,
		}
		change(s)
		return s
	}
	if err := sync(func(*api.Sync) {}).Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(s *api.Sync){
		"node":          func(s *api.Sync) { s.Node = "" },
		"agent":         func(s *api.Sync) { s.Agent = strings.Repeat("a", api.MaxID+1) },
		"version":       func(s *api.Sync) { s.Version = strings.Repeat("a", api.MaxID+1) },
		"can":           func(s *api.Sync) { s.Can = make([]string, api.MaxID+1) },
		"containers":    func(s *api.Sync) { s.Containers = make([]api.Container, api.MaxContainers+1) },
		"disk_busy_ms":  func(s *api.Sync) { s.DiskBusy++ },
		"containers[0]": func(s *api.Sync) { s.Containers[0].CPU = -1 },
		"outputs":       func(s *api.Sync) { s.Outputs = make([]api.Output, api.MaxOutputs+1) },
		"outputs[0]":    func(s *api.Sync) { s.Outputs[0].Bytes = -1 },
		"heaps[0]":      func(s *api.Sync) { s.Heaps[0].RSS = -1 },
		"failed[0]":     func(s *api.Sync) { s.Failed[0].Error = strings.Repeat("a", api.MaxError+1) },
	} {
		if err := sync(change).Check(); err == nil || !strings.HasPrefix(err.Error(), name+": want ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := sync(func(s *api.Sync) { s.DiskBusy = -1 }).Check(); err == nil || !strings.HasSuffix(err.Error(), "got -1") {
		t.Error(err)
	}
	wish := func(change func(w *api.Wish)) *api.Wish {
		w := &api.Wish{Version: 1, Every: 5000, Lease: 30000, Want: []api.Want{{ID: "c"}}}
		change(w)
		return w
	}
	if err := wish(func(*api.Wish) {}).Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(w *api.Wish){
		"version":           func(w *api.Wish) { w.Version = 0 },
		"every_ms":          func(w *api.Wish) { w.Every = 0 },
		"lease_ms":          func(w *api.Wish) { w.Lease = 4999 },
		"want":              func(w *api.Wish) { w.Want = make([]api.Want, api.MaxContainers+1) },
		"outputs_of":        func(w *api.Wish) { w.Heaps = make([]string, api.MaxContainers+1) },
		"want[0].id":        func(w *api.Wish) { w.Want[0].ID = "" },
		"want[0].weight":    func(w *api.Wish) { w.Want[0].Weight = -1 },
		"want[0].freeze_ms": func(w *api.Wish) { w.Want[0].Freeze = api.MaxFreeze + 1 },
		"want[0].quota":     func(w *api.Wish) { w.Want[0].Quota = api.MinQuota - 1 },
		"want[0].high_mib":  func(w *api.Wish) { w.Want[0].High = -1 },
	} {
		if err := wish(change).Check(); err == nil || !strings.HasPrefix(err.Error(), name+": want ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzWish decodes arbitrary answers to an agent: each is refused or within bounds.
func FuzzWish(f *testing.F) {
	f.Add([]byte(`{"version":1,"every_ms":5000,"lease_ms":30000,"want":[{"id":"c","park":true,"weight":5}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var w api.Wish
		if json.Unmarshal(b, &w) != nil || w.Check() != nil {
			return
		}
		for _, c := range w.Want {
			if c.Freeze > api.MaxFreeze || c.Weight < 0 || c.ID == "" {
				t.Fatalf("%+v", c)
			}
		}
	})
}
