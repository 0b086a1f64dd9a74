package store

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"

	"heddle/rm"
	"heddle/yarn/ids"
)

// MaxRecord is the maximum size of a record in bytes, of an application with its submission. A larger record fails its
// own commit and nothing else.
const MaxRecord = 8 << 20

// A Change puts or drops one record. What it points to must not be modified after it is handed in.
type Change struct {
	bucket []byte
	key    []byte
	value  any     // nil to drop
	owner  ids.App // of a record: must exist; of a drop: what belongs to it is dropped too
	size   int     // approximate size of the byte fields, for the limit on what waits

	submission *submission // put too, if not nil
}

// PutApp creates or replaces an application's record and its submission, the record's Context.
func PutApp(a App) Change {
	return Change{
		bucket: apps, key: []byte(a.ID.String()), value: &a, size: len(a.Context) + len(a.Diagnostics),
		submission: &submission{a.ID, a.Context},
	}
}

// UpdateApp replaces an application's record and leaves its submission as it is: the record's Context is ignored. The
// application must exist, from an earlier commit or from an earlier change of the same commit.
func UpdateApp(a App) Change {
	return Change{bucket: apps, key: []byte(a.ID.String()), value: &a, owner: a.ID, size: len(a.Diagnostics)}
}

// PutAttempt creates or replaces an attempt's record. Its application must exist, from an earlier commit or from an
// earlier change of the same commit.
func PutAttempt(a Attempt) Change {
	return Change{
		bucket: attempts, key: []byte(a.ID.String()), value: &a, owner: a.ID.App,
		size: len(a.Diagnostics),
	}
}

// DropAttempt removes an attempt. Dropping an attempt that does not exist does nothing.
func DropAttempt(id ids.Attempt) Change {
	return Change{bucket: attempts, key: []byte(id.String())}
}

// DropApp removes an application with its submission and all its attempts. Dropping an application that does not exist
// does nothing.
func DropApp(id ids.App) Change {
	return Change{bucket: apps, key: []byte(id.String()), owner: id}
}

// PutRun creates or replaces the record of a user and name.
func PutRun(r Run) Change {
	return Change{bucket: runs, key: runKey(r.RunKey), value: &r, size: len(r.User) + len(r.Name)}
}

// DropRun removes the record of a user and name. Dropping a record that does not exist does nothing.
func DropRun(k rm.RunKey) Change {
	return Change{bucket: runs, key: runKey(k)}
}

// PutNode creates or replaces a node's record.
func PutNode(n Node) Change {
	return Change{bucket: nodes, key: []byte(n.ID.String()), value: &n, size: len(n.Rack) + len(n.HTTP)}
}

// DropNode removes a node. Dropping a node that does not exist does nothing.
func DropNode(id ids.Node) Change {
	return Change{bucket: nodes, key: []byte(id.String())}
}

// PutStarts replaces the dates of starts, ordered from the earliest; only the last ones are kept.
func PutStarts(began []int64) Change {
	return Change{bucket: meta, key: keyStarts, value: &starts{began[max(0, len(began)-maxStarts):]}}
}

// PutKeys replaces the secrets of the masters' tokens.
func PutKeys(k Keys) Change {
	return Change{bucket: tokens, key: keyAMRM, value: &k}
}

// encodeAll returns the records of the changes, nil for drops. An error concerns only these changes.
func encodeAll(tx *bbolt.Tx, changes []Change) ([][]byte, error) {
	out := make([][]byte, len(changes))
	alive := map[string]bool{} // what earlier changes did to applications
	for i, c := range changes {
		if c.value != nil && !c.owner.IsZero() {
			owner := c.owner.String()
			there, said := alive[owner]
			if !said {
				there = tx.Bucket(apps).Get([]byte(owner)) != nil
			}
			if !there {
				return nil, fmt.Errorf("%s: its application %s is not in the store", c.key, owner)
			}
		}
		if bytes.Equal(c.bucket, apps) {
			alive[string(c.key)] = c.value != nil
		}
		if c.value == nil {
			continue
		}
		record, err := encode(c.key, c.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.key, err)
		}
		size := len(record)
		if c.submission != nil {
			size += len(c.submission.bytes)
		}
		if size > MaxRecord {
			return nil, fmt.Errorf("%s: its record has %d bytes; the limit is %d", c.key, size, MaxRecord)
		}
		out[i] = record
	}
	return out, nil
}

// counts is the number of records in each bucket, by name. The file contains it too, so that lost records are noticed.
type counts map[string]int

// apply writes the changes with the records that encodeAll returned. An error concerns the store.
func (n counts) apply(tx *bbolt.Tx, changes []Change, records [][]byte) error {
	for i, c := range changes {
		bucket := tx.Bucket(c.bucket)
		there := bucket.Get(c.key) != nil
		if c.value != nil {
			if err := bucket.Put(c.key, records[i]); err != nil {
				return err
			}
			if !there {
				n[string(c.bucket)]++
			}
			if c.submission != nil {
				if err := n.putSubmission(tx, *c.submission); err != nil {
					return err
				}
			}
			continue
		}
		if err := bucket.Delete(c.key); err != nil {
			return err
		}
		if there {
			n[string(c.bucket)]--
		}
		if c.owner.IsZero() {
			continue
		}
		if err := n.dropAll(tx.Bucket(attempts), attempts, fmt.Appendf(nil, "appattempt_%d_%04d_", c.owner.Cluster, c.owner.Seq)); err != nil {
			return err
		}
		if err := n.dropAll(tx.Bucket(submissions), submissions, submissionPrefix(c.owner)); err != nil {
			return err
		}
	}
	return nil
}
