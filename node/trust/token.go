package trust

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"heddle/yarn/ids"
)

// A token is tokenPrefix and, in base64, the hash of the authority's certificate, the expiry in seconds, the node or
// nothing, and a MAC of everything before it.
const (
	tokenPrefix = "heddle1."
	fixedToken  = sha256.Size + 8 + sha256.Size
	maxName     = 253 + len(":65535")
)

// Bounds on how long a token is valid.
const (
	MinValid = time.Minute
	MaxValid = 30 * 24 * time.Hour
)

// A Token lets an agent join, any number of times until it expires.
type Token struct {
	CA      [sha256.Size]byte // of the authority's certificate
	Expires time.Time
	Node    string // the only node it is for; "" for any
	mac     [sha256.Size]byte
}

// ParseToken reads a token. It does not check whether it is genuine.
func ParseToken(text string) (Token, error) {
	bad := errors.New("this is not a token; a token begins with " + tokenPrefix + " and is what heddle node token prints, in full")
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), tokenPrefix)
	if !ok || len(rest) > base64.RawURLEncoding.EncodedLen(fixedToken+maxName) {
		return Token{}, bad
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || len(b) < fixedToken {
		return Token{}, bad
	}
	var t Token
	b = b[copy(t.CA[:], b):]
	seconds := int64(binary.BigEndian.Uint64(b))
	name := b[8 : len(b)-len(t.mac)]
	copy(t.mac[:], b[8+len(name):])
	t.Expires, t.Node = time.Unix(seconds, 0), string(name)
	if t.Node != "" && CheckNode(t.Node) != nil {
		return Token{}, bad
	}
	return t, nil
}

// String returns the token as people pass it on.
func (t Token) String() string {
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(t.signed(), t.mac[:]...))
}

// signed returns what the MAC covers.
func (t Token) signed() []byte {
	b := append([]byte{}, t.CA[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(t.Expires.Unix()))
	return append(b, t.Node...)
}

// sign returns the MAC of a genuine token.
func (t Token) sign(key []byte) (mac [sha256.Size]byte) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(tokenPrefix))
	h.Write(t.signed())
	h.Sum(mac[:0])
	return mac
}

// CheckNode returns what is wrong with the name of a node.
func CheckNode(name string) error {
	id, err := ids.ParseNode(name)
	strange := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(".-_:[]", r)
	})
	if err != nil || strange || len(name) > maxName || id.Port == 0 || id.String() != name {
		return fmt.Errorf("%.80q is not a node; want host:port of its NodeManager, as heddle node list shows it", name)
	}
	return nil
}
