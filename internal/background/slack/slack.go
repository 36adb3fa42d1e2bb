// Package slack is the adapter for Slack: an app in Socket Mode, which needs no public
// address. It posts and replaces messages by the Web API, and gets what people press and
// type over a WebSocket that it opens itself.
//
// What is made of texts (blocks.go) and what Slack's payloads mean (intent.go) is pure.
package slack

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/control"
)

// Name is the adapter's name.
const Name = "slack"

// Config is what the settings say. None of it is logged.
type Config struct {
	URL      string            // of the Web API: DefaultURL, or GovSlack's
	AppToken string            // opens connections
	BotToken string            // everything else
	HTTP     http.RoundTripper // carries the requests; nil: http.DefaultTransport
	Log      *slog.Logger
}

// DefaultURL is Slack's Web API.
const DefaultURL = "https://slack.com/api/"

// scopes are what the bot token must be allowed.
var scopes = []string{"chat:write", "users:read", "users:read.email"}

// Slack is the adapter.
type Slack struct {
	cfg Config
	api *api

	mu sync.Mutex
	me self // the app, as far as it is known
}

// New makes the adapter. It asks for nothing yet.
func New(cfg Config) *Slack {
	if !strings.HasSuffix(cfg.URL, "/") {
		cfg.URL += "/"
	}
	return &Slack{cfg: cfg, api: newAPI(cfg.URL, cfg.HTTP)}
}

// Name is the adapter's name.
func (s *Slack) Name() string { return Name }

// Post sends a message to a channel; Slack names it by its timestamp.
func (s *Slack) Post(ctx context.Context, channel string, m chat.Message) (string, error) {
	var out struct {
		TS string `json:"ts"`
	}
	blocks, fallback := messageBlocks(m)
	_, err := s.api.call(ctx, "chat.postMessage", s.cfg.BotToken, object{
		"channel": channel, "text": fallback, "blocks": blocks, "mrkdwn": false, "unfurl_links": false, "unfurl_media": false,
	}, &out)
	if err == nil && out.TS == "" {
		err = fmt.Errorf("chat.postMessage: an answer without ts")
	}
	return out.TS, err
}

// Replace replaces a message.
func (s *Slack) Replace(ctx context.Context, channel, ref string, m chat.Message) error {
	blocks, fallback := messageBlocks(m)
	_, err := s.api.call(ctx, "chat.update", s.cfg.BotToken, object{"channel": channel, "ts": ref, "text": fallback, "blocks": blocks}, nil)
	return err
}

// Facts are what Check found out.
type Facts struct {
	Team, Bot string
	Missing   []string // scopes
}

// Check asks Slack whether both tokens are good, and sends nothing to anybody.
func (s *Slack) Check(ctx context.Context) (f Facts, err error) {
	var who struct {
		Team string `json:"team"`
		User string `json:"user"`
	}
	head, err := s.api.call(ctx, "auth.test", s.cfg.BotToken, url.Values{}, &who)
	if err != nil {
		return f, err
	}
	f.Team, f.Bot = who.Team, who.User
	if given := head.Get("X-OAuth-Scopes"); given != "" {
		has := map[string]bool{}
		for _, scope := range strings.Split(given, ",") {
			has[strings.TrimSpace(scope)] = true
		}
		for _, scope := range scopes {
			if !has[scope] {
				f.Missing = append(f.Missing, scope)
			}
		}
	}
	_, err = s.ticket(ctx)
	return f, err
}

