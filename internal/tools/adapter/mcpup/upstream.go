// Package mcpup calls the tools of an MCP server, which is a command or reached over HTTP
// (contract 12.4). It offers the tools that FILE lists, as long as they are what somebody has
// looked at.
package mcpup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

type upstream struct {
	cfg     *file.MCP
	secrets up.Secrets
	auth    *up.Auth
	client  *http.Client
	log     *slog.Logger
	calls   atomic.Int64

	mu      sync.Mutex // also while a server starts: all calls wait for it
	session *session
	closed  bool
}

// New makes an upstream as FILE has it.
func New(u *file.Upstream, secrets up.Secrets, memory up.Memory, log *slog.Logger) (up.Upstream, error) {
	own, err := up.Certificate(u.MCP.Auth)
	if err != nil {
		return nil, err
	}
	client, err := up.Client("", own)
	if err != nil {
		return nil, err
	}
	others := []string{u.SecretEnv, u.AnswerKeyEnv}
	for _, name := range u.MCP.Env {
		if secretName.MatchString(name) {
			others = append(others, name)
		}
	}
	return &upstream{cfg: u.MCP, secrets: secrets, client: client, log: log, auth: up.NewAuth(u.MCP.Auth, secrets, memory, client, others...)}, nil
}

// secretName are variables of a command whose values are masked where a tool repeats them.
var secretName = regexp.MustCompile(`(?i)(token|secret|password|passwd|key|credential|auth|dsn)`)

// Look reaches a server once and returns its tools, for whoever imports them.
func Look(ctx context.Context, cfg *file.MCP, secrets up.Secrets, log *slog.Logger) ([]Tool, error) {
	u, err := New(&file.Upstream{MCP: cfg}, secrets, nil, log)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	s, err := u.(*upstream).open(ctx)
	if err != nil {
		return nil, err
	}
	return s.tools(ctx)
}

// open returns the session, a new one where the last is over.
func (u *upstream) open(ctx context.Context) (*session, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.session != nil {
		select {
		case <-u.session.over:
		default:
			return u.session, nil
		}
	}
	if u.closed {
		return nil, fmt.Errorf("the adapter stops")
	}
	s, err := connect(ctx, u.cfg, u.auth, u.secrets, u.client, u.log)
	if err == nil {
		u.session = s
	}
	return s, err
}

// current asks a server for its tools, another time over a new session where the last one turns
// out to be over: nothing was called yet.
func (u *upstream) current(ctx context.Context) (*session, []Tool, error) {
	s, err := u.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	tools, err := s.tools(ctx)
	if err == nil {
		return s, tools, nil
	}
	u.drop(s)
	if s, err = u.open(ctx); err != nil {
		return nil, nil, err
	}
	tools, err = s.tools(ctx)
	return s, tools, err
}

func (u *upstream) drop(s *session) {
	_ = s.Close() // whatever it says, it isn't used any more
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.session == s {
		u.session = nil
	}
}

// Prepare implements up.Upstream: a tool that isn't what it was when somebody looked at it isn't
// called.
func (u *upstream) Prepare(ctx context.Context, c up.Call) (up.Perform, *up.Problem) {
	name := strings.TrimPrefix(c.Path, "/")
	listed, offered := u.cfg.Tools[name]
	if !offered || c.Method != http.MethodPost || c.Query != "" {
		return nil, up.NotFound(c.Method + " " + c.Path)
	}
	arguments := c.Body
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	if err := exactjson.Check(arguments); err != nil {
		return nil, up.Invalid("the body is no JSON: %v", err)
	}
	if countersign.RawValue(string(arguments)).Kind() != countersign.KindObject {
		return nil, up.Invalid("the body must be a JSON object: its fields are the tool's arguments")
	}
	s, tools, err := u.current(ctx)
	if err != nil {
		return nil, up.NotCalled("%v", err)
	}
	found := slices.DeleteFunc(tools, func(t Tool) bool { return t.Name != name })
	if len(found) != 1 || found[0].Digest() != listed.Digest {
		p := up.NotCalled("the server's tool %q is not what it was when it was imported: look at it again, with countersign import mcp", name)
		p.Code = "tool_changed"
		return nil, p
	}
	return func(ctx context.Context) up.Outcome {
		return u.call(ctx, s, name, arguments, listed.Refusal)
	}, nil
}

// longest is how long a tool may take.
const longest = time.Hour

