package slacktest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/coder/websocket"
)

// socket serves one connection of the app.
func (w *Workspace) socket(res http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	ticket := req.URL.Query().Get("ticket")
	good := w.tickets[ticket]
	delete(w.tickets, ticket)
	w.mu.Unlock()
	if !good {
		res.WriteHeader(http.StatusForbidden)
		return
	}
	conn, err := websocket.Accept(res, req, nil)
	if err != nil {
		return
	}
	l := &link{conn, context.WithoutCancel(req.Context())}
	if write(l, object{"type": "hello", "num_connections": 1, "connection_info": object{"app_id": App}, "debug_info": object{"host": "applink", "approximate_connection_time": 3600}}) != nil {
		return
	}
	w.mu.Lock()
	w.conns = append(w.conns, l)
	w.mu.Unlock()
	w.changed.Broadcast()
	for {
		_, text, err := conn.Read(l.ctx)
		if err != nil {
			break
		}
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if json.Unmarshal(text, &ack) != nil || ack.ID == "" {
			w.t.Errorf("slack: no acknowledgment: %s", text)
			continue
		}
		w.mu.Lock()
		w.acks[ack.ID] = ack.Payload
		w.mu.Unlock()
		w.changed.Broadcast()
	}
	w.mu.Lock()
	w.conns = slices.DeleteFunc(w.conns, func(x *link) bool { return x == l })
	w.mu.Unlock()
	_ = conn.CloseNow()
	w.changed.Broadcast()
}

func write(l *link, o object) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return l.conn.Write(l.ctx, websocket.MessageText, b)
}

// newest is the newest connection, once there is one.
func (w *Workspace) newest() (l *link) {
	w.t.Helper()
	w.Until("a connection", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.conns) > 0 {
			l = w.conns[len(w.conns)-1]
		}
		return l != nil
	})
	return l
}

// Refresh announces that the newest connection will close, and closes it once there is
// another, as Slack does.
func (w *Workspace) Refresh() {
	w.t.Helper()
	old, before := w.newest(), w.Calls("apps.connections.open")
	_ = write(old, object{"type": "disconnect", "reason": "refresh_requested", "debug_info": object{"host": "applink"}})
	w.Until("another connection beside the old one", func() bool {
		return w.Calls("apps.connections.open") > before && w.newest() != old
	})
	_ = old.conn.CloseNow()
}

// Drop closes all connections without a word.
func (w *Workspace) Drop() {
	w.mu.Lock()
	conns := slices.Clone(w.conns)
	w.mu.Unlock()
	for _, l := range conns {
		_ = l.conn.CloseNow()
	}
}

// Send sends an interactive payload, in an envelope with an id, as often as times says, and
// returns what each acknowledgment carried.
func (w *Workspace) Send(payload map[string]any, times int) (answers []map[string]any) {
	w.t.Helper()
	for n := range times {
		w.mu.Lock()
		id := w.id("envelope-")
		w.mu.Unlock()
		e := object{"type": "interactive", "envelope_id": id, "payload": payload, "accepts_response_payload": true}
		if n > 0 {
			e["retry_attempt"], e["retry_reason"] = n, "timeout"
		}
		raw := w.delivered(id, e)
		var out map[string]any
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &out); err != nil {
				w.t.Errorf("slack: an acknowledgment with %s", raw)
			}
		}
		answers = append(answers, out)
	}
	return answers
}

// delivered sends an envelope until it is acknowledged: again if the connection ends before.
func (w *Workspace) delivered(id string, e object) (raw json.RawMessage) {
	w.t.Helper()
	for acknowledged := false; !acknowledged; {
		l := w.newest()
		if write(l, e) != nil {
			w.Until("the end of a broken connection", func() bool { return !w.connected(l) })
			continue
		}
		w.Until("an acknowledgment, or the end of the connection", func() bool {
			w.mu.Lock()
			raw, acknowledged = w.acks[id]
			w.mu.Unlock()
			return acknowledged || !w.connected(l)
		})
	}
	return raw
}

func (w *Workspace) connected(l *link) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.conns, l)
}

// Pressed is the payload of somebody who presses a button of a message.
func (w *Workspace) Pressed(user string, m Message, action string) map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	trigger := w.id("trigger-")
	w.triggers[trigger] = user
	return object{
		"type": "block_actions", "api_app_id": App, "token": "unused", "trigger_id": trigger,
		"team": object{"id": Team, "domain": "acme"}, "user": object{"id": user, "username": user, "team_id": w.members[user].Team},
		"container": object{"type": "message", "message_ts": m.TS, "channel_id": m.Channel, "is_ephemeral": false},
		"channel":   object{"id": m.Channel, "name": "approvals"},
		"actions":   []any{object{"type": "button", "action_id": action, "block_id": "decision", "value": m.value(action), "action_ts": "1"}},
	}
}

// Press has somebody press a button, and returns the modal that they see then.
func (w *Workspace) Press(user string, m Message, action string) *Modal {
	w.t.Helper()
	return w.Shown(w.Pressed(user, m, action))
}

// Shown sends the payload of a press and returns the modal that is opened for it.
func (w *Workspace) Shown(payload map[string]any) (shown *Modal) {
	w.t.Helper()
	w.mu.Lock()
	before := len(w.modals)
	w.mu.Unlock()
	w.Send(payload, 1)
	w.Until("a modal", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.modals) > before {
			shown = w.modals[before]
		}
		return shown != nil
	})
	return shown
}

// Submitted is the payload of somebody who submits a modal with a reason.
func (w *Workspace) Submitted(m *Modal, reason string) map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return object{
		"type": "view_submission", "api_app_id": App, "token": "unused", "trigger_id": w.id("trigger-"),
		"team": object{"id": Team, "domain": "acme"}, "user": object{"id": m.User, "username": m.User, "team_id": w.members[m.User].Team},
		"view": object{
			"id": m.ID, "type": "modal", "callback_id": m.View["callback_id"], "private_metadata": m.View["private_metadata"], "hash": "1.abc",
			"state": object{"values": object{"reason": object{"text": object{"type": "plain_text_input", "value": reason}}}},
		},
	}
}

// Told is what an acknowledgment of a submission shows.
func (w *Workspace) Told(m *Modal, response map[string]any) string {
	w.t.Helper()
	w.judged(func(j *judge) {
		seen := &judge{}
		j.response(response, seen.view(m.View))
	})
	if view, is := response["view"].(object); is {
		return read(view["blocks"].([]any))
	}
	errors, _ := response["errors"].(object)
	text, _ := errors["reason"].(string)
	return text
}
