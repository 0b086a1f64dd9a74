package trust

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/node/api"
)

const node = "rack1-n7.example.com:8041"

func open(t testing.TB, dir string) *Authority {
	t.Helper()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ask(t testing.TB, name string) []byte {
	t.Helper()
	_, der, err := request(name)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// wants fails the test unless an error contains a text.
func wants(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v; want %q", err, text)
	}
}

// An authority is created once, even by concurrent callers, and is found again.
func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	_, err := Load(dir)
	wants(t, err, "heddle rm makes it")
	var all [8]*Authority
	var each sync.WaitGroup
	for i := range all {
		each.Go(func() { all[i], _ = Open(dir) })
	}
	each.Wait()
	for _, a := range all {
		if a == nil || a.hash != all[0].hash || !bytes.Equal(a.tokens, all[0].tokens) {
			t.Fatalf("of those who open it at once, one has another: %v", a)
		}
	}
	in, err := os.ReadDir(dir)
	if err != nil || len(in) != 1 {
		t.Errorf("the folder has %v (%v), want %s alone", in, err, authorityFile)
	}
	path := filepath.Join(dir, authorityFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != fileMode {
		t.Errorf("%v, %v", info, err)
	}
	_ = os.Chmod(path, 0o640)
	_, err = Open(dir)
	wants(t, err, "run: chmod 600 "+path)
}

// A damaged file is an error and stays as it is.
func TestDamagedAuthority(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	path := filepath.Join(dir, authorityFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "cut": whole[:len(whole)/2], "changed": bytes.Replace(whole, []byte("\nM"), []byte("\nA"), 1),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), path+" is damaged") {
			t.Errorf("%s: %v", name, err)
		}
		if is, _ := os.ReadFile(path); !bytes.Equal(is, data) {
			t.Errorf("%s: the file is another", name)
		}
	}
	// The parts of two authorities do not fit together.
	other := t.TempDir()
	open(t, other)
	second, _ := os.ReadFile(filepath.Join(other, authorityFile))
	cut := []byte("-----BEGIN CERT")
	key, _, _ := bytes.Cut(whole, cut)
	_, rest, _ := bytes.Cut(second, cut)
	if err := os.WriteFile(path, bytes.Join([][]byte{key, rest}, cut), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Load(dir)
	wants(t, err, "do not match")
}

