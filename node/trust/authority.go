package trust

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// authorityFile is the file in the data folder that holds the whole authority.
const authorityFile = "agents.pem"

// serverName is the name in the ResourceManager's certificate. It is not a host name: agents recognise the
// ResourceManager by its authority, wherever it is.
const serverName = "resourcemanager.heddle.internal"

// How long certificates are valid.
const (
	Life          = 30 * 24 * time.Hour // of a node's certificate, and of the ResourceManager's own
	authorityLife = 20 * 365 * 24 * time.Hour
	early         = time.Hour // before they are made, for clocks that are behind
)

// maxRequest is the maximum size of a certificate request, in bytes.
const maxRequest = 8 << 10

// An Authority issues tokens and certificates. It is safe for concurrent use.
type Authority struct {
	Now func() time.Time // the clock; tests replace it

	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	tokens []byte // the key that signs tokens
	hash   [sha256.Size]byte

	mu     sync.Mutex
	server *tls.Certificate // nil before first use
}

// Open reads the authority in a data folder, or creates one.
func Open(dir string) (*Authority, error) {
	a, err := Load(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	if err := create(filepath.Join(dir, authorityFile)); err != nil && !errors.Is(err, fs.ErrExist) { // another process was faster
		return nil, fmt.Errorf("the certificate authority of node agents cannot be created: %w", err)
	}
	return Load(dir)
}

const restore = "restore it from a copy, or remove it and let each node join again"

// Load reads the authority in a data folder, which a ResourceManager has created.
func Load(dir string) (*Authority, error) {
	path := filepath.Join(dir, authorityFile)
	blocks, err := readBlocks(path, keyBlock, certBlock, tokenBlock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; heddle rm makes it when it starts with listen.agents at an address that others reach", err)
	}
	if err != nil {
		return nil, err
	}
	a := &Authority{Now: time.Now, tokens: blocks[2], hash: sha256.Sum256(blocks[1])}
	key, keyErr := parseKey(blocks[0])
	a.key = key
	a.cert, err = x509.ParseCertificate(blocks[1])
	switch err = errors.Join(keyErr, err); {
	case err != nil:
		return nil, fmt.Errorf("%s is damaged: %w; %s", path, err, restore)
	case !a.key.PublicKey.Equal(a.cert.PublicKey) || len(a.tokens) != sha256.Size:
		return nil, fmt.Errorf("%s is damaged: its parts do not match; %s", path, restore)
	case time.Now().After(a.cert.NotAfter):
		return nil, fmt.Errorf("%s expired on %s; remove it and let each node join again",
			path, a.cert.NotAfter.Format(time.DateOnly))
	}
	return a, nil
}

// create creates an authority, unless there is one.
func create(path string) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		Subject: pkix.Name{CommonName: "Heddle node agents"}, NotBefore: now.Add(-early), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}, &x509.Certificate{Subject: pkix.Name{CommonName: "Heddle node agents"}}, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	tokens := make([]byte, sha256.Size)
	_, _ = rand.Read(tokens) // never fails
	return writeBlocks(path, os.Link, &pem.Block{Type: keyBlock, Bytes: secret},
		&pem.Block{Type: certBlock, Bytes: der}, &pem.Block{Type: tokenBlock, Bytes: tokens})
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func parseKey(der []byte) (*ecdsa.PrivateKey, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	if k, ok := key.(*ecdsa.PrivateKey); ok {
		return k, nil
	}
	return nil, fmt.Errorf("a key of type %T; want ECDSA", key)
}

// Token makes a token that is valid for this long, for one node or, with "", for any.
func (a *Authority) Token(node string, valid time.Duration) (Token, error) {
	if valid < MinValid || valid > MaxValid {
		return Token{}, fmt.Errorf("a token cannot be valid for %v; want %v to %v", valid, MinValid, MaxValid)
	}
	if node != "" {
		if err := CheckNode(node); err != nil {
			return Token{}, err
		}
	}
	t := Token{CA: a.hash, Expires: a.Now().Add(valid).Truncate(time.Second), Node: node}
	t.mac = t.sign(a.tokens)
	return t, nil
}

