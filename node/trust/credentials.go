package trust

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// credentialsFile is the file in an agent's folder with its key, its certificate and the authority's.
const credentialsFile = "node.pem"

// Credentials are the content of an agent's folder.
type Credentials struct {
	Node  string    // host:port of the NodeManager that it may speak for
	Since time.Time // when its certificate was made, or a little earlier
	Until time.Time // when it expires

	path      string
	own       tls.Certificate
	authority *x509.Certificate
}

// ReadCredentials reads what [Join] and [Renew] have written into a folder.
func ReadCredentials(folder string) (*Credentials, error) {
	path := filepath.Join(folder, credentialsFile)
	blocks, err := readBlocks(path, keyBlock, certBlock, certBlock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; heddle node join makes it", err)
	}
	if err != nil {
		return nil, err
	}
	c, err := makeCredentials(path, blocks[0], blocks[1], blocks[2])
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; heddle node join makes another", path, err)
	}
	return c, nil
}

// makeCredentials assembles credentials. The parts fit each other, but may have expired.
func makeCredentials(path string, key, cert, authority []byte) (*Credentials, error) {
	private, err := parseKey(key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(cert)
	if err != nil {
		return nil, err
	}
	ca, err := x509.ParseCertificate(authority)
	if err != nil {
		return nil, err
	}
	if !private.PublicKey.Equal(leaf.PublicKey) {
		return nil, errors.New("the certificate does not match the key")
	}
	if err := leaf.CheckSignatureFrom(ca); err != nil {
		return nil, fmt.Errorf("the certificate is not from this authority: %w", err)
	}
	return &Credentials{
		Node: leaf.Subject.CommonName, Since: leaf.NotBefore, Until: leaf.NotAfter, path: path, authority: ca,
		own: tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: private, Leaf: leaf},
	}, CheckNode(leaf.Subject.CommonName)
}

// save writes the credentials to their file, replacing what is there.
func (c *Credentials) save() error {
	key, err := x509.MarshalPKCS8PrivateKey(c.own.PrivateKey)
	if err != nil {
		return err
	}
	return writeBlocks(c.path, os.Rename, &pem.Block{Type: keyBlock, Bytes: key},
		&pem.Block{Type: certBlock, Bytes: c.own.Certificate[0]}, &pem.Block{Type: certBlock, Bytes: c.authority.Raw})
}

// request makes a key and a certificate request for a node with it.
func request(node string) (key *ecdsa.PrivateKey, der []byte, err error) {
	if key, err = newKey(); err != nil {
		return nil, nil, err
	}
	der, err = x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: node}}, key)
	return key, der, err
}

// received makes credentials from an answer.
func received(folder, node string, key *ecdsa.PrivateKey, cert []byte, authority *x509.Certificate) (*Credentials, error) {
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	c, err := makeCredentials(filepath.Join(folder, credentialsFile), secret, cert, authority.Raw)
	if err == nil && c.Node != node {
		err = fmt.Errorf("the certificate is for node %s", c.Node)
	}
	if err != nil {
		return nil, fmt.Errorf("the ResourceManager's answer for node %s cannot be used: %w", node, err)
	}
	return c, nil
}

// Client returns a client that speaks to the ResourceManager with the credentials in a folder. Each connection reads them
// again, to use the newest. The client follows no redirects and uses no proxies. It waits as long as the request's
// context does.
func Client(folder string) (*http.Client, error) {
	if _, err := ReadCredentials(folder); err != nil {
		return nil, err
	}
	return newClient(func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := ReadCredentials(folder)
		if err != nil {
			return nil, err
		}
		if time.Now().After(c.Until) {
			return nil, fmt.Errorf("the certificate of node %s in %s expired at %s; heddle node join with a new token makes another",
				c.Node, c.path, c.Until.UTC().Format(time.RFC3339))
		}
		pool := x509.NewCertPool()
		pool.AddCert(c.authority)
		conn, err := dial(ctx, network, addr, &tls.Config{
			MinVersion: tls.VersionTLS13, ServerName: serverName, RootCAs: pool, Certificates: []tls.Certificate{c.own},
		})
		if _, foreign := errors.AsType[*tls.CertificateVerificationError](err); foreign {
			err = fmt.Errorf("%s is not the ResourceManager that issued %s; to join it, run heddle node join with its token: %w",
				addr, c.path, err)
		}
		return conn, err
	}), nil
}

func newClient(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialTLSContext: dial, MaxResponseHeaderBytes: 32 << 10, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func dial(ctx context.Context, network, addr string, c *tls.Config) (net.Conn, error) {
	return (&tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTime}, Config: c}).DialContext(ctx, network, addr)
}
