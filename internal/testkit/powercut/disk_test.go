package powercut

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func filled(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }

// found cuts many times and counts the outcomes by the first byte of each sector.
func found(d *Disk, name string) map[string]int {
	out := map[string]int{}
	for seed := range uint64(2000) {
		text, there := d.Cut(rand.New(rand.NewPCG(seed, 0)))[name]
		if !there {
			out["none"]++
			continue
		}
		key := ""
		for i := 0; i < len(text); i += Sector {
			key += string(text[i])
		}
		out[key]++
	}
	return out
}

// Any sectors that are not synced may be there, and a file has one of the sizes that it had; what is synced is there.
func TestCut(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), filled('a', 2*Sector), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := NewDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	x := d.names["x"]
	all := func(when string, want ...string) {
		t.Helper()
		got := found(d, "x")
		if len(got) != len(want) {
			t.Errorf("%s, found are %v; want %q", when, got, want)
		}
		for _, k := range want {
			if got[k] == 0 {
				t.Errorf("%s, %q is never found: %v", when, k, got)
			}
		}
	}
	all("before anything", "aa")
	d.Do(Op{Kind: Write, File: x, At: 0, Data: filled('b', 2*Sector)})
	all("after a write", "aa", "ab", "ba", "bb")
	d.Do(Op{Kind: Write, File: x, At: Sector, Data: filled('c', Sector)})
	all("after another", "aa", "ab", "ba", "bb", "ac", "bc")
	if n := d.Loose("x"); n != 2 {
		t.Errorf("%d ops are loose", n)
	}
	d.Do(Op{Kind: Sync, File: x})
	all("after a sync", "bc")
	d.Do(Op{Kind: Resize, File: x, At: 3 * Sector})
	d.Do(Op{Kind: Write, File: x, At: 2 * Sector, Data: filled('d', Sector)})
	all("after it grew", "bc", "bcd", "bc\x00")
	d.Do(Op{Kind: Resize, File: x, At: Sector})
	all("after it shrank", "b", "bc", "bcd", "bc\x00")
	d.Do(Op{Kind: Sync, File: x})
	all("after a sync", "b")
}

// A name is there once its folder is synced, and a file's content once the file is.
func TestNames(t *testing.T) {
	d, err := NewDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	is := func(name string, want ...string) {
		t.Helper()
		got := found(d, name)
		if len(got) != len(want) {
			t.Errorf("%s: found are %v, want %q", name, got, want)
		}
		for _, k := range want {
			if got[k] == 0 {
				t.Errorf("%s: %q is never found: %v", name, k, got)
			}
		}
	}
	d.Do(Op{Kind: Create, File: 7, Name: "new"})
	d.Do(Op{Kind: Write, File: 7, Data: filled('a', Sector)})
	is("new", "none", "", "a", "\x00")
	d.Do(Op{Kind: Rename, Name: "new", To: "x"})
	is("x", "none", "", "a", "\x00")
	d.Do(Op{Kind: Sync, File: 7})
	is("x", "none", "a")
	d.Do(Op{Kind: SyncFolder})
	is("x", "a")
	is("new", "none")
	d.Do(Op{Kind: Remove, Name: "x"})
	is("x", "a", "none")
}