func TestTokens(t *testing.T) {
	a := open(t, t.TempDir())
	good, err := a.Token("", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseToken(" " + good.String() + "\n")
	if err != nil || !again.Expires.Equal(good.Expires) || again.String() != good.String() {
		t.Errorf("%+v (%v), want %+v", again, err, good)
	}
	for range 2 { // the token is good for several nodes
		if name, der, err := a.Join(good.String(), ask(t, node)); err != nil || name != node || len(der) == 0 {
			t.Errorf("%s, %v", name, err)
		}
	}
	bound, _ := a.Token(node, time.Hour)
	if _, _, err := a.Join(bound.String(), ask(t, node)); err != nil {
		t.Error(err)
	}
	other, _ := open(t, t.TempDir()).Token("", time.Hour)
	forged := bound
	forged.Node = ""
	late := good
	late.Expires = late.Expires.Add(time.Hour)
	for name, c := range map[string]struct{ token, node, want string }{
		"nothing":        {"", node, "this is not a token"},
		"cut":            {good.String()[:60], node, "this is not a token"},
		"another's":      {other.String(), node, "issued by another ResourceManager"},
		"unbound":        {forged.String(), node, "not genuine"},
		"prolonged":      {late.String(), node, "not genuine"},
		"another node":   {bound.String(), "other:8041", "the token is for node " + node + ", not for other:8041"},
		"no node":        {good.String(), "other", "want host:port"},
		"a line in it":   {good.String(), "a\nb:1", "want host:port"},
		"port 0":         {good.String(), "a:0", "want host:port"},
		"too long":       {good.String(), strings.Repeat("a", maxName) + ":1", "want host:port"},
		"not as printed": {good.String(), "a:08041", "want host:port"},
	} {
		if _, der, err := a.Join(c.token, ask(t, c.node)); err == nil || der != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	a.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	_, _, err = a.Join(good.String(), ask(t, node))
	wants(t, err, "the token expired at ")
	for _, valid := range []time.Duration{0, -time.Hour, MaxValid + 1} {
		if _, err := a.Token("", valid); err == nil {
			t.Errorf("a token is valid for %v", valid)
		}
	}
	if _, err := a.Token("nosuch", time.Hour); err == nil {
		t.Error("a token is for no node")
	}
}

func TestRequests(t *testing.T) {
	a := open(t, t.TempDir())
	strange := func(curve elliptic.Curve) []byte {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: node}}, key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	unsigned := bytes.Clone(ask(t, node))
	unsigned[len(unsigned)-1] ^= 1
	for want, der := range map[string][]byte{
		"not a certificate request": []byte("hello"), "want at most": make([]byte, maxRequest+1),
		"want ECDSA on P-256":       strange(elliptic.P384()),
		"with an invalid signature": unsigned, "only for it, not for other:1": ask(t, "other:1"),
	} {
		_, err := a.Renew(node, der)
		wants(t, err, want)
	}
}

// A certificate says no more than it should.
func TestCertificates(t *testing.T) {
	a := open(t, t.TempDir())
	der, err := a.Renew(node, ask(t, node))
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	life := time.Until(c.NotAfter)
	if c.IsCA || len(c.DNSNames) > 0 || c.Subject.CommonName != node || life > Life || life < Life-time.Minute {
		t.Errorf("%+v", c)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	server := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if _, err := c.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: server}); err == nil {
		t.Error("a node may pass for the ResourceManager")
	}
	first, err := a.own()
	if err != nil {
		t.Fatal(err)
	}
	if same, _ := a.own(); same != first {
		t.Error("the ResourceManager's certificate is made for each connection")
	}
	a.Now = func() time.Time { return time.Now().Add(Life/2 + time.Hour) }
	if next, _ := a.own(); next == first {
		t.Error("the ResourceManager's certificate is not made again at half its life")
	}
}

func TestNodeOf(t *testing.T) {
	from := func(name string, until time.Duration) *http.Request {
		c := &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(until)}
		return &http.Request{TLS: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{c}}}}
	}
	if name, ok := NodeOf(from(node, time.Hour)); name != node || !ok {
		t.Errorf("%q, %v", name, ok)
	}
	if err := SpeaksFor(from(node, time.Hour), node); err != nil {
		t.Error(err)
	}
	if err := SpeaksFor(&http.Request{}, node); err != nil {
		t.Error(err)
	}
	wants(t, SpeaksFor(from(node, time.Hour), "other:1"), "the certificate is for node "+node+", and")
	for _, r := range []*http.Request{
		{}, {TLS: &tls.ConnectionState{}}, from(node, -time.Second), from("Heddle node agents", time.Hour),
	} {
		if name, ok := NodeOf(r); ok || name != "" {
			t.Errorf("%q", name)
		}
		if r.TLS != nil {
			wants(t, SpeaksFor(r, node), "no valid certificate")
		}
	}
}

