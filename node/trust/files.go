package trust

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The kinds of blocks in files.
const (
	keyBlock   = "PRIVATE KEY"
	certBlock  = "CERTIFICATE"
	tokenBlock = "HEDDLE TOKEN KEY"
)

const (
	maxFile    = 64 << 10
	folderMode = 0o700
	fileMode   = 0o600
)

// readBlocks reads a file that holds exactly these blocks. Nobody else may have access to the file.
func readBlocks(path string, kinds ...string) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s has mode %04o, so that others could read the key in it; run: chmod %o %s",
			path, mode, fileMode, path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}
	blocks := make([][]byte, len(kinds))
	for i, kind := range kinds {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil || b.Type != kind {
			return nil, fmt.Errorf("%s is damaged: block %d should be %s; restore it from a copy, or remove it to start anew",
				path, i+1, kind)
		}
		blocks[i] = b.Bytes
	}
	return blocks, nil
}

// writeBlocks writes a file completely or not at all, even if power fails. put gives it its name.
func writeBlocks(path string, put func(from, to string) error, blocks ...*pem.Block) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // already gone if put renamed it
	for _, b := range blocks {
		err = errors.Join(err, pem.Encode(f, b))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = put(f.Name(), path)
	}
	if err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
