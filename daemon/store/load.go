package store

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"

	"go.etcd.io/bbolt"

	"heddle/yarn/ids"
)

// A State is the content of a store when it was opened.
type State struct {
	Epoch     int64   // how often the store has been opened: 1 the first time
	ClusterID string  // generated when the store was created, and unchanged since
	Starts    []int64 // times of the last starts, the earliest first, in milliseconds since 1970
	Apps      []App   // by id
	Attempts  []Attempt
	Runs      []Run
	Nodes     []Node
	Keys      Keys
	// Bad are the unusable records. They stay in the file. An application with one of them is left out of Apps, and its
	// attempts out of Attempts; all others are complete.
	Bad []Bad
	// Copied says that the store is a copy that is opened for the first time: its user goes back to an earlier state.
	Copied bool
	// Interrupted says that the last start did not finish converting the store, and that the last commit before that start
	// may be missing: see [State.separate].
	Interrupted bool
	// Salvaged is the report on a damaged file, if a new one with whatever could be read has replaced it; otherwise nil.
	Salvaged *Report

	kept   counts // actual numbers, whatever the file says
	older  bool   // the last commit may be missing
	inline []*App // whose submissions are part of their records
}

// A Bad is an unusable record.
type Bad struct {
	Bucket, Key string
	App         ids.App // the application that is left out because of it; zero for a record of no application
	Reason      string
}

// countedBuckets are the buckets whose records are counted.
var countedBuckets = []string{string(apps), string(attempts), string(runs), string(nodes), string(submissions)}

// initialise fills a new file.
func initialise(tx *bbolt.Tx) error {
	for _, name := range [][]byte{meta, apps, attempts, tokens, runs, nodes, submissions} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	b := tx.Bucket(meta)
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	return errors.Join(
		b.Put(keyFormat, strconv.AppendInt(nil, Format, 10)),
		put(b, keyEpoch, int64(0)),
		put(b, keyCluster, hex.EncodeToString(id[:])),
		put(b, keyCounts, counts{}),
	)
}

// put writes one record.
func put(b *bbolt.Bucket, key []byte, v any) error {
	record, err := encode(key, v)
	if err != nil {
		return err
	}
	return b.Put(key, record)
}

// load reads everything. The epoch it returns is one more than the file's, and one more again if the last commit may be
// missing, since that may have been a start. After a copy was made there may have been many starts, and more from the
// same copy, so a copy continues far beyond all of them, at a random distance.
func load(db *bbolt.DB, older bool) (state *State, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer caught(&err)
	state = &State{kept: counts{}, older: older}
	err = db.View(func(tx *bbolt.Tx) error {
		if err := state.loadMeta(tx); err != nil {
			return err
		}
		return state.loadRecords(tx)
	})
	return state, err
}

// loadMeta reads what everything else depends on. It checks the format first: nothing else is known of other formats.
func (s *State) loadMeta(tx *bbolt.Tx) error {
	b := tx.Bucket(meta)
	if b == nil {
		return errors.New("not a store of Heddle: it has no bucket meta; name another file")
	}
	text := string(b.Get(keyFormat))
	switch format, err := strconv.Atoi(text); {
	case err != nil || format < 1:
		return fmt.Errorf("not a store of Heddle: its format is %q; name another file", text)
	case format > Format:
		return fmt.Errorf("its format is %d, and this program supports up to %d: use the newer Heddle that wrote it", format, Format)
	}
	for _, name := range [][]byte{apps, attempts, tokens} {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("bucket %s is missing: restore the file from a copy", name)
		}
	}
	if err := get(b, keyEpoch, &s.Epoch); err != nil {
		return err
	}
	if record := b.Get(keyCopied); record != nil {
		err := decode(keyCopied, record, &s.Copied)
		s.Copied = s.Copied || err != nil // a damaged mark is taken for a copy's
		s.Interrupted = !s.Copied
	}
	s.older = s.older || s.Interrupted
	if s.Epoch++; s.older {
		s.Epoch++
	}
	if s.Copied {
		s.Epoch += epochJump + mathrand.Int64N(epochJump)
	}
	if s.Epoch < 1 || s.Epoch > maxEpoch {
		return fmt.Errorf("it was opened %d times, and container IDs allow for at most %d: move the file away to start with an empty store", s.Epoch, maxEpoch)
	}
	return get(b, keyCluster, &s.ClusterID)
}

// get reads one record that must exist.
func get(b *bbolt.Bucket, key []byte, v any) error {
	record := b.Get(key)
	if record == nil {
		return unreadable{fmt.Errorf("meta/%s is missing: restore the file from a copy", key)}
	}
	if err := decode(key, record, v); err != nil {
		return unreadable{fmt.Errorf("meta/%s: %w: restore the file from a copy", key, err)}
	}
	return nil
}

// An unreadable is the error for a record that a store cannot do without.
type unreadable struct{ error }

