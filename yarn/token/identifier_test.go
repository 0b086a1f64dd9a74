package token_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// The identifiers below are what Java makes of this attempt, node and key.
var (
	attempt = ids.Attempt{App: ids.App{Cluster: 1700000000000, Seq: 1}, N: 1}
	node    = ids.Node{Host: "nm1.example", Port: 45454}
	secret  = []byte{1, 2, 3, 4, 5, 6, 7, 8}
)

const amrmIdentifier = "0a0d0a0908011080d095ffbc31100110f9ffffffffffffffff01"

// containerIdentifier returns the attempt's first container on the node, its master.
func containerIdentifier() *wire.ContainerTokenIdentifier {
	return &wire.ContainerTokenIdentifier{
		ContainerId:         conv.WireContainer(ids.Container{Attempt: attempt, ID: 1}),
		NmHostAddr:          new(node.String()),
		AppSubmitter:        new("alice"),
		Resource:            &wire.Resource{Memory: proto.Int64(2048), VirtualCores: proto.Int32(1)},
		ExpiryTimeStamp:     proto.Int64(1700000600000),
		RmIdentifier:        proto.Int64(1700000000000),
		Priority:            &wire.Priority{Priority: proto.Int32(0)},
		CreationTime:        proto.Int64(1700000000500),
		NodeLabelExpression: new(""),
		ContainerType:       wire.ContainerType_APPLICATION_MASTER.Enum(),
		ExecutionType:       wire.ExecutionType_GUARANTEED.Enum(),
		Version:             proto.Int32(0),
		AllocationRequestId: proto.Int64(-1),
	}
}

func delegationIdentifier() *wire.YARNDelegationTokenIdentifier {
	return &wire.YARNDelegationTokenIdentifier{
		Owner: new("alice"), Renewer: new("yarn"), RealUser: new(""),
		IssueDate: proto.Int64(1), MaxDate: proto.Int64(2), SequenceNumber: proto.Int32(3),
	}
}

func TestTokensAsJavaMakesThem(t *testing.T) {
	key := func(id int32) token.Key { return token.Key{ID: id, Bytes: secret} }
	for _, c := range []struct {
		token                               *wire.Token
		kind, service, identifier, password string
	}{
		{
			token.AMRM(attempt, key(-7)), "YARN_AM_RM_TOKEN", "",
			amrmIdentifier, "e61c8f486dd833dae00958c08df9bd3c1734c08a",
		},
		{
			token.NM(attempt, node, "alice", key(12)), "NMToken", "nm1.example:45454",
			"0a0d0a0908011080d095ffbc31100112110a0b6e6d312e6578616d706c65108ee3021a05616c696365200c",
			"04ca888b08479d12a6fdf8336334cd895b1740e6",
		},
		{
			token.Container(containerIdentifier(), key(34), node.String()), "ContainerToken", "nm1.example:45454",
			"0a11120d0a0908011080d095ffbc311001180112116e6d312e6578616d706c653a34353435341a05616c69636522050880101001" +
				"28c09fbaffbc3130223880d095ffbc314202080048f4d395ffbc315a0060016801700078ffffffffffffffffff01",
			"1d3f6ea1cfcdfeb02270161917118608eac7b907",
		},
	} {
		if got := c.token.GetKind(); got != c.kind {
			t.Errorf("kind %q, want %q", got, c.kind)
		}
		if got := c.token.GetService(); c.token.Service == nil || got != c.service {
			t.Errorf("%s: service %q, want %q", c.kind, got, c.service)
		}
		if got := hex.EncodeToString(c.token.GetIdentifier()); got != c.identifier {
			t.Errorf("%s: identifier %s, want %s", c.kind, got, c.identifier)
		}
		if got := hex.EncodeToString(c.token.GetPassword()); got != c.password {
			t.Errorf("%s: password %s, want %s", c.kind, got, c.password)
		}
	}
}

