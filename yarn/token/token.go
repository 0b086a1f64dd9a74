// Package token implements the tokens of YARN's protocols: their identifiers, the keys that sign them, and the
// credentials that a container is started with.
//
// It knows no clock, no connection and no table of applications: times and keys are passed in, and whether an attempt is
// alive is up to the code that keeps attempts. Nothing here is safe for concurrent use.
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

// The kinds of tokens, as in [wire.Token].
const (
	AMRMKind       = "YARN_AM_RM_TOKEN"    // an application's master to the ResourceManager
	NMKind         = "NMToken"             // a master, or the ResourceManager for it, to a node
	ContainerKind  = "ContainerToken"      // what a node is shown to start a container
	ClientKind     = "YARN_CLIENT_TOKEN"   // a client to an application's master
	DelegationKind = "RM_DELEGATION_TOKEN" // a client without credentials of its own to the ResourceManager
)

// keyBytes is the length of a new key: 64 bits, as in the stock ResourceManager.
const keyBytes = 8

// A Key is a master key: its holder can sign and check tokens.
type Key struct {
	ID    int32 // any number, negative too; identifiers name their key by it
	Bytes []byte
}

// FirstKey returns a random key with a random id: keys of one start differ from those of another.
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

// Password returns the password of an identifier: its HMAC-SHA1, 20 bytes.
func (k Key) Password(identifier []byte) []byte {
	mac := hmac.New(sha1.New, k.Bytes)
	mac.Write(identifier)
	return mac.Sum(nil)
}

// Verify reports whether password belongs to the identifier, in constant time however much of it is right. Nothing
// belongs to the zero key.
func (k Key) Verify(identifier, password []byte) bool {
	return !k.IsZero() && hmac.Equal(k.Password(identifier), password)
}

// Wire returns the message that passes k to nodes.
func (k Key) Wire() *wire.MasterKey {
	return &wire.MasterKey{KeyId: new(k.ID), Bytes: k.Bytes}
}

// sign returns the token with an identifier.
func (k Key) sign(identifier proto.Message, kind, service string) *wire.Token {
	b := canonical(identifier)
	return &wire.Token{
		Identifier: b,
		Password:   k.Password(b),
		Kind:       new(kind),
		Service:    new(service),
	}
}
