// Package httpup calls HTTP APIs that a project can't be registered with: form-encoded ones,
// those behind OAuth 2, mutual TLS or a word of their own in Authorization, and those that only
// accept a job (contract 12.4).
package httpup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

type upstream struct {
	cfg        *file.HTTP
	base       *url.URL
	operations []operation
	client     *http.Client
	auth       *up.Auth
}

// New makes an upstream as FILE has it.
func New(u *file.Upstream, secrets up.Secrets, memory up.Memory) (up.Upstream, error) {
	cfg := u.HTTP
	base, err := url.Parse(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	own, err := up.Certificate(cfg.Auth)
	if err != nil {
		return nil, err
	}
	client, err := up.Client(cfg.CAFile, own)
	if err != nil {
		return nil, err
	}
	h := &upstream{cfg: cfg, base: base, client: client, auth: up.NewAuth(cfg.Auth, secrets, memory, client, u.SecretEnv, u.AnswerKeyEnv)}
	for _, o := range cfg.Operations {
		h.operations = append(h.operations, operationOf(o))
	}
	return h, nil
}

// Prepare implements up.Upstream: what isn't offered, can't be written down or has no credential
// is known before anything is called.
func (u *upstream) Prepare(ctx context.Context, c up.Call) (up.Perform, *up.Problem) {
	op := u.match(c.Method, c.Path)
	if op == nil {
		return nil, up.NotFound(c.Method + " " + c.Path)
	}
	body, mediaType, bad := u.encode(c)
	if bad != nil {
		return nil, bad
	}
	if len(body) > countersign.MaxBodyBytes {
		return nil, up.Invalid("the body is larger than 1 MiB as the upstream takes it")
	}
	req, err := u.request(ctx, c.Method, c.Path, c.Query, body)
	if err != nil {
		return nil, up.NotCalled("%v", err)
	}
	if _, kind := u.cfg.ContentType(); mediaType != "" {
		req.Header.Set("Content-Type", cmp.Or(kind, mediaType))
	} else {
		req.Header.Del("Content-Type")
	}
	if u.cfg.Key != nil && u.cfg.Key.Header != "" {
		req.Header.Set(u.cfg.Key.Header, c.Key)
	}
	return func(ctx context.Context) up.Outcome {
		return u.ended(c.Method, u.send(ctx, req))
	}, nil
}

func (u *upstream) request(ctx context.Context, method, path, query string, body []byte) (*http.Request, error) {
	name, value, err := u.auth.Header(ctx)
	if err != nil {
		return nil, err
	}
	address := *u.base
	address.Path, address.RawPath = "", ""
	address.Opaque, address.RawQuery = strings.TrimRight(u.base.EscapedPath(), "/")+path, query // goes into the request line as it came
	req := &http.Request{Method: method, URL: &address, Host: u.base.Host, Header: http.Header{}, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if len(body) > 0 {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	req.Header.Set("User-Agent", "countersign-adapter")
	req.Header.Set("Accept-Encoding", "identity")
	for name, value := range u.cfg.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept", cmp.Or(u.cfg.Accept, "application/json"))
	if name != "" {
		req.Header.Set(name, value)
	}
	return req, nil
}

// send makes one request, once, and says what is known of it.
func (u *upstream) send(ctx context.Context, req *http.Request) up.Outcome {
	ctx, cancel := context.WithTimeout(ctx, up.Wait)
	defer cancel()
	ctx, begun := up.Sending(ctx)
	resp, err := u.client.Do(req.WithContext(ctx))
	if err != nil {
		if !begun() {
			return up.Outcome{NotCalled: up.NotCalled("%s", up.Unreachable(err))}
		}
		return up.Outcome{Unknown: up.Lost(err)}
	}
	body, err := up.ReadBody(resp)
	_ = resp.Body.Close() // read to its end, or given up
	secrets := u.auth.Masker()
	if resp.StatusCode == http.StatusUnauthorized {
		u.auth.Refused()
	}
	coding := resp.Header.Get("Content-Encoding")
	cut := err != nil || coding != "" && !strings.EqualFold(coding, "identity")
	switch refusal := resp.StatusCode >= 400 && resp.StatusCode < 500; {
	case cut && refusal: // what it says of the request holds, whatever came after it
		body = []byte(up.TextValue(secrets.Begin(body, err == nil)).Raw())
		return up.Judge(resp.StatusCode, "application/json", body, secrets)
	case err != nil:
		return up.Outcome{Unknown: up.Lost(err), Status: resp.StatusCode, Said: secrets.Begin(body, false)}
	case cut:
		return up.Outcome{Unknown: "the upstream compressed its answer, which nobody asked for", Status: resp.StatusCode}
	}
	return up.Judge(resp.StatusCode, resp.Header.Get("Content-Type"), body, secrets)
}

// ended turns the acceptance of a job into the job.
func (u *upstream) ended(method string, o up.Outcome) up.Outcome {
	if u.cfg.Job == nil || method == "GET" || o.Answer == nil || o.Answer.Status >= 300 {
		return o
	}
	said := countersign.RawValue(string(o.Answer.Body))
	missing := ""
	path := place.ReplaceAllStringFunc(u.cfg.Job.StatusPath, func(found string) string {
		name := found[1 : len(found)-1]
		v, _ := said.Lookup(name)
		if !countersign.ValidID(v.Text()) {
			missing = name
		}
		return url.PathEscape(v.Text())
	})
	if missing != "" {
		return up.Outcome{Unknown: fmt.Sprintf("the upstream accepted a job, and its answer has no identifier %q to follow it by", missing), Status: o.Answer.Status, Said: string(o.Answer.Body[:min(len(o.Answer.Body), 4<<10)])}
	}
	return up.Outcome{Job: path}
}

// Follow implements up.Upstream.
func (u *upstream) Follow(ctx context.Context, job string) (*up.Answer, error) {
	if u.cfg.Job == nil {
		return nil, nil //nolint:nilnil // FILE has no jobs any more: nobody can say how it goes on
	}
	req, err := u.request(ctx, "GET", job, "", nil)
	if err != nil {
		return nil, err
	}
	o := u.send(ctx, req)
	switch {
	case o.NotCalled != nil:
		return nil, errors.New(o.NotCalled.Message)
	case o.Answer == nil:
		return nil, errors.New(o.Unknown)
	case o.Answer.Status >= 300:
		return nil, errors.New(http.StatusText(o.Answer.Status))
	}
	status := countersign.RawValue(string(o.Answer.Body))
	for i := range u.cfg.Job.Until {
		if holds(&u.cfg.Job.Until[i], status) {
			return u.last(status), nil
		}
	}
	return nil, nil //nolint:nilnil // it goes on
}

// last is the answer of a job that has ended.
func (u *upstream) last(status countersign.Value) *up.Answer {
	a := &up.Answer{Status: http.StatusUnprocessableEntity, ContentType: "application/json", Body: []byte(status.Raw())}
	if holds(u.cfg.Job.Done, status) {
		a.Status = http.StatusOK
		if v, there := status.Lookup(u.cfg.Job.Output); u.cfg.Job.Output != "" && there {
			a.Body = []byte(v.Raw())
		}
	}
	return a
}

func holds(c *file.Condition, status countersign.Value) bool {
	v, there := status.Lookup(c.Field)
	return there && v.Equal(c.Equals.Value)
}

// Pace implements up.Upstream.
func (u *upstream) Pace() (every, timeout time.Duration) {
	if u.cfg.Job == nil {
		return time.Minute, up.Wait
	}
	return u.cfg.Job.Every.Or(time.Second), u.cfg.Job.Timeout.Or(up.Wait)
}

// Operations implements up.Upstream.
func (u *upstream) Operations() (all []up.Operation) {
	for _, o := range u.operations {
		all = append(all, up.Operation{Method: o.Method, Path: o.Path})
	}
	return all
}

// Start implements up.Upstream.
func (*upstream) Start(context.Context) {}

// Close implements up.Upstream.
func (*upstream) Close() {}
