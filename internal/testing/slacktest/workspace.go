// Package slacktest is a Slack workspace for tests. It speaks the Web API and Socket Mode of
// an app, and refuses and reports what Slack would not take.
package slacktest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// What the workspace and the app are called.
const (
	Team     = "T0ACME"
	App      = "A0COUNTER"
	AppToken = "xapp-1-A0COUNTER-12345-0123456789abcdef"
	BotToken = "xoxb-12345-67890-abcdefghijkl"
)

// patience is the net against hanging.
const patience = 2 * time.Minute

// Member is a member of the workspace, as users.info shows it.
type Member struct {
	ID, Team, Email, Name string
	Deleted, Guest, Bot   bool
	Unconfirmed           bool // the address
}

// Message is a message in a channel.
type Message struct {
	Channel, TS string
	Text        string // the notification's
	Blocks      []any
	Edits       int
}

// Modal is a modal that was opened for somebody.
type Modal struct {
	ID, User string
	View     map[string]any
}

// Answer is what a test has the workspace do in place of answering a call.
type Answer struct {
	Status     int
	RetryAfter string
	Error      string // answers ok false with this code
	Lost       bool   // does what was asked, and closes the connection without an answer
}

// Workspace is the fake.
type Workspace struct {
	Scopes string // of the bot token

	t         testing.TB
	server    *httptest.Server
	transport *http.Transport // nil: the network is

	mu       sync.Mutex
	changed  *sync.Cond
	n        int
	members  map[string]Member
	messages []*Message
	modals   []*Modal
	triggers map[string]string // unused ones: the user
	tickets  map[string]bool
	conns    []*link
	acks     map[string]json.RawMessage
	calls    map[string]int
	before   map[string]func() *Answer
}

// link is a socket.
type link struct {
	conn *websocket.Conn
	ctx  context.Context
}

// Open opens a workspace for the length of the test.
func Open(t testing.TB) *Workspace {
	t.Helper()
	return open(t, nil)
}

// open serves the workspace at a listener; nil: at one of loopback.
func open(t testing.TB, l net.Listener) *Workspace {
	t.Helper()
	w := &Workspace{
		t: t, Scopes: "chat:write,users:read,users:read.email", members: map[string]Member{}, triggers: map[string]string{}, tickets: map[string]bool{},
		acks: map[string]json.RawMessage{}, calls: map[string]int{}, before: map[string]func() *Answer{},
	}
	w.changed = sync.NewCond(&w.mu)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/{method}", w.call)
	mux.HandleFunc("GET /link", w.socket)
	w.server = httptest.NewUnstartedServer(mux)
	if l != nil {
		_ = w.server.Listener.Close()
		w.server.Listener = l
	}
	w.server.Start()
	t.Cleanup(func() {
		w.Drop()
		w.server.CloseClientConnections()
		w.server.Close()
	})
	return w
}

// URL is the address of the Web API.
func (w *Workspace) URL() string { return w.server.URL + "/api/" }

// Join adds or changes a member.
func (w *Workspace) Join(m Member) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.Team == "" {
		m.Team = Team
	}
	w.members[m.ID] = m
}

// Before has the workspace ask f at each call of a method; nil: it answers as usual.
func (w *Workspace) Before(method string, f func() *Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before[method] = f
}

// Calls is how often a method was called.
func (w *Workspace) Calls(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[method]
}

// Messages are the messages of a channel, oldest first.
func (w *Workspace) Messages(channel string) (out []Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.messages {
		if m.Channel == channel {
			out = append(out, *m)
		}
	}
	return out
}

// Forget drops the messages of a channel that are of no interest any more, and what was acknowledged.
func (w *Workspace) Forget(channel string, done func(Message) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = slices.DeleteFunc(w.messages, func(m *Message) bool { return m.Channel == channel && done(*m) })
	clear(w.acks)
	clear(w.modals)
	w.modals = nil
}

// Connections is how many sockets are open.
func (w *Workspace) Connections() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

// Until waits until something holds of the workspace.
func (w *Workspace) Until(what string, holds func() bool) {
	w.t.Helper()
	over := time.AfterFunc(patience, w.changed.Broadcast)
	defer over.Stop()
	end := time.Now().Add(patience)
	for {
		if holds() {
			return
		}
		w.mu.Lock()
		if time.Now().After(end) {
			w.mu.Unlock()
			w.t.Fatalf("slack: waited in vain: %s", what)
		}
		tick := time.AfterFunc(20*time.Millisecond, w.changed.Broadcast)
		w.changed.Wait()
		tick.Stop()
		w.mu.Unlock()
	}
}

// Says is all text of a message as a person reads it.
func (m Message) Says() string { return read(m.Blocks) }

// Says is all text of a modal as a person reads it.
func (m *Modal) Says() string { return read(m.View["blocks"].([]any)) }

// Open reports whether the message has buttons that decide.
func (m Message) Open() bool { return m.value("approve") != "" }

// Link is where the message's button to the console leads.
func (m Message) Link() string { return m.of("open", "url") }

func (m Message) value(action string) string { return m.of(action, "value") }

