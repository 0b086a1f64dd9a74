package rpc

import (
	"crypto/md5" //nolint:gosec // what DIGEST-MD5 is made of; nothing else is checked with it
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// DIGEST-MD5 (RFC 2831) as Java's own provider implements it: the session variant, authentication only.
const (
	digestRealm    = "default" // also the id of every server
	digestCount    = "00000001"
	digestQOP      = "auth"
	digestAlg      = "md5-sess"
	nonceSize      = 30       // random bytes of a nonce, which become 40 characters
	maxDigest      = 16 << 10 // bytes of a challenge or a response
	maxDirectives  = 32       // in a challenge or a response
	digestResponse = 2 * md5.Size
)

// A digest is one exchange: the data that both sides hash.
type digest struct {
	username string // the token's identifier, in base64
	realm    string
	nonce    string
	cnonce   string
	uri      string
}

// newNonce returns 240 random bits as text.
func newNonce() string {
	var b [nonceSize]byte
	rand.Read(b[:]) // it never fails: without randomness the program ends
	return base64.StdEncoding.EncodeToString(b[:])
}

// challenge returns what a server sends first.
func challenge(nonce string) []byte {
	return []byte(`realm="` + digestRealm + `",nonce="` + nonce + `",qop="` + digestQOP + `",charset=utf-8,algorithm=` + digestAlg)
}

// prove returns the hash that only a holder of the password can make. Of is AUTHENTICATE for a client, "" for the
// server's answer.
func (d *digest) prove(password, of string) string {
	secret := md5.Sum([]byte(d.username + ":" + d.realm + ":" + password))
	session := hexMD5(string(secret[:]) + ":" + d.nonce + ":" + d.cnonce)
	return hexMD5(session + ":" + d.nonce + ":" + digestCount + ":" + d.cnonce + ":" + digestQOP + ":" + hexMD5(of+":"+d.uri))
}

func hexMD5(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// passwordText returns a token's password in the form that the digest needs.
func passwordText(password []byte) string { return base64.StdEncoding.EncodeToString(password) }

// sameText compares in constant time.
func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// response returns a client's answer to a challenge.
func (d *digest) response(password string) []byte {
	return []byte(`charset=utf-8,username="` + d.username + `",realm="` + d.realm + `",nonce="` + d.nonce +
		`",nc=` + digestCount + `,cnonce="` + d.cnonce + `",digest-uri="` + d.uri + `",maxbuf=65536,response=` +
		d.prove(password, "AUTHENTICATE") + `,qop=` + digestQOP)
}

// readResponse reads a client's answer to the challenge with nonce: the identifier of its token, the exchange, and the
// hash to compare. It does not check the hash.
func readResponse(text []byte, nonce string) (identifier []byte, d *digest, hash string, err error) {
	has, err := directives(text)
	if err != nil {
		return nil, nil, "", err
	}
	for _, must := range [...]struct{ name, value string }{
		{"realm", digestRealm},
		{"nc", digestCount},
		{"digest-uri", "/" + digestRealm},
	} {
		if got := has[must.name]; got != must.value {
			return nil, nil, "", fmt.Errorf("%s is %q, must be %q", must.name, clip(got), must.value)
		}
	}
	for _, may := range [...]struct{ name, value string }{{"qop", digestQOP}, {"charset", "utf-8"}, {"authzid", ""}} {
		if got, ok := has[may.name]; ok && got != may.value {
			return nil, nil, "", fmt.Errorf("%s is %q, may only be %q", may.name, clip(got), may.value)
		}
	}
	if !sameText(has["nonce"], nonce) {
		return nil, nil, "", errors.New("the nonce is not the one of this connection")
	}
	if has["cnonce"] == "" {
		return nil, nil, "", errors.New("cnonce is missing")
	}
	if len(has["response"]) != digestResponse {
		return nil, nil, "", fmt.Errorf("response must be %d hexadecimal digits", digestResponse)
	}
	identifier, err = base64.StdEncoding.Strict().DecodeString(has["username"])
	if err != nil || len(identifier) == 0 || strings.ContainsAny(has["username"], "\r\n") {
		return nil, nil, "", errors.New("username is not a token's identifier in base64")
	}
	return identifier, &digest{has["username"], digestRealm, nonce, has["cnonce"], has["digest-uri"]}, has["response"], nil
}

// readChallenge reads a server's challenge: its realm and nonce.
func readChallenge(text []byte) (realm, nonce string, err error) {
	has, err := directives(text)
	if err != nil {
		return "", "", err
	}
	if has["algorithm"] != digestAlg {
		return "", "", fmt.Errorf("algorithm is %q, must be %s", clip(has["algorithm"]), digestAlg)
	}
	if qop, ok := has["qop"]; ok && !offers(qop, digestQOP) {
		return "", "", fmt.Errorf("qop %q does not offer %s", clip(qop), digestQOP)
	}
	if has["nonce"] == "" {
		return "", "", errors.New("nonce is missing")
	}
	return has["realm"], has["nonce"], nil
}

// offers reports whether the comma-separated list contains item.
func offers(list, item string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(one), item) {
			return true
		}
	}
	return false
}

// directives reads name=value, name="value", …; every name may occur once.
func directives(text []byte) (map[string]string, error) {
	if len(text) > maxDigest {
		return nil, fmt.Errorf("%d bytes are too long; at most %d are accepted", len(text), maxDigest)
	}
	has := make(map[string]string, 12)
	rest := trimSpace(string(text))
	for rest != "" {
		if rest[0] == ',' {
			rest = trimSpace(rest[1:])
			continue
		}
		name, after, ok := strings.Cut(rest, "=")
		name = strings.ToLower(trimSpace(name))
		if !ok || name == "" || strings.ContainsAny(name, "\", \t\r\n") {
			return nil, fmt.Errorf("at %q: name=value expected", clip(rest))
		}
		value, left, err := directive(trimSpace(after))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if _, ok := has[name]; ok {
			return nil, fmt.Errorf("%s appears twice", name)
		}
		if len(has) == maxDirectives {
			return nil, fmt.Errorf("more than %d values", maxDirectives)
		}
		has[name] = value
		rest = trimSpace(left)
		if rest != "" && rest[0] != ',' {
			return nil, fmt.Errorf("after %s: a comma is missing", name)
		}
	}
	return has, nil
}

// directive cuts a value off the front of s, quoted or not.
func directive(s string) (value, rest string, err error) {
	if s == "" || s[0] != '"' {
		end := strings.IndexByte(s, ',')
		if end < 0 {
			end = len(s)
		}
		return trimSpace(s[:end]), s[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], nil
		case '\\':
			i++
			if i == len(s) {
				return "", "", errors.New("a quoted string is not closed")
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", errors.New("a quoted string is not closed")
}

func trimSpace(s string) string { return strings.Trim(s, " \t\r\n") }

// clip shortens a peer's text for an error message.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