// Join checks a token and returns the requested certificate, in DER, and its node. The node is returned once the request
// could be read, even with an error. The error is meant for the agent.
func (a *Authority) Join(token string, request []byte) (node string, der []byte, err error) {
	t, err := ParseToken(token)
	if err != nil {
		return "", nil, err
	}
	want := t.sign(a.tokens)
	switch {
	case t.CA != a.hash:
		return "", nil, errors.New("the token was issued by another ResourceManager; heddle node token on the machine of this one prints a valid one")
	case !hmac.Equal(t.mac[:], want[:]):
		return "", nil, errors.New("the token is not genuine; heddle node token prints one on the machine of the ResourceManager")
	case !a.Now().Before(t.Expires):
		return "", nil, fmt.Errorf("the token expired at %s; heddle node token prints another",
			t.Expires.UTC().Format(time.RFC3339))
	}
	r, err := parseRequest(request)
	if err != nil {
		return "", nil, err
	}
	node = r.Subject.CommonName
	if t.Node != "" && t.Node != node {
		return node, nil, fmt.Errorf("the token is for node %s, not for %s; heddle node token --node %s prints one for that",
			t.Node, node, node)
	}
	der, err = a.issue(r)
	return node, der, err
}

// Renew returns another certificate, in DER, for a node that has one. The error is meant for the agent.
func (a *Authority) Renew(node string, request []byte) ([]byte, error) {
	r, err := parseRequest(request)
	if err != nil {
		return nil, err
	}
	if name := r.Subject.CommonName; name != node {
		return nil, fmt.Errorf("the certificate is for node %s and can be renewed only for it, not for %s", node, name)
	}
	return a.issue(r)
}

// parseRequest reads a node's certificate request, which proves that the node has the key.
func parseRequest(der []byte) (*x509.CertificateRequest, error) {
	if len(der) > maxRequest {
		return nil, fmt.Errorf("a certificate request of %d bytes; want at most %d", len(der), maxRequest)
	}
	r, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, fmt.Errorf("this is not a certificate request: %w; want PKCS #10 in DER", err)
	}
	if key, ok := r.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("a certificate request with the wrong kind of key; want ECDSA on P-256")
	}
	if err := r.CheckSignature(); err != nil {
		return nil, fmt.Errorf("a certificate request with an invalid signature: %w", err)
	}
	return r, CheckNode(r.Subject.CommonName)
}

func (a *Authority) issue(r *x509.CertificateRequest) ([]byte, error) {
	return a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: r.Subject.CommonName}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, r.PublicKey)
}

// sign signs a certificate for a key, valid as long as all certificates are.
func (a *Authority) sign(c *x509.Certificate, key any) ([]byte, error) {
	now := a.Now()
	c.NotBefore, c.NotAfter = now.Add(-early), now.Add(Life)
	c.KeyUsage, c.BasicConstraintsValid = x509.KeyUsageDigitalSignature, true
	return x509.CreateCertificate(rand.Reader, c, a.cert, key, a.key)
}

// ServerConfig returns how the ResourceManager serves agents: a client that presents a certificate must have a valid one.
func (a *Authority) ServerConfig() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return a.own() },
	}
}

// own returns the ResourceManager's certificate, followed by the authority's for agents that know only its hash. It is
// remade at half its life.
func (a *Authority) own() (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server != nil && a.Now().Before(half(a.server.Leaf)) {
		return a.server, nil
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	der, err := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key.Public())
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a.server = &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key, Leaf: leaf}
	return a.server, nil
}

// half returns when a certificate is to be renewed.
func half(c *x509.Certificate) time.Time { return c.NotBefore.Add(c.NotAfter.Sub(c.NotBefore) / 2) }
