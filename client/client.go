// Package client talks to a ResourceManager over its REST interface: calls under /ws/v1/cluster work with any YARN
// ResourceManager, those under /ws/v1/heddle only with Heddle. Changes go over RPC if REST does not accept them.
//
// It knows nothing of how answers are displayed, or of how a ResourceManager works inside.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"heddle/yarn/rest"
)

const (
	// maxAnswer bounds how much of one answer is read.
	maxAnswer = 256 << 20
	// maxComplaint bounds how much of an error answer is read.
	maxComplaint = 64 << 10
	// defaultTimeout bounds one call if the options do not.
	defaultTimeout = 30 * time.Second
	// DefaultURL is the default address of a ResourceManager on this machine.
	DefaultURL = "http://127.0.0.1:8088"
)

// Options say which ResourceManager a [Client] talks to, and as whom.
type Options struct {
	URL     string        // the web address: http://host:port, or host:port; "" for [DefaultURL]
	User    string        // sent as user.name: who views and makes changes; "" for nobody
	Timeout time.Duration // of one call; 0 for half a minute
}

// A Client talks to one ResourceManager. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	user  string
	http  *http.Client
	stock atomic.Bool // it is known not to be Heddle; reset when it does not answer

	changes atomic.Pointer[string] // where changes go, once known; see changesAt
}

// New returns a client. It does not connect yet; an error is about the options.
func New(o Options) (*Client, error) {
	text := o.URL
	if text == "" {
		text = DefaultURL
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	base, err := url.Parse(text)
	if err != nil || base.Hostname() == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of a ResourceManager; want one such as http://host:8088", o.URL)
	}
	base.Path = strings.TrimRight(base.Path, "/")
	base.RawQuery, base.Fragment = "", ""
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &Client{base: base, user: o.User, http: &http.Client{Timeout: o.Timeout}}, nil
}

// URL returns the address of the ResourceManager, with xxxxx in place of a password.
func (c *Client) URL() string { return c.base.Redacted() }

// An Error is a refusal by the ResourceManager.
type Error struct {
	Status    int    // HTTP status, or the nearest equivalent
	Exception string // the class that the ResourceManager names, without its package; "" for none
	Message   string // its message, without a class name in front
	URL       string // what was requested, and where
}

// Error returns the message and what was requested.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = fmt.Sprintf("answered %d %s", e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s (%s)", text, e.URL)
}

// NotFound reports whether a ResourceManager says that something does not exist.
func NotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusNotFound && e.Exception != ""
}

// ErrNotHeddle says that the ResourceManager is not Heddle, and does not have what was requested.
var ErrNotHeddle = errors.New("only Heddle provides this, and this ResourceManager is not Heddle")

// get requests a path below the base and reads the answer under root into out.
func (c *Client) get(ctx context.Context, path string, query url.Values, root string, out any) error {
	_, err := c.call(ctx, http.MethodGet, path, query, nil, root, out)
	return err
}

// call sends in as JSON, if there is any, and reads the answer under root into out. The caller has to escape names in
// path. It returns the status, which is below 300 if there is no error.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in any, root string, out any) (int, error) {
	at := *c.base
	at.RawPath = at.EscapedPath() + path
	plain, err := url.PathUnescape(at.RawPath)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	at.Path = plain
	shown := at.Redacted()
	if c.user != "" {
		if query == nil {
			query = url.Values{}
		}
		query.Set("user.name", c.user)
	}
	at.RawQuery = query.Encode()
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return 0, fmt.Errorf("%s: %w", shown, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-XSRF-Header", "heddle") // required by YARN's filter against forged requests
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.stock.Store(false) // the next one to answer may be another ResourceManager
		return 0, c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return resp.StatusCode, refusal(resp, shown)
	}
	return resp.StatusCode, c.read(resp, shown, root, out)
}

// unreachable says which ResourceManager did not answer, without the query that Go includes in its error.
func (c *Client) unreachable(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("no ResourceManager answers at %s: %w", c.URL(), err)
}

// read reads the answer under root into out.
func (c *Client) read(resp *http.Response, shown, root string, out any) error {
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return fmt.Errorf("%s answered with %q and not with JSON: it is not the web address of a ResourceManager", shown, kind)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.unreachable(err)
	}
	if len(data) > maxAnswer {
		return fmt.Errorf("%s answered with more than %d MiB", shown, maxAnswer>>20)
	}
	if err := rest.Parse(data, root, out); err != nil {
		return fmt.Errorf("%s: answer: %w", shown, err)
	}
	return nil
}

// refusal reads an error in YARN's form, or any other text of a server.
func refusal(resp *http.Response, shown string) error {
	e := &Error{Status: resp.StatusCode, URL: shown}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxComplaint)) // as much of it as there is
	var remote rest.RemoteException
	switch kind := resp.Header.Get("Content-Type"); {
	case rest.Parse(data, "RemoteException", &remote) == nil && remote.Message != "":
		e.Exception = remote.Exception
		e.Message = withoutClass(remote.Message)
	case e.Status == http.StatusNotFound: // a ResourceManager would have said so in its form
		e.Message = "it is not the web address of a ResourceManager"
	case strings.HasPrefix(kind, "text/plain"):
		e.Message = strings.TrimSpace(string(data))
	}
	return e
}

// withoutClass removes a Java class name in front of a message.
func withoutClass(message string) string {
	class, rest, ok := strings.Cut(message, ": ")
	if ok && strings.Contains(class, ".") && !strings.ContainsAny(class, " ,'\"") {
		return rest
	}
	return message
}
