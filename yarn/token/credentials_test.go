package token_test

import (
	"bytes"
	"encoding/hex"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// withMaster is credentials with only a master's token, as Java writes them.
const withMaster = "484454530001001a0a0d0a0908011080d095ffbc31100110f9ffffffffffffffff0114" +
	"e61c8f486dd833dae00958c08df9bd3c1734c08a105941524e5f414d5f524d5f544f4b454e0000"

// ofSpark is what Spark submits, and ofShell what distributed shell's master passed to its containers on a stock cluster.
const (
	ofSpark = "48445453000000"
	ofShell = "4844545300" + "01" + "00" + "150a0d0a09080610d39e9ce59f3410011099aeab9101" +
		"14bb7227f27285f1292d5e32ff69964e5a63cccdb8" + "105941524e5f414d5f524d5f544f4b454e" + "00" + "00"
)

func TestCredentialsAsJavaWritesThem(t *testing.T) {
	c, err := token.ParseCredentials(nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Add("", token.AMRM(attempt, token.Key{ID: -7, Bytes: secret}))
	if got := hex.EncodeToString(c.Bytes()); got != withMaster {
		t.Errorf("written as\n%s, want\n%s", got, withMaster)
	}
	for _, text := range []string{withMaster, ofSpark, ofShell} {
		c, err := token.ParseCredentials(unhex(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := hex.EncodeToString(c.Bytes()); got != text {
			t.Errorf("%s is written as %s", text, got)
		}
	}
}

// A master's token replaces one that came with the submission, and everything else is kept.
func TestAddReplaces(t *testing.T) {
	other := token.NM(attempt, node, "alice", token.Key{ID: 1, Bytes: secret})
	c := &token.Credentials{Secrets: []token.Secret{{Alias: "MapReduceShuffleToken", Bytes: secret}}}
	c.Add("", other)
	c.Add("hdfs", other)
	master := token.AMRM(attempt, token.Key{ID: 1, Bytes: secret})
	c.Add("", master)
	c, err := token.ParseCredentials(c.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := &token.Credentials{
		Tokens:  []token.Named{{Alias: "hdfs", Token: other}, {Alias: "", Token: master}},
		Secrets: []token.Secret{{Alias: "MapReduceShuffleToken", Bytes: secret}},
	}
	if d := cmp.Diff(want, c, protocmp.Transform()); d != "" {
		t.Error(d)
	}
}

// Spark's master passes on its whole output buffer.
func TestBytesAfterTheLastSecretAreIgnored(t *testing.T) {
	b := append(unhex(t, ofSpark), make([]byte, 45)...)
	c, err := token.ParseCredentials(b)
	if err != nil || len(c.Tokens)+len(c.Secrets) != 0 {
		t.Errorf("%v, %v, want no credentials", c, err)
	}
}

var someCredentials = rapid.Custom(func(t *rapid.T) *token.Credentials {
	some := func(what string) []byte { return rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, what) }
	text := func(what string) string { return rapid.StringN(0, 40, 140).Draw(t, what) }
	c := &token.Credentials{}
	for range rapid.IntRange(0, 3).Draw(t, "tokens") {
		c.Tokens = append(c.Tokens, token.Named{Alias: text("alias"), Token: &wire.Token{
			Identifier: some("identifier"), Password: some("password"),
			Kind: new(text("kind")), Service: new(text("service")),
		}})
	}
	for range rapid.IntRange(0, 3).Draw(t, "secrets") {
		c.Secrets = append(c.Secrets, token.Secret{Alias: text("alias"), Bytes: some("secret")})
	}
	return c
})

// Both formats read back as what was written, and every truncation of either is refused.
func TestBothFormats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := someCredentials.Draw(t, "credentials")
		for _, b := range [][]byte{c.Bytes(), protobufFormat(t, c)} {
			got, err := token.ParseCredentials(b)
			if err != nil {
				t.Fatalf("%x: %v", b, err)
			}
			if d := cmp.Diff(c, got, protocmp.Transform()); d != "" {
				t.Errorf("%x: %s", b, d)
			}
			cut := rapid.IntRange(1, len(b)-1).Draw(t, "cut")
			if got, err := token.ParseCredentials(b[:cut]); err == nil {
				t.Errorf("%x reads as %v", b[:cut], got)
			}
		}
	})
}

// protobufFormat writes the format that Heddle only reads.
func protobufFormat(t *rapid.T, c *token.Credentials) []byte {
	m := &wire.Credentials{}
	for _, n := range c.Tokens {
		m.Tokens = append(m.Tokens, &wire.CredentialsKV{Alias: &n.Alias, Token: n.Token})
	}
	for _, s := range c.Secrets {
		m.Secrets = append(m.Secrets, &wire.CredentialsKV{Alias: &s.Alias, Secret: s.Bytes})
	}
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return protowire.AppendBytes([]byte("HDTS\x01"), b)
}

func TestCredentialsThatAreNone(t *testing.T) {
	for _, c := range []struct{ what, text, want string }{
		{"other bytes", "cafebabe00", `begin with "\xca\xfe\xba\xbe\x00"`},
		{"no format", "48445453", `want "HDTS" and a format`},
		{"another format", "4844545302", "unknown format 2; want 0 or 1"},
		{"no number of tokens", "4844545300", "number of tokens: the bytes end too early"},
		{"a negative number of tokens", "4844545300ff", "-1 tokens"},
		{"a million tokens", "48445453008d0f4240", "1000000 tokens, there may be 0 to 10000"},
		{"more than an int of tokens", "48445453008b0100000000", "number of tokens: a number does not fit in 32 bits"},
		{"no secrets", "484454530000", "number of secrets: the bytes end too early"},
		{"too many secrets", "4844545300008d0f4240", "1000000 secrets"},
		{"a name of 2 GiB", "4844545300018c7fffffff", "token 1 of 1: the bytes end too early"},
		{"a name of negative length", "484454530001fe", "token 1 of 1: a length of -2"},
		{"a secret cut short", "484454530000010141", "secret 1 of 1: the bytes end too early"},
		{"protobuf cut short", "4844545301020a", "length of the message"},
		{"protobuf that is none", "484454530101ff", "credentials: proto"},
		{"protobuf without a token", "4844545301050a030a0141", `token 1 of 1, "A": token is missing`},
		{"protobuf without a secret", "48445453010512030a0141", `secret 1 of 1, "A": secret is missing`},
	} {
		_, err := token.ParseCredentials(unhex(t, c.text))
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\u00a0", " "), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.what, err, c.want)
		}
	}
}

// Two bytes could become a token of a hundred: they are counted before they are decoded.
func TestMillionsOfCredentials(t *testing.T) {
	b := protowire.AppendBytes([]byte("HDTS\x01"), bytes.Repeat([]byte{0x0a, 0, 0x12, 0}, 1<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := token.ParseCredentials(b)
	runtime.ReadMemStats(&after)
	if want := "1048576 tokens and 1048576 secrets, there may be 10000 each"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<10 {
		t.Errorf("%d bytes of memory for %d bytes", took, len(b))
	}
}

// Whatever can be read is written, in the one format, so that it reads the same.
func FuzzCredentials(f *testing.F) {
	f.Add([]byte{})
	for _, text := range []string{withMaster, ofSpark, ofShell, "48445453000001014100", "48445453010512030a0141"} {
		f.Add(unhex(f, text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := token.ParseCredentials(b)
		if err != nil {
			return
		}
		written := c.Bytes()
		again, err := token.ParseCredentials(written)
		if err != nil {
			t.Fatalf("%x is written as %x: %v", b, written, err)
		}
		if !bytes.Equal(again.Bytes(), written) {
			t.Errorf("%x is written as %x, and that as %x", b, written, again.Bytes())
		}
	})
}
