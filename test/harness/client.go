package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The prefixes of specification 9.
const (
	Prefix      = "/v1"
	AliasPrefix = "/api/runtime/v1"
)

// Client is one principal talking to a server.
type Client struct {
	server *Server
	token  string
	prefix string
}

// As is the client of a token; "" sends none.
func (s *Server) As(token string) *Client { return &Client{server: s, token: token, prefix: Prefix} }

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
	text := encode(s, body)
	req, err := http.NewRequest(method, s.URL+c.prefix+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	if body == nil {
		req.Body, req.ContentLength = nil, 0
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	c.setHeaders(req, headers)
	return s.exchange(req, path, text)
}

func (c *Client) setHeaders(req *http.Request, headers []Header) {
	replaced := map[string]bool{}
	for _, h := range headers {
		name, v, _ := strings.Cut(string(h), ":")
		if !replaced[name] {
			req.Header.Del(name)
		}
		replaced[name] = true
		if v = strings.TrimPrefix(v, " "); v != "" {
			req.Header.Add(name, v)
		}
	}
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

// exchange sends a request and judges the answer.
func (s *Server) exchange(req *http.Request, path string, sent []byte) (*Answer, error) {
	s.t.Helper()
	res, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, path, err)
	}
	a := &Answer{Status: res.StatusCode, Header: res.Header, Raw: string(text), method: req.Method, path: path, sent: sent}
	if a.contentType() == "application/json" && req.Method != http.MethodHead {
		if a.JSON, err = Parse(text); err != nil {
			s.t.Errorf("%s: the answer is no JSON: %v\n%s", a, err, text)
		}
	}
	s.judge(a)
	return a, nil
}

// CloseIdle gives up the connections that nobody uses now.
func (s *Server) CloseIdle() { s.http.CloseIdleConnections() }