// Identifiers issued by a stock ResourceManager, and their signatures.
func TestRecordedTokens(t *testing.T) {
	containerKey := token.Key{ID: -356930991, Bytes: unhex(t, "f9a3f31b69ed384c")}
	nmKey := token.Key{ID: 1339491240, Bytes: unhex(t, "c1e1839080a0f839")}

	b := unhex(t, "0a11120d0a09080610d39e9ce59f3410011803120e3132372e302e302e323a383034311a04726f6f74222b08800110011a140a096d656d"+
		"6f72792d6d621080011a024d6920001a0e0a0676636f72657310011a00200028afbec8e59f3430d1d4e6d5feffffffff0138d39e9ce59f34"+
		"4202080048daeda3e59f345a006002680170007800")
	container, err := token.ParseContainer(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := conv.Container(container.ContainerId).String(), "container_1795240169299_0006_01_000003"; got != want {
		t.Errorf("container %s, want %s", got, want)
	}
	made := token.Container(container, containerKey, container.GetNmHostAddr())
	if !bytes.Equal(made.Identifier, b) {
		t.Errorf("container identifier is written as\n%x, was\n%x", made.Identifier, b)
	}
	if !containerKey.Verify(b, unhex(t, "98d8576e2ae6515563fb7db7cbf712d6e773cfcd")) {
		t.Error("the container's password does not verify")
	}

	b = unhex(t, "0a0d0a09080610d39e9ce59f341001120e0a093132372e302e302e3210e93e1a04726f6f7420a887dcfe04")
	nm, err := token.ParseNM(b)
	if err != nil {
		t.Fatal(err)
	}
	made = token.NM(conv.Attempt(nm.AppAttemptId), conv.Node(nm.NodeId), nm.GetAppSubmitter(), nmKey)
	if !bytes.Equal(made.Identifier, b) {
		t.Errorf("NM identifier is written as\n%x, was\n%x", made.Identifier, b)
	}
	if !nmKey.Verify(b, unhex(t, "c0745d4f89fb22a2ce75195b844397ba0467f225")) {
		t.Error("the NMToken's password does not verify")
	}

	b = unhex(t, "0a0d0a09080610d39e9ce59f3410011099aeab9101")
	a, keyID, err := token.ParseAMRM(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.String(), "appattempt_1795240169299_0006_000001"; got != want || keyID != 304797465 {
		t.Errorf("attempt %s and key %d, want %s and 304797465", got, keyID, want)
	}
	if made = token.AMRM(a, token.Key{ID: keyID, Bytes: secret}); !bytes.Equal(made.Identifier, b) {
		t.Errorf("AMRM identifier is written as\n%x, was\n%x", made.Identifier, b)
	}
}

// Before it checks the password, a node rewrites the identifier without unknown fields.
func TestContainerIdentifierIsCanonical(t *testing.T) {
	key := token.Key{ID: 34, Bytes: secret}
	want := token.Container(containerIdentifier(), key, "")

	id := containerIdentifier()
	foreign := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)
	id.ProtoReflect().SetUnknown(foreign)
	id.Resource.ProtoReflect().SetUnknown(foreign)
	id.ContainerId.AppAttemptId.ProtoReflect().SetUnknown(foreign)
	id.MasterKeyId = proto.Int32(-1)
	if got := token.Container(id, key, ""); !proto.Equal(got, want) {
		t.Errorf("fields from elsewhere are signed:\n%x, want\n%x", got.Identifier, want.Identifier)
	}
	if len(id.Resource.ProtoReflect().GetUnknown()) == 0 || id.GetMasterKeyId() != -1 {
		t.Error("the caller's identifier was changed")
	}
}

func TestClientAndDelegation(t *testing.T) {
	key := token.Key{ID: -5, Bytes: secret}
	c := token.Client(attempt, "bob", key)
	client, err := token.ParseClient(c.Identifier)
	if err != nil {
		t.Fatal(err)
	}
	if conv.Attempt(client.AppAttemptId) != attempt || client.GetClientName() != "bob" {
		t.Errorf("client token of %v", client)
	}
	if c.GetKind() != token.ClientKind || c.Service == nil || !key.Verify(c.Identifier, c.Password) {
		t.Errorf("client token %v", c)
	}

	d := token.Delegation(delegationIdentifier(), key, "rm:8032")
	delegation, err := token.ParseDelegation(d.Identifier)
	if err != nil {
		t.Fatal(err)
	}
	if delegation.GetOwner() != "alice" || delegation.GetMasterKeyId() != -5 || delegation.GetSequenceNumber() != 3 {
		t.Errorf("delegation token of %v", delegation)
	}
	if d.GetKind() != token.DelegationKind || d.GetService() != "rm:8032" || !key.Verify(d.Identifier, d.Password) {
		t.Errorf("delegation token %v", d)
	}
}

func TestForgeriesDoNotVerify(t *testing.T) {
	key := token.Key{ID: 1, Bytes: secret}
	tok := token.AMRM(attempt, key)
	for i := range tok.Password {
		forged := bytes.Clone(tok.Password)
		forged[i] ^= 1
		if key.Verify(tok.Identifier, forged) {
			t.Errorf("a password with a wrong byte %d verifies", i)
		}
	}
	other := token.AMRM(ids.Attempt{App: attempt.App, N: 2}, key)
	for what, ok := range map[string]bool{
		"another attempt's password": key.Verify(tok.Identifier, other.Password),
		"no password":                key.Verify(tok.Identifier, nil),
		"half a password":            key.Verify(tok.Identifier, tok.Password[:10]),
		"the zero key's password":    token.Key{}.Verify(tok.Identifier, token.Key{}.Password(tok.Identifier)),
	} {
		if ok {
			t.Errorf("%s verifies", what)
		}
	}
}

func TestIdentifiersThatLackSomething(t *testing.T) {
	amrm := func(b []byte) error { _, _, err := token.ParseAMRM(b); return err }
	nm := func(b []byte) error { _, err := token.ParseNM(b); return err }
	container := func(b []byte) error { _, err := token.ParseContainer(b); return err }
	client := func(b []byte) error { _, err := token.ParseClient(b); return err }
	delegation := func(b []byte) error { _, err := token.ParseDelegation(b); return err }
	for _, c := range []struct {
		what  string
		parse func([]byte) error
		bytes []byte
		want  string
	}{
		{"nothing", amrm, nil, "YARN_AM_RM_TOKEN: appAttemptId is missing"},
		{"no key", amrm, unhex(t, "0a0d0a0908011080d095ffbc311001"), "YARN_AM_RM_TOKEN: keyId is missing"},
		{"cut short", amrm, unhex(t, "0a0d0a0908"), "YARN_AM_RM_TOKEN: proto"},
		{"too long", amrm, make([]byte, token.MaxIdentifier+1), "65537 bytes, at most 65536"},
		{"a master's token for a node", nm, unhex(t, amrmIdentifier), "NMToken: "},
		{"nothing", container, nil, "ContainerToken: containerId is missing"},
		{"nothing", client, nil, "YARN_CLIENT_TOKEN: appAttemptId is missing"},
		{"nothing", delegation, nil, "RM_DELEGATION_TOKEN: owner is missing"},
	} {
		if err := c.parse(c.bytes); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\u00a0", " "), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.what, err, c.want)
		}
	}
}

