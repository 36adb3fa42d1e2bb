package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/control"
)

// Bounds of one request to the Web API.
const (
	callTimeout = 10 * time.Second
	maxAnswer   = 1 << 20
)

// api is Slack's Web API.
type api struct {
	base string // ends with a slash
	http *http.Client
}

func newAPI(base string, by http.RoundTripper) *api {
	return &api{base: base, http: &http.Client{
		Transport:     by,
		Timeout:       callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is what every method answers.
type answer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error"`
}

// call calls a method and decodes its answer into out, which may be nil. A body of url.Values is
// sent as a form, which every method takes, and anything else as JSON. Errors name the method and
// Slack's code; they contain nothing that was sent.
func (a *api) call(ctx context.Context, method, token string, body, out any) (http.Header, error) {
	kind := "application/x-www-form-urlencoded"
	form, is := body.(url.Values)
	content := []byte(form.Encode())
	if !is {
		kind = "application/json; charset=utf-8"
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+method, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := a.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, cause(err))
	}
	defer func() { _ = res.Body.Close() }()
	return res.Header, understood(method, res, out)
}

// cause is an error without the address that was called: one of the socket has a secret in it.
func cause(err error) error {
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

func understood(method string, res *http.Response, out any) error {
	if res.StatusCode == http.StatusTooManyRequests {
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil || seconds < 1 {
			seconds = 1
		}
		return fmt.Errorf("%s: %w", method, chat.LaterError{After: time.Duration(seconds) * time.Second})
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var said answer
	if res.StatusCode != http.StatusOK || json.Unmarshal(text, &said) != nil {
		return fmt.Errorf("%s: status %d", method, res.StatusCode)
	}
	if !said.OK {
		return fmt.Errorf("%s: %w", method, refusal(said.Error))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// unsure are the codes with which Slack says that something may have been done all the same.
var unsure = map[string]bool{"internal_error": true, "fatal_error": true, "request_timeout": true, "service_unavailable": true}

func refusal(code string) error {
	if code == "" || len(code) > 100 || strings.ContainsFunc(code, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return errors.New("an error without a code")
	}
	switch {
	case code == "message_not_found":
		return chat.ErrGone
	case code == "ratelimited":
		return chat.LaterError{After: time.Minute}
	case unsure[code]:
		return errors.New(code)
	}
	return chat.RefusedError{Code: code}
}

// member is what users.info says of an account.
type member struct {
	User struct {
		ID        string `json:"id"`
		TeamID    string `json:"team_id"`
		Name      string `json:"name"`
		Deleted   bool   `json:"deleted"`
		Bot       bool   `json:"is_bot"`
		Guest     bool   `json:"is_restricted"`
		OneGuest  bool   `json:"is_ultra_restricted"`
		Stranger  bool   `json:"is_stranger"`
		Invited   bool   `json:"is_invited_user"`
		Confirmed *bool  `json:"is_email_confirmed"`
		Profile   struct {
			Email    string `json:"email"`
			RealName string `json:"real_name"`
		} `json:"profile"`
	} `json:"user"`
}

// account is a full member of our workspace, as users.info describes it now. why is a
// sentence for anybody else. Nothing is kept from one answer to the next: whoever is
// deactivated can decide nothing any more.
func (m *member) account(me self, id string) (c control.ChatAccount, why string) {
	u := &m.User
	switch {
	case u.ID != id || u.TeamID != me.team || u.Stranger:
		return c, "only members of the workspace that Countersign belongs to decide here."
	case u.Deleted || u.Bot || u.Invited:
		return c, "this account is no active member's."
	case u.Guest || u.OneGuest:
		return c, "guests of the workspace decide in the console, not here."
	case u.Confirmed == nil || !*u.Confirmed || u.Profile.Email == "":
		return c, "Slack says that the e-mail address of this account is not confirmed."
	}
	name := u.Profile.RealName
	if name == "" {
		name = u.Name
	}
	return control.ChatAccount{Service: Name, Workspace: me.team, ID: id, Name: name, Email: u.Profile.Email}, ""
}