func (u *upstream) call(ctx context.Context, s *session, name string, arguments []byte, refusal bool) up.Outcome {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	token := fmt.Sprintf("call-%d", u.calls.Add(1))
	c := s.ask(ctx, token, func(ctx context.Context) error {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments), Meta: mcp.Meta{"progressToken": token}})
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.result != nil:
		return u.judge(c.result, refusal)
	case c.failed != nil:
		return u.refused(c.failed, refusal)
	case !c.sent:
		return up.Outcome{NotCalled: up.NotCalled("the server could not be reached")}
	case c.status != 0:
		return up.Judge(c.status, c.kind, c.body, u.auth.Masker())
	}
	return up.Outcome{Unknown: "the connection to the server ended before its answer"}
}

// refused judges an error of the protocol. Those that say that the request itself is wrong are an
// end; of an error within the server nobody knows what happened before it.
func (u *upstream) refused(e *rpcError, refusal bool) up.Outcome {
	text := u.auth.Masker().Text(e.Message[:min(len(e.Message), 4<<10)])
	if e.Code == -32603 || e.Code <= -32000 && e.Code >= -32099 {
		return up.Outcome{Unknown: fmt.Sprintf("the server answered with the error %d, which does not say what happened", e.Code), Said: text}
	}
	return u.answer(true, up.TextValue(text), refusal)
}

// judge turns a tool's result into an answer.
func (u *upstream) judge(result json.RawMessage, refusal bool) up.Outcome {
	var r struct {
		IsError    bool              `json:"isError"`
		Structured countersign.Value `json:"structuredContent"`
		Content    []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Asks json.RawMessage `json:"inputRequests"`
	}
	if err := exactjson.Check(result); err != nil || json.Unmarshal(result, &r) != nil {
		return up.Outcome{Unknown: "the tool's answer can't be read", Said: u.auth.Masker().Begin(result, true)}
	}
	var texts []string
	for _, c := range r.Content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	value := r.Structured
	switch {
	case r.Asks != nil:
		return u.answer(true, up.TextValue("the tool asked for more input, which the adapter never gives"), refusal)
	case value.IsZero() || value.IsNull():
		value = up.TextValue(u.auth.Masker().Text(strings.Join(texts, "\n")))
	}
	return u.answer(r.IsError, value, refusal)
}

func (u *upstream) answer(isError bool, result countersign.Value, refusal bool) up.Outcome {
	status := http.StatusOK
	if isError && refusal {
		status = http.StatusUnprocessableEntity
	}
	body := countersign.ObjectValue(map[string]countersign.Value{"isError": countersign.Bool(isError), "result": result}).Raw()
	if len(body) > countersign.MaxBodyBytes {
		return up.Outcome{Unknown: up.ErrTooLarge.Error()}
	}
	a, err := up.Success(http.StatusOK, []byte(body), u.auth.Masker())
	if err != nil {
		return up.Outcome{Unknown: err.Error()}
	}
	a.Status = status
	return up.Outcome{Answer: a}
}

// Follow implements up.Upstream: tools have no jobs.
func (*upstream) Follow(context.Context, string) (*up.Answer, error) {
	return nil, errors.ErrUnsupported
}

// Pace implements up.Upstream.
func (*upstream) Pace() (every, timeout time.Duration) { return time.Minute, up.Wait }

// Operations implements up.Upstream.
func (u *upstream) Operations() (all []up.Operation) {
	for _, name := range slices.Sorted(maps.Keys(u.cfg.Tools)) {
		all = append(all, up.Operation{Method: http.MethodPost, Path: "/" + name})
	}
	return all
}

// Start implements up.Upstream: a command is started, and what has changed is told.
func (u *upstream) Start(ctx context.Context) {
	_, tools, err := u.current(ctx)
	if err != nil {
		u.log.Warn("the server can't be reached; it is tried again with each call", "error", err)
		return
	}
	now := map[string]string{}
	for i := range tools {
		now[tools[i].Name] = tools[i].Digest()
	}
	for _, name := range slices.Sorted(maps.Keys(u.cfg.Tools)) {
		if now[name] != u.cfg.Tools[name].Digest {
			u.log.Warn("a tool is not what it was when it was imported, and isn't called", "tool", name)
		}
	}
}

// Close implements up.Upstream.
func (u *upstream) Close() {
	u.mu.Lock()
	u.closed = true
	s := u.session
	u.mu.Unlock()
	if s != nil {
		_ = s.Close() // its server ends
		<-s.over
	}
}