// The parts of credentials fit together, and nobody else may read them.
func TestCredentials(t *testing.T) {
	a, dir := open(t, t.TempDir()), t.TempDir()
	_, err := Client(dir)
	wants(t, err, "heddle node join makes it")
	key, der, _ := request(node)
	cert, err := a.Renew(node, der)
	if err != nil {
		t.Fatal(err)
	}
	c, err := received(dir, node, key, cert, a.cert)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.save(); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadCredentials(dir); err != nil || again.Node != node || !again.Until.Equal(c.Until) {
		t.Errorf("%+v, %v; want %+v", again, err, c)
	}
	other, _, _ := request(node)
	_, err = received(dir, node, other, cert, a.cert)
	wants(t, err, "does not match the key")
	_, err = received(dir, "other:1", key, cert, a.cert)
	wants(t, err, "the certificate is for node "+node)
	_, err = received(dir, node, key, cert, open(t, t.TempDir()).cert)
	wants(t, err, "not from this authority")
	_, err = received(dir, node, key, []byte("x"), a.cert)
	wants(t, err, "cannot be used")
	if err := os.WriteFile(filepath.Join(dir, credentialsFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Client(dir)
	wants(t, err, "is damaged")
}

// A certificate is renewed once half its life is over, and not before.
func TestRenewIfDue(t *testing.T) {
	a, dir := open(t, t.TempDir()), t.TempDir()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var j api.Join
		err := json.NewDecoder(r.Body).Decode(&j)
		name, _ := NodeOf(r)
		der, refused := a.Renew(name, j.Request)
		if j.Token != "" {
			name, der, refused = a.Join(j.Token, j.Request)
		}
		if err = errors.Join(err, refused); err != nil {
			http.Error(w, name+err.Error(), http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(api.Joined{Certificate: der})
	}))
	s.TLS = a.ServerConfig()
	s.TLS.NextProtos = []string{"http/1.1"}
	s.StartTLS()
	defer s.Close()
	k, _ := a.Token("", time.Hour)
	first, err := Join(t.Context(), s.URL, node, k.String(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if renewed, err := renewIfDue(t.Context(), s.URL, dir, half(first.own.Leaf).Add(-time.Second)); renewed || err != nil {
		t.Errorf("before half its life: %v, %v", renewed, err)
	}
	if renewed, err := renewIfDue(t.Context(), s.URL, dir, half(first.own.Leaf)); !renewed || err != nil {
		t.Errorf("after half its life: %v, %v", renewed, err)
	}
	if next, err := ReadCredentials(dir); err != nil || next.own.Leaf.SerialNumber.Cmp(first.own.Leaf.SerialNumber) == 0 {
		t.Errorf("%+v, %v", next, err)
	}

	// Renewal goes on after a failure, and reports it.
	ctx, stop := context.WithCancel(t.Context())
	var said error
	if err := os.Remove(filepath.Join(dir, credentialsFile)); err != nil {
		t.Fatal(err)
	}
	KeepRenewed(ctx, http.DefaultClient, s.URL, dir, func(err error) { said = err; stop() })
	wants(t, said, "is not renewed: ")
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{"https://rm:8039": "https://rm:8039", "https://[::1]:8039/": "https://[::1]:8039"} {
		if got, err := CheckAddress(in); got != want || err != nil {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", "rm:8039", "http://rm:8039", "https://", "https://rm/x", "https://a@rm", "https://rm?x", "https://rm:x", "\x00",
	} {
		_, err := CheckAddress(in)
		wants(t, err, "want one such as https://rm:8039")
	}
	_, err := Join(context.Background(), "http://rm:8039", node, "", "")
	wants(t, err, "want one such as https://rm:8039")
	_, err = Join(context.Background(), "https://rm:8039", "n", "", "")
	wants(t, err, "want host:port")
	_, err = Join(context.Background(), "https://rm:8039", node, "x", "")
	wants(t, err, "this is not a token")
}

// A token that can be parsed prints the same again.
func FuzzToken(f *testing.F) {
	a := open(f, f.TempDir())
	for _, name := range []string{"", node} {
		t, err := a.Token(name, time.Hour)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(t.String())
	}
	for _, s := range []string{
		"", tokenPrefix, tokenPrefix + "AAAA", tokenPrefix + strings.Repeat("A", 96), tokenPrefix + strings.Repeat("_", 99),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if token, err := ParseToken(s); err == nil && token.String() != strings.TrimSpace(s) {
			t.Errorf("%q is printed as %q", s, token)
		}
	})
}

// Anything accepted as a certificate request names a node, and a certificate issued for it names the same.
func FuzzRequest(f *testing.F) {
	a := open(f, f.TempDir())
	der := ask(f, node)
	for _, b := range [][]byte{nil, der, der[:len(der)/2], ask(f, "nosuch"), bytes.Repeat([]byte{0x30}, 40)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRequest(b)
		if err != nil {
			return
		}
		cert, err := a.issue(r)
		if err != nil {
			t.Fatal(err)
		}
		c, err := x509.ParseCertificate(cert)
		if err != nil || c.Subject.CommonName != r.Subject.CommonName || CheckNode(c.Subject.CommonName) != nil {
			t.Errorf("%v, %v", c, err)
		}
	})
}
