package read_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"heddle/node/read"
	"heddle/yarn/ids"
)

// A map has left its output on this node, for two reduces.
func Example() {
	dir, err := os.MkdirTemp("", "nm-local-dir")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	app := ids.App{Cluster: 1700000000000, Seq: 1}
	output := filepath.Join(dir, "usercache/ann/appcache", app.String(), "output/attempt_1700000000000_0001_m_000000_0")
	var index []byte
	for _, n := range []uint64{0, 1000, 300, 300, 2000, 500} { // start, raw length, and length in the file
		index = binary.BigEndian.AppendUint64(index, n)
	}
	index = binary.BigEndian.AppendUint64(index, uint64(crc32.ChecksumIEEE(index)))
	if err := os.MkdirAll(output, 0o755); err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile(filepath.Join(output, "file.out.index"), index, 0o644); err != nil {
		fmt.Println(err)
		return
	}

	outputs, err := read.NewApp([]string{dir}, "ann", app).Outputs(1000, time.Now().Add(time.Minute))
	for _, o := range outputs {
		fmt.Println(o.Attempt, o.Bytes, err)
	}
	// Output:
	// attempt_1700000000000_0001_m_000000_0 800 <nil>
}