// loadRecords reads applications, attempts, runs, nodes and keys. It notes unusable records and leaves them out.
func (s *State) loadRecords(tx *bbolt.Tx) error {
	pieces := found{}
	err := errors.Join(
		s.each(tx, submissions, func(key, record []byte) {
			if id, err := pieces.add(key, record); err != nil {
				s.bad(submissions, key, id, err)
			}
		}),
		s.each(tx, apps, func(key, record []byte) {
			var a storedApp
			id, err := ids.ParseApp(string(key))
			if err == nil {
				err = decode(key, record, &a)
			}
			if err == nil && a.ID != id {
				err = fmt.Errorf("the record belongs to %s", a.ID)
			}
			switch {
			case err != nil:
			case a.inline:
				s.inline = append(s.inline, &a.App)
			default:
				a.Context, err = pieces.whole(id)
			}
			if err != nil {
				s.bad(apps, key, id, err)
				return
			}
			s.Apps = append(s.Apps, a.App)
		}),
		s.each(tx, attempts, func(key, record []byte) {
			var a Attempt
			id, err := ids.ParseAttempt(string(key))
			if err == nil {
				err = decode(key, record, &a)
			}
			if err == nil && a.ID != id {
				err = fmt.Errorf("the record belongs to %s", a.ID)
			}
			if err != nil {
				s.bad(attempts, key, id.App, err)
				return
			}
			s.Attempts = append(s.Attempts, a)
		}),
		s.each(tx, runs, func(key, record []byte) {
			var r Run
			k, err := parseRunKey(key)
			if err == nil {
				err = decode(key, record, &r)
			}
			if err != nil {
				s.bad(runs, key, ids.App{}, err)
				return
			}
			r.RunKey = k
			s.Runs = append(s.Runs, r)
		}),
		s.each(tx, nodes, func(key, record []byte) {
			var n Node
			id, err := ids.ParseNode(string(key))
			if err == nil {
				err = decode(key, record, &n)
			}
			if err != nil {
				s.bad(nodes, key, ids.App{}, err)
				return
			}
			n.ID = id
			s.Nodes = append(s.Nodes, n)
		}),
	)
	if err != nil {
		return err
	}
	if record := tx.Bucket(tokens).Get(keyAMRM); record != nil {
		if err := decode(keyAMRM, record, &s.Keys); err != nil {
			s.Keys = Keys{}
			s.bad(tokens, keyAMRM, ids.App{}, err)
		}
	}
	if record := tx.Bucket(meta).Get(keyStarts); record != nil {
		var kept starts
		if err := decode(keyStarts, record, &kept); err != nil {
			s.bad(meta, keyStarts, ids.App{}, err)
		}
		s.Starts = kept.Began
	}
	s.missing(tx)
	s.sort()
	s.leaveOut()
	return nil
}

// each calls f for every record of a bucket in key order. Keys out of order mean that the file is damaged.
func (s *State) each(tx *bbolt.Tx, bucket []byte, f func(key, record []byte)) error {
	b := tx.Bucket(bucket)
	if b == nil { // an older program's store
		return nil
	}
	var last []byte
	c := b.Cursor()
	for key, record := c.First(); key != nil; key, record = c.Next() {
		if last != nil && bytes.Compare(last, key) >= 0 {
			return fmt.Errorf("bucket %s is damaged: %q comes after %q; restore the file from a copy", bucket, key, last)
		}
		f(key, record)
		last = key
		s.kept[string(bucket)]++
	}
	return nil
}

// missing notes buckets whose number of records differs from what the file says. An older program does not count runs,
// nodes and pieces of submissions, and leaves them as they are.
func (s *State) missing(tx *bbolt.Tx) {
	var should counts
	if err := get(tx.Bucket(meta), keyCounts, &should); err != nil {
		s.bad(meta, keyCounts, ids.App{}, err)
		return
	}
	for _, bucket := range countedBuckets {
		got := s.kept[bucket]
		want, said := should[bucket]
		if !said && bucket != string(apps) && bucket != string(attempts) {
			continue
		}
		if got != want {
			s.bad([]byte(bucket), nil, ids.App{}, fmt.Errorf("there are %d records, but there were %d when the store was last written", got, want))
		}
	}
}

func (s *State) bad(bucket, key []byte, app ids.App, err error) {
	s.Bad = append(s.Bad, Bad{Bucket: string(bucket), Key: string(key), App: app, Reason: err.Error()})
}

func (s *State) sort() {
	slices.SortFunc(s.Apps, func(a, b App) int { return a.ID.Compare(b.ID) })
	slices.SortFunc(s.Attempts, func(a, b Attempt) int {
		if c := a.ID.App.Compare(b.ID.App); c != 0 {
			return c
		}
		return int(a.ID.N) - int(b.ID.N)
	})
}

// leaveOut removes applications with bad records, and attempts without an application, from the state.
func (s *State) leaveOut() {
	out := map[ids.App]bool{}
	for _, b := range s.Bad {
		out[b.App] = true
	}
	s.Apps = slices.DeleteFunc(s.Apps, func(a App) bool { return out[a.ID] })
	there := make(map[ids.App]bool, len(s.Apps))
	for _, a := range s.Apps {
		there[a.ID] = true
	}
	s.Attempts = slices.DeleteFunc(s.Attempts, func(a Attempt) bool {
		if there[a.ID.App] {
			return false
		}
		if !out[a.ID.App] {
			s.bad(attempts, []byte(a.ID.String()), a.ID.App, errors.New("its application is not in the store"))
		}
		return true
	})
}
