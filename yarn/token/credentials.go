package token

import (
	"bytes"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

// MaxCredentials is the maximum number of tokens, and of secrets, in credentials.
const MaxCredentials = 10_000

// The first bytes of credentials, and the formats that the next byte distinguishes.
const (
	credentialsMagic = "HDTS"
	formatWritable   = 0
	formatProtobuf   = 1
)

// Credentials are the tokens and secrets that a container is started with, in the order in which they were read.
type Credentials struct {
	Tokens  []Named
	Secrets []Secret
}

// A Named is a token under the name by which it is looked up. The token of an application's master has "".
type Named struct {
	Alias string
	Token *wire.Token
}

// A Secret is named bytes, such as the key of a job's shuffle.
type Secret struct {
	Alias string
	Bytes []byte
}

// ParseCredentials reads credentials in either format; no bytes mean none. It ignores what follows the last secret: Spark
// passes a buffer that is longer than what it wrote.
func ParseCredentials(b []byte) (*Credentials, error) {
	if len(b) == 0 {
		return &Credentials{}, nil
	}
	rest, ok := bytes.CutPrefix(b, []byte(credentialsMagic))
	if !ok || len(rest) == 0 {
		return nil, fmt.Errorf("credentials begin with %q; want %q and a format", b[:min(len(b), 5)], credentialsMagic)
	}
	var c *Credentials
	var err error
	switch format, body := rest[0], rest[1:]; format {
	case formatWritable:
		c, err = parseWritable(body)
	case formatProtobuf:
		c, err = parseProtobuf(body)
	default:
		err = fmt.Errorf("unknown format %d; want %d or %d", format, formatWritable, formatProtobuf)
	}
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return c, nil
}

func parseWritable(b []byte) (*Credentials, error) {
	r := &reader{rest: b}
	c := &Credentials{}
	n := r.count("tokens")
	for i := int32(0); i < n && r.err == nil; i++ {
		alias := r.text()
		t := &wire.Token{Identifier: r.bytes(), Password: r.bytes(), Kind: new(r.text()), Service: new(r.text())}
		if r.err != nil {
			return nil, fmt.Errorf("token %d of %d: %w", i+1, n, r.err)
		}
		c.Tokens = append(c.Tokens, Named{alias, t})
	}
	n = r.count("secrets")
	for i := int32(0); i < n && r.err == nil; i++ {
		c.Secrets = append(c.Secrets, Secret{r.text(), r.bytes()})
		if r.err != nil {
			return nil, fmt.Errorf("secret %d of %d: %w", i+1, n, r.err)
		}
	}
	return c, r.err
}

// count reads the number of what.
func (r *reader) count(what string) int32 {
	n := r.vint()
	switch {
	case r.err != nil:
		r.err = fmt.Errorf("number of %s: %w", what, r.err)
	case n < 0 || n > MaxCredentials:
		r.err = fmt.Errorf("%d %s, there may be 0 to %d", n, what, MaxCredentials)
		n = 0
	}
	return n
}

func parseProtobuf(b []byte) (*Credentials, error) {
	body, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, fmt.Errorf("length of the message: %w", protowire.ParseError(n))
	}
	if tokens, secrets := countProtobuf(body); tokens > MaxCredentials || secrets > MaxCredentials {
		return nil, fmt.Errorf("%d tokens and %d secrets, there may be %d each", tokens, secrets, MaxCredentials)
	}
	m := &wire.Credentials{}
	if err := proto.Unmarshal(body, m); err != nil {
		return nil, err
	}
	c := &Credentials{}
	for i, kv := range m.Tokens {
		if kv.Token == nil {
			return nil, fmt.Errorf("token %d of %d, %q: token is missing", i+1, len(m.Tokens), kv.GetAlias())
		}
		c.Tokens = append(c.Tokens, Named{kv.GetAlias(), kv.Token})
	}
	for i, kv := range m.Secrets {
		if kv.Secret == nil {
			return nil, fmt.Errorf("secret %d of %d, %q: secret is missing", i+1, len(m.Secrets), kv.GetAlias())
		}
		c.Secrets = append(c.Secrets, Secret{kv.GetAlias(), kv.Secret})
	}
	return c, nil
}

// countProtobuf returns how many tokens and secrets a message has. It does not decode them, as two bytes can become a hundred. Of
// a message that cannot be read it counts the readable beginning.
func countProtobuf(body []byte) (tokens, secrets int) {
	fields := (&wire.Credentials{}).ProtoReflect().Descriptor().Fields()
	token, secret := fields.ByName("tokens").Number(), fields.ByName("secrets").Number()
	for len(body) > 0 {
		number, kind, n := protowire.ConsumeTag(body)
		if n < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(number, kind, body[n:])
		if size < 0 {
			break
		}
		body = body[n+size:]
		switch number {
		case token:
			tokens++
		case secret:
			secrets++
		default: // decoding keeps it as it is
		}
	}
	return tokens, secrets
}

// Add adds a token, replacing any with the same alias.
func (c *Credentials) Add(alias string, t *wire.Token) {
	c.Tokens = slices.DeleteFunc(c.Tokens, func(n Named) bool { return n.Alias == alias })
	c.Tokens = append(c.Tokens, Named{alias, t})
}

// Bytes returns the credentials in the Writable format, which every version of Hadoop reads.
func (c *Credentials) Bytes() []byte {
	b := append([]byte(credentialsMagic), formatWritable)
	b = appendVint(b, int32(len(c.Tokens)))
	for _, n := range c.Tokens {
		b = appendBytes(b, n.Alias)
		b = appendBytes(b, n.Token.GetIdentifier())
		b = appendBytes(b, n.Token.GetPassword())
		b = appendBytes(b, n.Token.GetKind())
		b = appendBytes(b, n.Token.GetService())
	}
	b = appendVint(b, int32(len(c.Secrets)))
	for _, s := range c.Secrets {
		b = appendBytes(b, s.Alias)
		b = appendBytes(b, s.Bytes)
	}
	return b
}