// A parsed identifier that is signed again parses as the same.
func FuzzIdentifier(f *testing.F) {
	key := token.Key{ID: 3, Bytes: secret}
	f.Add(token.AMRM(attempt, key).Identifier)
	f.Add(token.NM(attempt, node, "alice", key).Identifier)
	f.Add(token.Container(containerIdentifier(), key, "").Identifier)
	f.Add(token.Client(attempt, "bob", key).Identifier)
	f.Add(token.Delegation(delegationIdentifier(), key, "").Identifier)
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, keyID, err := token.ParseAMRM(b); err == nil {
			made := token.AMRM(a, token.Key{ID: keyID, Bytes: secret})
			if a2, keyID2, err := token.ParseAMRM(made.Identifier); err != nil || a2 != a || keyID2 != keyID {
				t.Errorf("%v, key %d is written as %v, key %d: %v", a, keyID, a2, keyID2, err)
			}
		}
		if id, err := token.ParseNM(b); err == nil {
			made := token.NM(conv.Attempt(id.AppAttemptId), conv.Node(id.NodeId), id.GetAppSubmitter(), key)
			if again, err := token.ParseNM(made.Identifier); err != nil || conv.Node(again.NodeId) != conv.Node(id.NodeId) {
				t.Errorf("%v is written as %v: %v", id, again, err)
			}
		}
		if id, err := token.ParseContainer(b); err == nil {
			made := token.Container(id, key, "")
			again, err := token.ParseContainer(made.Identifier)
			if err != nil {
				t.Fatalf("%v is not read as it was written: %v", id, err)
			}
			if twice := token.Container(again, key, ""); !bytes.Equal(made.Identifier, twice.Identifier) {
				t.Errorf("%x is written as %x", made.Identifier, twice.Identifier)
			}
		}
		if id, err := token.ParseClient(b); err == nil {
			made := token.Client(conv.Attempt(id.AppAttemptId), id.GetClientName(), key)
			if again, err := token.ParseClient(made.Identifier); err != nil || again.GetClientName() != id.GetClientName() {
				t.Errorf("%v is written as %v: %v", id, again, err)
			}
		}
		if id, err := token.ParseDelegation(b); err == nil {
			made := token.Delegation(id, key, "")
			if again, err := token.ParseDelegation(made.Identifier); err != nil || again.GetOwner() != id.GetOwner() {
				t.Errorf("%v is written as %v: %v", id, again, err)
			}
		}
	})
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
