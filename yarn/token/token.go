// Package token is the tokens of YARN's protocols: what their identifiers say, the keys they are signed with,
// and the blob of credentials that a container is started with.
//
// It knows no clock, no connection and no table of applications: times and keys are passed in, and whether an
// attempt is alive is for those to say who keep attempts. Nothing here is safe for concurrent use.
package token

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

// The kinds of tokens, as they stand in [wire.Token].
const (
	AMRMKind       = "YARN_AM_RM_TOKEN"    // an application's master to the ResourceManager
	NMKind         = "NMToken"             // a master, or the ResourceManager for it, to a node
	ContainerKind  = "ContainerToken"      // what a node is shown to start a container
	ClientKind     = "YARN_CLIENT_TOKEN"   // a client to an application's master
	DelegationKind = "RM_DELEGATION_TOKEN" // a client to the ResourceManager without its own credentials
)

// keyBytes is how long a new key is: 64 bits, as long as the stock ResourceManager's.
const keyBytes = 8

// A Key is a master key: what holds it can sign tokens and check them.
type Key struct {
	ID    int32 // any number, negative too; identifiers name their key by it
	Bytes []byte
}

// FirstKey returns a random key with a random id: keys of one start are none of another's.
func FirstKey() (Key, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return Key{}, fmt.Errorf("no random number for the first key: %w", err)
	}
	return NewKey(int32(binary.BigEndian.Uint32(b[:])))
}

// NewKey returns a random key.
func NewKey(id int32) (Key, error) {
	b := make([]byte, keyBytes)
	if _, err := rand.Read(b); err != nil {
		return Key{}, fmt.Errorf("no random bytes for key %d: %w", id, err)
	}
	return Key{ID: id, Bytes: b}, nil
}

// IsZero reports whether k is no key.
func (k Key) IsZero() bool { return len(k.Bytes) == 0 }

// Password returns the password that belongs to an identifier: its HMAC-SHA1, 20 bytes.
func (k Key) Password(identifier []byte) []byte {
	mac := hmac.New(sha1.New, k.Bytes)
	mac.Write(identifier)
	return mac.Sum(nil)
}

// Verify reports whether password belongs to the identifier, in a time that does not depend on how much of
// it is right. Nothing belongs to the zero key.
func (k Key) Verify(identifier, password []byte) bool {
	return !k.IsZero() && hmac.Equal(k.Password(identifier), password)
}

// Wire returns the message by which nodes are told k.
func (k Key) Wire() *wire.MasterKey {
	return &wire.MasterKey{KeyId: new(k.ID), Bytes: k.Bytes}
}

// sign returns the token of an identifier.
func (k Key) sign(identifier proto.Message, kind, service string) *wire.Token {
	b := canonical(identifier)
	return &wire.Token{
		Identifier: b,
		Password:   k.Password(b),
		Kind:       new(kind),
		Service:    new(service),
	}
}
