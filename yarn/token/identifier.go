package token

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// MaxIdentifier is the maximum size of an identifier, in bytes. The largest that is made, a container's with its
// resources, tags and log file patterns, has a few hundred.
const MaxIdentifier = 64 << 10

// AMRM returns the token with which an attempt's master speaks to the ResourceManager. Its service is empty: the master's
// own library fills in the address.
func AMRM(a ids.Attempt, k Key) *wire.Token {
	id := &wire.AMRMTokenIdentifier{AppAttemptId: conv.WireAttempt(a), KeyId: new(k.ID)}
	return k.sign(id, AMRMKind, "")
}

// NM returns the token with which an attempt's master, or the ResourceManager on its behalf, speaks to a node. The user
// is the one who submitted the application.
func NM(a ids.Attempt, n ids.Node, user string, k Key) *wire.Token {
	id := &wire.NMTokenIdentifier{
		AppAttemptId: conv.WireAttempt(a),
		NodeId:       conv.WireNode(n),
		AppSubmitter: new(user),
		KeyId:        new(k.ID),
	}
	return k.sign(id, NMKind, n.String())
}

// Container returns the token that a node must be shown to start the container. Its master key id is set to that of k;
// fields that are not in the definitions, which a client's submission may have contained, are dropped. id itself is not
// changed.
func Container(id *wire.ContainerTokenIdentifier, k Key, service string) *wire.Token {
	id = proto.CloneOf(id)
	id.MasterKeyId = new(k.ID)
	return k.sign(id, ContainerKind, service)
}

// Client returns the token with which a client speaks to an attempt's master, signed with the key that the master was
// given when it registered. Its service is empty: the client fills in the master's address.
func Client(a ids.Attempt, client string, k Key) *wire.Token {
	id := &wire.ClientToAMTokenIdentifier{AppAttemptId: conv.WireAttempt(a), ClientName: new(client)}
	return k.sign(id, ClientKind, "")
}

// Delegation returns the token with which a client speaks to the ResourceManager on its owner's behalf. Its master key id
// is set to that of k. id itself is not changed.
func Delegation(id *wire.YARNDelegationTokenIdentifier, k Key, service string) *wire.Token {
	id = proto.CloneOf(id)
	id.MasterKeyId = new(k.ID)
	return k.sign(id, DelegationKind, service)
}

// ParseAMRM reads the identifier of an application master's token: its attempt, and the key that signed it. It does not
// check that this is true; see [Key.Verify].
func ParseAMRM(identifier []byte) (a ids.Attempt, keyID int32, err error) {
	id := &wire.AMRMTokenIdentifier{}
	if err := parse(AMRMKind, identifier, id, 1, 2); err != nil {
		return ids.Attempt{}, 0, err
	}
	return conv.Attempt(id.AppAttemptId), id.GetKeyId(), nil
}

// ParseNM reads the identifier of a token for a node.
func ParseNM(identifier []byte) (*wire.NMTokenIdentifier, error) {
	id := &wire.NMTokenIdentifier{}
	if err := parse(NMKind, identifier, id, 1, 2, 3, 4); err != nil {
		return nil, err
	}
	return id, nil
}

// ParseContainer reads the identifier of a container's token.
func ParseContainer(identifier []byte) (*wire.ContainerTokenIdentifier, error) {
	id := &wire.ContainerTokenIdentifier{}
	if err := parse(ContainerKind, identifier, id, 1, 2, 3, 4, 5, 6, 7); err != nil {
		return nil, err
	}
	return id, nil
}

// ParseClient reads the identifier of a client's token for an application's master.
func ParseClient(identifier []byte) (*wire.ClientToAMTokenIdentifier, error) {
	id := &wire.ClientToAMTokenIdentifier{}
	if err := parse(ClientKind, identifier, id, 1, 2); err != nil {
		return nil, err
	}
	return id, nil
}

// ParseDelegation reads the identifier of a ResourceManager delegation token.
func ParseDelegation(identifier []byte) (*wire.YARNDelegationTokenIdentifier, error) {
	id := &wire.YARNDelegationTokenIdentifier{}
	if err := parse(DelegationKind, identifier, id, 1, 6, 7); err != nil {
		return nil, err
	}
	return id, nil
}

// parse reads an identifier and checks that it has the required fields.
func parse(kind string, identifier []byte, id proto.Message, need ...protoreflect.FieldNumber) error {
	if len(identifier) > MaxIdentifier {
		return fmt.Errorf("identifier of a token %s: %d bytes, at most %d are allowed", kind, len(identifier), MaxIdentifier)
	}
	if err := proto.Unmarshal(identifier, id); err != nil {
		return fmt.Errorf("identifier of a token %s: %w", kind, err)
	}
	m := id.ProtoReflect()
	for _, n := range need {
		if f := m.Descriptor().Fields().ByNumber(n); !m.Has(f) {
			return fmt.Errorf("identifier of a token %s: %s is missing", kind, f.Name())
		}
	}
	return nil
}

// canonical returns the bytes of an identifier as a node recomputes them to check a token: the fields of the definitions,
// ascending, each once. It is up to the node to refuse missing required fields inside.
func canonical(id proto.Message) []byte {
	dropUnknown(id.ProtoReflect())
	b, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(id)
	if err != nil {
		panic("proto2 texts need not be UTF-8, so an identifier always has bytes: " + err.Error())
	}
	return b
}

// dropUnknown removes fields that are not in the definitions from m and all nested messages.
func dropUnknown(m protoreflect.Message) {
	m.SetUnknown(nil)
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Message() == nil {
			return true
		}
		if !f.IsList() {
			dropUnknown(v.Message())
			return true
		}
		for i := range v.List().Len() {
			dropUnknown(v.List().Get(i).Message())
		}
		return true
	})
}