// of is a member of the element with this action, "" for none.
func (m Message) of(action, name string) string {
	for _, b := range m.Blocks {
		elements, _ := b.(object)["elements"].([]any)
		for _, e := range elements {
			if o := e.(object); o["action_id"] == action {
				v, _ := o[name].(string)
				return v
			}
		}
	}
	return ""
}

func read(blocks []any) string {
	var b strings.Builder
	for _, item := range blocks {
		if text, is := item.(object)["text"].(object); is {
			fmt.Fprintln(&b, text["text"])
		}
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(b.String())
}

// id makes ids; the caller holds mu.
func (w *Workspace) id(kind string) string {
	w.n++
	return fmt.Sprintf("%s%06d", kind, w.n)
}

func (w *Workspace) call(res http.ResponseWriter, req *http.Request) {
	method := req.PathValue("method")
	w.mu.Lock()
	w.calls[method]++
	ask := w.before[method]
	w.mu.Unlock()
	var instead *Answer
	if ask != nil {
		instead = ask()
	}
	if instead != nil && !instead.Lost {
		if instead.RetryAfter != "" {
			res.Header().Set("Retry-After", instead.RetryAfter)
		}
		if instead.Status != 0 {
			res.WriteHeader(instead.Status)
			return
		}
		say(res, object{"ok": false, "error": instead.Error})
		return
	}
	out := w.do(method, req)
	w.changed.Broadcast()
	if instead != nil { // lost
		panic(http.ErrAbortHandler)
	}
	res.Header().Set("X-OAuth-Scopes", w.Scopes)
	say(res, out)
}

func say(res http.ResponseWriter, o object) {
	res.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(res).Encode(o)
}

func failing(code string) object { return object{"ok": false, "error": code} }

// do does what a method is for.
func (w *Workspace) do(method string, req *http.Request) object {
	token, wanted := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "), BotToken
	if method == "apps.connections.open" {
		wanted = AppToken
	}
	if token != wanted {
		return failing("invalid_auth")
	}
	body := object{}
	switch kind := req.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/json"):
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
			return failing("invalid_json")
		}
	case req.ParseForm() == nil:
		for name := range req.PostForm {
			body[name] = req.PostForm.Get(name)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch method {
	case "auth.test":
		return object{"ok": true, "team": "Acme", "team_id": Team, "user": "countersign", "user_id": "U0BOT", "bot_id": "B0BOT"}
	case "apps.connections.open":
		ticket := w.id("ticket-")
		w.tickets[ticket] = true
		return object{"ok": true, "url": strings.Replace(w.server.URL, "http://", "ws://", 1) + "/link?ticket=" + ticket}
	case "users.info":
		return w.info(fmt.Sprint(body["user"]), strings.HasPrefix(req.Header.Get("Content-Type"), "application/json"))
	case "chat.postMessage", "chat.update":
		return w.message(body, method == "chat.update")
	case "views.open":
		return w.open(body)
	}
	return failing("unknown_method")
}

func (w *Workspace) info(id string, json bool) object {
	m, known := w.members[id]
	switch {
	case json: // this method takes no JSON
		return failing("user_not_found")
	case !known:
		return failing("user_not_found")
	}
	return object{"ok": true, "user": object{
		"id": m.ID, "team_id": m.Team, "name": strings.ToLower(m.Name), "deleted": m.Deleted, "is_bot": m.Bot, "is_restricted": m.Guest, "is_ultra_restricted": false,
		"is_email_confirmed": !m.Unconfirmed, "profile": object{"email": m.Email, "real_name": m.Name},
	}}
}

// judged reports what Slack would refuse, to the test too.
func (w *Workspace) judged(check func(j *judge)) bool {
	j := &judge{}
	check(j)
	for _, p := range j.problems {
		w.t.Errorf("slack refuses %s", p)
	}
	return len(j.problems) == 0
}

func (w *Workspace) message(body object, update bool) object {
	if !w.judged(func(j *judge) { j.message(body, update) }) {
		return failing("invalid_blocks")
	}
	blocks, _ := body["blocks"].([]any)
	if !update {
		m := &Message{Channel: body["channel"].(string), TS: w.id("1700000000."), Text: body["text"].(string), Blocks: blocks}
		w.messages = append(w.messages, m)
		return object{"ok": true, "channel": m.Channel, "ts": m.TS}
	}
	at := slices.IndexFunc(w.messages, func(m *Message) bool { return m.Channel == body["channel"] && m.TS == body["ts"] })
	if at < 0 {
		return failing("message_not_found")
	}
	m := w.messages[at]
	m.Text, m.Blocks, m.Edits = body["text"].(string), blocks, m.Edits+1
	return object{"ok": true, "channel": m.Channel, "ts": m.TS}
}

func (w *Workspace) open(body object) object {
	trigger := fmt.Sprint(body["trigger_id"])
	user, unused := w.triggers[trigger]
	if !unused {
		return failing("expired_trigger_id")
	}
	delete(w.triggers, trigger)
	if !w.judged(func(j *judge) { j.view(body["view"]) }) {
		return failing("invalid_arguments")
	}
	view, _ := body["view"].(object)
	m := &Modal{ID: w.id("V"), User: user, View: view}
	w.modals = append(w.modals, m)
	return object{"ok": true, "view": object{"id": m.ID}}
}
