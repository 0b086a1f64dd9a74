package trust

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"heddle/node/api"
)

const (
	dialTime = 10 * time.Second
	joinTime = 30 * time.Second // for a whole join or renewal
	// renewEvery is how often KeepRenewed checks whether a certificate is due for renewal, and retries a failed renewal.
	renewEvery = time.Hour
)

// maxText is how much of an error answer is passed on.
const maxText = 1 << 10

// Join gets the first certificate of a node from the ResourceManager at address, such as https://rm:8039, and writes it
// into a folder. It sends nothing to anyone but the ResourceManager that has made the token.
func Join(ctx context.Context, address, node, token, folder string) (*Credentials, error) {
	at, err := CheckAddress(address)
	if err != nil {
		return nil, err
	}
	if err := CheckNode(node); err != nil {
		return nil, err
	}
	t, err := ParseToken(token)
	if err != nil {
		return nil, err
	}
	key, der, err := request(node)
	if err != nil {
		return nil, err
	}
	var authority *x509.Certificate
	client := newClient(func(ctx context.Context, network, addr string) (net.Conn, error) {
		return dial(ctx, network, addr, &tls.Config{
			MinVersion: tls.VersionTLS13, ServerName: serverName,
			InsecureSkipVerify: true, // VerifyConnection does it: the authority is known only by its hash
			VerifyConnection: func(s tls.ConnectionState) (err error) {
				authority, err = t.verify(s.PeerCertificates)
				return err
			},
		})
	})
	defer client.CloseIdleConnections()
	answer, err := post(ctx, client, at+api.JoinPath, api.Join{Token: t.String(), Request: der})
	if err != nil {
		return nil, err
	}
	c, err := received(folder, node, key, answer.Certificate, authority)
	if err != nil {
		return nil, err
	}
	return c, c.save()
}

// verify checks that a ResourceManager's certificates come from the authority that the token names, and returns that
// authority.
func (t Token) verify(chain []*x509.Certificate) (*x509.Certificate, error) {
	for _, c := range chain {
		if sha256.Sum256(c.Raw) != t.CA {
			continue
		}
		pool := x509.NewCertPool()
		pool.AddCert(c)
		_, err := chain[0].Verify(x509.VerifyOptions{
			DNSName: serverName, Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		})
		return c, err
	}
	return nil, errors.New("this is not the ResourceManager that issued the token; nothing was sent to it")
}

// CheckAddress returns the address of a ResourceManager without a trailing slash, or what is wrong with it.
func CheckAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", fmt.Errorf("%.80q is not a URL at which a ResourceManager serves node agents; want one such as https://rm:8039", address)
	}
	return "https://" + u.Host, nil
}

// Renew gets another certificate by means of the one in the folder, and replaces that.
func Renew(ctx context.Context, address, folder string) (*Credentials, error) {
	at, err := CheckAddress(address)
	if err != nil {
		return nil, err
	}
	old, err := ReadCredentials(folder)
	if err != nil {
		return nil, err
	}
	client, err := Client(folder)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	key, der, err := request(old.Node)
	if err != nil {
		return nil, err
	}
	answer, err := post(ctx, client, at+api.RenewPath, api.Join{Request: der})
	if err != nil {
		return nil, err
	}
	c, err := received(folder, old.Node, key, answer.Certificate, old.authority)
	if err != nil {
		return nil, err
	}
	return c, c.save()
}

// KeepRenewed renews the certificate in a folder once half its life is over, until ctx ends. If that fails, it passes the
// error to report and tries again an hour later. After a renewal it makes client use the new certificate.
func KeepRenewed(ctx context.Context, client *http.Client, address, folder string, report func(error)) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		if renewed, err := renewIfDue(ctx, address, folder, time.Now()); err != nil && ctx.Err() == nil {
			report(fmt.Errorf("the certificate in %s is not renewed: %w", folder, err))
		} else if renewed {
			client.CloseIdleConnections()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// renewIfDue renews a certificate if half its life is over.
func renewIfDue(ctx context.Context, address, folder string, now time.Time) (bool, error) {
	c, err := ReadCredentials(folder)
	if err != nil || now.Before(half(c.own.Leaf)) {
		return false, err
	}
	_, err = Renew(ctx, address, folder)
	return err == nil, err
}

// post requests a certificate.
func post(ctx context.Context, client *http.Client, to string, ask api.Join) (answer api.Joined, err error) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	body, err := json.Marshal(ask)
	if err != nil {
		return answer, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxText)) // as much of it as there is
		return answer, fmt.Errorf("the ResourceManager refuses (%d): %s", resp.StatusCode, printable(string(text)))
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, api.MaxJoin)).Decode(&answer); err != nil {
		return answer, fmt.Errorf("%s: not the answer of a ResourceManager: %w", to, err)
	}
	return answer, nil
}

// printable turns text from another party into one line without control characters.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
}
