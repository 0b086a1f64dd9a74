package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"heddle/rm"
	"heddle/yarn/ids"
)

// The records of applications, attempts, last runs and nodes are the machine's.
type (
	// App is the record of an application.
	App = rm.AppRecord
	// Attempt is the record of one run of an application's master.
	Attempt = rm.AttemptRecord
	// Run is the record of the last applications of a user and name.
	Run = rm.RunRecord
	// Node is the record of a NodeManager.
	Node = rm.NodeRecord
)

// A Key is a secret that signs tokens.
type Key struct {
	ID    int32
	Bytes []byte
	// Since is when the key became, or will become, the one that signs, in milliseconds since 1970.
	Since int64
}

// Keys are the secrets of the tokens that masters present when they call. Keys that do not exist are nil.
type Keys struct {
	Current *Key `json:",omitempty"`
	Next    *Key `json:",omitempty"`
}

// maxStarts is how many starts are remembered.
const maxStarts = 16

// starts holds the times of the last starts, in milliseconds since 1970.
type starts struct{ Began []int64 }

// A record is its checksum in hexadecimal, a space, and JSON or a piece of a [submission], so that people can read it and
// a flipped bit is noticed: bbolt's data pages have no checksums. The checksum covers the key too.
const sumDigits = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Ids are stored as their parts.
type (
	appParts struct {
		Cluster int64
		Seq     int32
	}
	attemptParts struct {
		App appParts
		N   int32
	}
	nodeParts struct {
		Host string
		Port int32
	}
	appInFile struct {
		ID       appParts
		Separate bool `json:",omitempty"` // its Context has records of its own
		*rm.AppRecord
	}
	attemptInFile struct {
		ID   attemptParts
		Node nodeParts
		*rm.AttemptRecord
	}
)

// A storedApp is an application's record as it is read. If it is not inline, its Context has records of its own.
type storedApp struct {
	App
	inline bool
}

// inFile returns v in the form in which it is stored. The Context of an application is left out.
func inFile(v any) any {
	switch v := v.(type) {
	case *App:
		without := *v
		without.Context = nil
		return appInFile{appParts(v.ID), true, &without}
	case *Attempt:
		return attemptInFile{attemptParts{appParts(v.ID.App), v.ID.N}, nodeParts(v.Node), v}
	}
	return v
}

// fromFile reads the JSON of a record into v.
func fromFile(body []byte, v any) error {
	switch v := v.(type) {
	case *storedApp:
		f := appInFile{AppRecord: &v.App}
		err := json.Unmarshal(body, &f)
		v.ID, v.inline = ids.App(f.ID), !f.Separate
		return err
	case *Attempt:
		f := attemptInFile{AttemptRecord: v}
		err := json.Unmarshal(body, &f)
		v.ID, v.Node = ids.Attempt{App: ids.App(f.ID.App), N: f.ID.N}, ids.Node(f.Node)
		return err
	}
	return json.Unmarshal(body, v)
}

// runKey returns the key of a user and name: the length of the user's name in bytes, and both names.
func runKey(k rm.RunKey) []byte {
	return fmt.Appendf(nil, "%d:%s/%s", len(k.User), k.User, k.Name)
}

// parseRunKey parses what runKey returns.
func parseRunKey(key []byte) (rm.RunKey, error) {
	length, both, _ := strings.Cut(string(key), ":")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n >= len(both) || both[n] != '/' {
		return rm.RunKey{}, errors.New("its key does not consist of a user and a name")
	}
	return rm.RunKey{User: both[:n], Name: both[n+1:]}, nil
}

// encode returns the record of v, a pointer, under key.
func encode(key []byte, v any) ([]byte, error) {
	body, err := json.Marshal(inFile(v))
	if err != nil {
		return nil, err
	}
	return seal(key, body), nil
}

// seal returns the record with that body under key.
func seal(key, body []byte) []byte {
	record := make([]byte, 0, sumDigits+1+len(body))
	return append(fmt.Appendf(record, "%0*x ", sumDigits, sum(key, body)), body...)
}

// body returns what follows the checksum of the record found under key.
func body(key, record []byte) ([]byte, error) {
	text, body, found := bytes.Cut(record, []byte{' '})
	want, err := strconv.ParseUint(string(text), 16, 32)
	if !found || err != nil || len(text) != sumDigits {
		return nil, fmt.Errorf("the record has %d bytes and does not begin with a checksum", len(record))
	}
	if got := sum(key, body); uint64(got) != want {
		return nil, fmt.Errorf("stated checksum %08x, actual checksum %08x: the record is damaged", want, got)
	}
	return body, nil
}

// decode reads the record found under key into v.
func decode(key, record []byte, v any) error {
	text, err := body(key, record)
	if err != nil {
		return err
	}
	if err := fromFile(text, v); err != nil {
		return fmt.Errorf("not a record of this version: %w", err)
	}
	return nil
}

func sum(key, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, body)
}
