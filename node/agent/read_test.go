package agent

import (
	"encoding/binary"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"heddle/node/api"
)

// What is asked for of files is in the next report, as far as it is there, and what is not asked for is not.
func TestFilesAreRead(t *testing.T) {
	const app = "application_1700000000000_0001"
	dir := t.TempDir()
	output := filepath.Join(dir, "usercache", "ann", "appcache", app, "output", "attempt_1700000000000_0001_m_000003_0")
	var index []byte
	for _, n := range []uint64{0, 1000, 300} { // where it starts, how long it was, how long it is
		index = binary.BigEndian.AppendUint64(index, n)
	}
	index = binary.BigEndian.AppendUint64(index, uint64(crc32.ChecksumIEEE(index)))
	if err := os.MkdirAll(output, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(output, "file.out.index"), index, 0o644); err != nil {
		t.Fatal(err)
	}
	s := newState(newTree(), []string{dir}, slog.New(slog.DiscardHandler))
	says := func(w *api.Wish) []api.Output {
		t.Helper()
		if w != nil {
			w.Version, w.Every, w.Lease = 1, 1000, 1000
			s.answer(time.Now(), w)
		}
		var r api.Sync
		s.report(&r)
		if err := r.Check(); len(r.Heaps) > 0 {
			t.Errorf("%+v, %v", r.Heaps, err)
		}
		return r.Outputs
	}
	for _, w := range []*api.Wish{nil, {}, {Outputs: []api.App{{ID: app, User: "bob"}, {ID: "nonsense", User: "ann"}}}, {Heaps: []string{container(1).ID}}} {
		if got := says(w); len(got) > 0 {
			t.Errorf("asked %+v: %v", w, got)
		}
	}
	want := []api.Output{{Attempt: filepath.Base(output), Bytes: 300}}
	for range 2 {
		if got := says(&api.Wish{Outputs: []api.App{{ID: app, User: "ann"}}}); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