// ticket opens a connection at Slack and returns its one-time address.
func (s *Slack) ticket(ctx context.Context) (string, error) {
	var out struct {
		URL string `json:"url"`
	}
	if _, err := s.api.call(ctx, "apps.connections.open", s.cfg.AppToken, url.Values{}, &out); err != nil {
		return "", err
	}
	u, err := url.Parse(out.URL)
	base, _ := url.Parse(s.cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "wss" && (u.Scheme != "ws" || base == nil || base.Scheme != "http") {
		return "", fmt.Errorf("apps.connections.open: the address is no wss address")
	}
	return out.URL, nil
}

// team finds out which workspace the bot token is of.
func (s *Slack) team(ctx context.Context) (string, error) {
	s.mu.Lock()
	known := s.me.team
	s.mu.Unlock()
	if known != "" {
		return known, nil
	}
	var who struct {
		TeamID string `json:"team_id"`
	}
	if _, err := s.api.call(ctx, "auth.test", s.cfg.BotToken, url.Values{}, &who); err != nil {
		return "", err
	}
	if who.TeamID == "" {
		return "", fmt.Errorf("auth.test: an answer without team_id")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.me.team = who.TeamID
	return who.TeamID, nil
}

// account asks Slack who somebody is at this moment.
func (s *Slack) account(ctx context.Context, me self, id string) (control.ChatAccount, string, error) {
	var m member
	if _, err := s.api.call(ctx, "users.info", s.cfg.BotToken, url.Values{"user": {id}}, &m); err != nil {
		return control.ChatAccount{}, "", err
	}
	c, why := m.account(me, id)
	return c, why, nil
}

// open shows a modal to who pressed a button.
func (s *Slack) open(ctx context.Context, trigger string, view object) error {
	_, err := s.api.call(ctx, "views.open", s.cfg.BotToken, object{"trigger_id": trigger, "view": view}, nil)
	return err
}

// Bounds of the answers to people.
const (
	decideWithin  = 2500 * time.Millisecond // Slack waits three seconds for the acknowledgment; a decision that hasn't its turn by then isn't made
	askWithin     = 15 * time.Second        // Slack itself refuses to open a modal after three seconds
	answersAtOnce = 16                      // answers at once
)

// handle does what an envelope asks for, and acknowledges it. A press is acknowledged at
// once; a submission with its result, so that what is acknowledged is committed.
func (s *Slack) handle(ctx context.Context, d *chat.Desk, me self, e envelope, acknowledge func(object)) {
	in, wanted, problem := read(e.Payload, me)
	if !wanted {
		acknowledge(nil)
		return
	}
	if in.submits && problem == "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), decideWithin)
		defer cancel()
		response := responseTo(s.decide(ctx, d, me, in))
		if !e.Answers {
			response = nil
		}
		acknowledge(response)
		return
	}
	acknowledge(nil)
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	view := s.ask(ctx, d, me, in, problem)
	if in.trigger == "" {
		return
	}
	if err := s.open(ctx, in.trigger, view); err != nil {
		s.cfg.Log.WarnContext(ctx, "an answer could not be shown in Slack", "error", err)
	}
}

// Sentences for what isn't decided here.
const unchanged = "Nothing was changed: "

func (s *Slack) decide(ctx context.Context, d *chat.Desk, me self, in intent) chat.Answer {
	who, why, err := s.account(ctx, me, in.user)
	switch {
	case err != nil:
		s.cfg.Log.WarnContext(ctx, "Slack doesn't say who answers", "error", err)
		return d.Count(chat.Answer{Result: chat.Failed, Text: unchanged + "Slack doesn't say who you are at the moment. Try again.", Retry: true})
	case why != "":
		return d.Count(chat.Answer{Result: chat.Unconfirmed, Text: unchanged + why})
	}
	return d.Decide(ctx, who, in.at, in.ref, in.decision, in.reason)
}

// ask is what somebody who pressed a button sees.
func (s *Slack) ask(ctx context.Context, d *chat.Desk, me self, in intent, problem chat.Result) object {
	switch problem {
	case chat.Foreign:
		return noticeView(d.Count(chat.Answer{Result: problem, Text: unchanged + "only members of the workspace that Countersign belongs to decide here."}).Text)
	case chat.Malformed:
		return noticeView(d.Count(chat.Answer{Result: problem, Text: unchanged + "this button can't be understood any more. Decide in the console."}).Text)
	}
	who, why, err := s.account(ctx, me, in.user)
	switch {
	case err != nil:
		s.cfg.Log.WarnContext(ctx, "Slack doesn't say who answers", "error", err)
		return noticeView(d.Count(chat.Answer{Result: chat.Failed, Text: unchanged + "Slack doesn't say who you are at the moment. Try again."}).Text)
	case why != "":
		return noticeView(d.Count(chat.Answer{Result: chat.Unconfirmed, Text: unchanged + why}).Text)
	}
	q, a := d.Ask(ctx, who, in.at, in.ref, in.decision)
	if a.Result != chat.Asked {
		return noticeView(a.Text)
	}
	return questionView(q, in.at)
}
