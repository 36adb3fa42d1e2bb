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

// Client is one principal talking to a server, through the Go SDK: whatever a test
// asks, the SDK sends. It never repeats, so that a test sees each answer.
type Client struct {
	server *Server
	token  string
	prefix string
}

// As is the client of a token; "" sends none.
func (s *Server) As(token string) *Client { return &Client{server: s, token: token, prefix: Prefix} }

// Token is the bearer token that the client sends.
func (c *Client) Token() string { return c.token }

// SDK is the principal's typed client. It lives as long as the server keeps its
// address: not over a restart.
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

// Put sends a document.
func (c *Client) Put(path string, body any, headers ...Header) *Answer {
	return c.Do("PUT", path, body, headers...)
}

// Post sends a document; nil sends none.
func (c *Client) Post(path string, body any, headers ...Header) *Answer {
	return c.Do("POST", path, body, headers...)
}

// Delete deletes.
func (c *Client) Delete(path string) *Answer { return c.Do("DELETE", path, nil) }

// Do sends a request. A body is encoded as JSON unless it is text already; a
// header of the test's own replaces the one that would be sent, and "Name:"
// alone leaves it out.
func (c *Client) Do(method, path string, body any, headers ...Header) *Answer {
	c.server.t.Helper()
	a, err := c.Try(method, path, body, headers...)
	if err != nil {
		c.server.t.Fatal(err)
	}
	return a
}

// Try is Do for a server that may die meanwhile: the error says that no whole
// answer came, so that nothing is known of the request.
func (c *Client) Try(method, path string, body any, headers ...Header) (*Answer, error) {
	s := c.server
	s.t.Helper()
	q := client.Request{Method: method, Path: path, Header: changed(headers)}
	text := encode(s, body)
	if body != nil {
		q.Body = text
	}
	res, err := c.SDK().Send(context.Background(), q)
	if err != nil {
		return nil, err
	}
	return s.newAnswer(res, q, text), nil
}

// changed are the headers of a test's own, in their order; a name with nothing
// behind it is one that is not sent.
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

// newAnswer makes an answer of what came back, and judges it.
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

// CloseIdle closes the connections that are not in use.
func (s *Server) CloseIdle() { s.http.CloseIdleConnections() }
