package conf

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files")

// The report of a folder holds everything that was read and everything that was not.
func TestReportGolden(t *testing.T) {
	for _, dir := range []string{"nested", "drf"} {
		t.Run(dir, func(t *testing.T) {
			r, err := CheckFile(filepath.Join("testdata", dir))
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := r.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", dir+".golden")
			if *rewrite {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
