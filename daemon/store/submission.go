package store

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.etcd.io/bbolt"

	"heddle/yarn/ids"
)

// A submission, the Context of an [App], has records of its own, so that changes of the application do not write it
// again. Until format 2 it was part of the application's record.
type submission struct {
	app   ids.App
	bytes []byte
}

// pieceSize is the most bytes of a submission in one record. The library keeps up to four records on a page, however
// long they are, and writes the whole page when one of them changes.
const pieceSize = 32 << 10

// submissionPrefix returns what the keys of an application's pieces begin with.
func submissionPrefix(id ids.App) []byte {
	return fmt.Appendf(nil, "submission_%d_%04d/", id.Cluster, id.Seq)
}

// A pieceKey names the record of the nth of so many pieces of an application's submission, counted from 1.
type pieceKey struct {
	app   ids.App
	n, of int
}

func (k pieceKey) bytes() []byte { return fmt.Appendf(submissionPrefix(k.app), "%04d/%04d", k.n, k.of) }

// parsePieceKey parses what bytes returns.
func parsePieceKey(key []byte) (k pieceKey, err error) {
	_, err = fmt.Sscanf(string(key), "submission_%d_%d/%d/%d", &k.app.Cluster, &k.app.Seq, &k.n, &k.of)
	if err != nil || !bytes.Equal(k.bytes(), key) {
		return pieceKey{}, errors.New("its key does not name a piece of a submission")
	}
	return k, nil
}

// pieces yields the key and the record of each piece of a submission. There is at least one.
func (s submission) pieces() iter.Seq2[[]byte, []byte] {
	list := slices.Collect(slices.Chunk(s.bytes, pieceSize))
	if len(list) == 0 {
		list = [][]byte{nil}
	}
	return func(yield func(key, record []byte) bool) {
		for i, b := range list {
			key := pieceKey{s.app, i + 1, len(list)}.bytes()
			if !yield(key, seal(key, b)) {
				return
			}
		}
	}
}

// putSubmission creates or replaces a submission.
func (n counts) putSubmission(tx *bbolt.Tx, s submission) error {
	b := tx.Bucket(submissions)
	if err := n.dropAll(b, submissions, submissionPrefix(s.app)); err != nil {
		return err
	}
	for key, record := range s.pieces() {
		if err := b.Put(key, record); err != nil {
			return err
		}
		n[string(submissions)]++
	}
	return nil
}

// dropAll removes all records of a bucket whose keys begin with a prefix.
func (n counts) dropAll(b *bbolt.Bucket, name, prefix []byte) error {
	for {
		// A cursor must not be used after a deletion, so each iteration makes a new one.
		key, _ := b.Cursor().Seek(prefix)
		if !bytes.HasPrefix(key, prefix) {
			return nil
		}
		if err := b.Delete(bytes.Clone(key)); err != nil {
			return err
		}
		n[string(name)]--
	}
}

// found are the submissions that were found, by application. Pieces must be added in the order of their keys.
type found map[ids.App]*foundPieces

type foundPieces struct {
	n, of int // the last piece, of so many
	bytes []byte
	wrong error
}

// add reads the record of a piece.
func (f found) add(key, record []byte) (ids.App, error) {
	k, err := parsePieceKey(key)
	if err != nil {
		return k.app, err
	}
	p := f[k.app]
	if p == nil {
		p = &foundPieces{of: k.of}
		f[k.app] = p
	}
	b, err := body(key, record)
	switch p.n++; {
	case p.wrong != nil:
	case err != nil:
		p.wrong = fmt.Errorf("piece %d of %d of its submission cannot be read", k.n, k.of)
	case k.n != p.n || k.of != p.of:
		p.wrong = fmt.Errorf("piece %d of %d of its submission follows piece %d of %d", k.n, k.of, p.n-1, p.of)
	}
	p.bytes = append(p.bytes, b...)
	return k.app, err
}

// whole returns the submission of an application.
func (f found) whole(id ids.App) ([]byte, error) {
	p := f[id]
	switch {
	case p == nil:
		return nil, errors.New("its submission is missing")
	case p.wrong != nil:
		return nil, p.wrong
	case p.n != p.of:
		return nil, fmt.Errorf("its submission has %d pieces of %d", p.n, p.of)
	}
	return p.bytes, nil
}

// separate gives submissions that are part of applications' records, as older programs write them, records of their own.
// Its first commit makes both of the file's first pages intact. If the last commit before may be missing, a mark keeps
// that known to the next start if this one ends early. A copy keeps the mark that it has: its next start skips more.
func (s *State) separate(db *bbolt.DB) error {
	for list := s.inline; len(list) > 0; {
		err := db.Update(func(tx *bbolt.Tx) error {
			if err := modernise(tx); err != nil {
				return err
			}
			for size := 0; len(list) > 0 && size < maxBatchBytes; list = list[1:] {
				a := list[0]
				size += len(a.Context)
				if err := s.kept.putSubmission(tx, submission{a.ID, a.Context}); err != nil {
					return err
				}
				if err := put(tx.Bucket(apps), []byte(a.ID.String()), a); err != nil {
					return err
				}
			}
			b := tx.Bucket(meta)
			if s.older && !s.Copied {
				if err := put(b, keyCopied, false); err != nil {
					return err
				}
			}
			return put(b, keyCounts, s.kept)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
