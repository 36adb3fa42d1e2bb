package harness

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/countersign/countersign/client"
)

// The prefixes of specification 9.
const (
	Prefix      = "/v1"
	AliasPrefix = "/api/runtime/v1"
)

// Client is one principal at a server. It sends every request through the Go SDK, without
// repetitions, so that a test sees each answer.
type Client struct {
	server *Server
	token  string
	prefix string
}

// As returns the client of a token; "" sends none.
func (s *Server) As(token string) *Client { return &Client{server: s, token: token, prefix: Prefix} }

// Token is the bearer token that the client sends.
func (c *Client) Token() string { return c.token }

// SDK is the principal's SDK client. It can't be used after a restart, which changes the server's
// address.
func (c *Client) SDK(changes ...func(*client.Config)) *client.Client {
	c.server.t.Helper()
	cfg := client.Config{BaseURL: c.server.URL, Prefix: c.prefix, Token: c.token, HTTP: c.server.http, Timeout: patience, Retries: -1, AllowInsecure: true}
	for _, change := range changes {
		change(&cfg)
	}
	sdk, err := client.New(cfg)
	if err != nil {
		c.server.t.Fatal(err)
	}
	return sdk
}

// Aliased is the same client on the compatibility prefix.
func (c *Client) Aliased() *Client {
	other := *c
	other.prefix = AliasPrefix
	return &other
}

// Header is a header line of a request, "Name: value".
type Header string

// Get reads a path below the prefix.
func (c *Client) Get(path string, headers ...Header) *Answer {
	return c.Do("GET", path, nil, headers...)
}

// Put sends a PUT with a document.
func (c *Client) Put(path string, body any, headers ...Header) *Answer {
	return c.Do("PUT", path, body, headers...)
}

// Post sends a POST with a document; nil sends none.
func (c *Client) Post(path string, body any, headers ...Header) *Answer {
	return c.Do("POST", path, body, headers...)
}

// Delete sends a DELETE.
func (c *Client) Delete(path string) *Answer { return c.Do("DELETE", path, nil) }

// Do sends a request. It encodes body as JSON unless it is text already. A given header replaces the
// default one, and "Name:" without a value removes it.
func (c *Client) Do(method, path string, body any, headers ...Header) *Answer {
	c.server.t.Helper()
	a, err := c.Try(method, path, body, headers...)
	if err != nil {
		c.server.t.Fatal(err)
	}
	return a
}

// Try is Do for a server that may die meanwhile: it returns an error if no complete answer came, so
// that it is not known whether the request was carried out.
func (c *Client) Try(method, path string, body any, headers ...Header) (*Answer, error) {
	s := c.server
	s.t.Helper()
	q := client.Request{Method: method, Path: path, Header: changed(headers)}
	text := encode(s, body)
	if body != nil {
		q.Body = text
	}
	if method == http.MethodGet && path == "/events" { // a stream that ends with the right to see: only how it begins
		q.Method = http.MethodHead
		if res, err := c.SDK().Send(context.Background(), q); err != nil || res.Status == http.StatusOK {
			return &Answer{Status: http.StatusOK, Header: http.Header{}, method: method, path: path}, err
		}
		q.Method = method
	}
	res, err := c.SDK().Send(context.Background(), q)
	if err != nil {
		return nil, err
	}
	return s.newAnswer(res, q, text), nil
}

// changed parses a test's headers; a name without a value is a header to leave out.
func changed(headers []Header) http.Header {
	out := http.Header{}
	for _, h := range headers {
		name, v, _ := strings.Cut(string(h), ":")
		name = http.CanonicalHeaderKey(name)
		if v = strings.TrimPrefix(v, " "); v != "" {
			out[name] = append(out[name], v)
		} else if _, known := out[name]; !known {
			out[name] = nil
		}
	}
	return out
}

func encode(s *Server, body any) []byte {
	s.t.Helper()
	switch body := body.(type) {
	case nil:
		return nil
	case string:
		return []byte(body)
	}
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// newAnswer makes an Answer of a response, and checks it.
func (s *Server) newAnswer(res *client.Response, q client.Request, sent []byte) *Answer {
	s.t.Helper()
	a := &Answer{Status: res.Status, Header: res.Header, Raw: string(res.Body), method: q.Method, path: q.Path, sent: sent}
	if a.contentType() == "application/json" && q.Method != http.MethodHead {
		var err error
		if a.JSON, err = Parse(res.Body); err != nil {
			s.t.Errorf("%s: the answer is no JSON: %v\n%s", a, err, res.Body)
		}
	}
	s.judge(a)
	return a
}

// CloseIdle closes unused connections.
func (s *Server) CloseIdle() { s.http.CloseIdleConnections() }
