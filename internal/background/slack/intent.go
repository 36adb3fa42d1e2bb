package slack

import (
	"encoding/json"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/chat"
)

// envelope is one message of the socket.
type envelope struct {
	Type    string          `json:"type"`
	ID      string          `json:"envelope_id"`
	Payload json.RawMessage `json:"payload"`
	Answers bool            `json:"accepts_response_payload"`
	Retry   int             `json:"retry_attempt"`
	Reason  string          `json:"reason"` // of a disconnect

	Connection struct {
		AppID string `json:"app_id"`
	} `json:"connection_info"` // of a hello
}

// payload is what of block_actions and view_submission matters here.
type payload struct {
	Type  string   `json:"type"`
	AppID string   `json:"api_app_id"`
	Team  identity `json:"team"`
	User  struct {
		ID   string `json:"id"`
		Team string `json:"team_id"`
	} `json:"user"`
	Trigger   string `json:"trigger_id"`
	Container struct {
		Channel string `json:"channel_id"`
		Message string `json:"message_ts"`
	} `json:"container"`
	Actions []struct {
		ID    string `json:"action_id"`
		Value string `json:"value"`
	} `json:"actions"`
	View struct {
		Callback string `json:"callback_id"`
		Metadata string `json:"private_metadata"`
		State    struct {
			Values map[string]map[string]struct {
				Value string `json:"value"`
			} `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

type identity struct {
	ID string `json:"id"`
}

// self is the app as Slack knows it: what is of another one is not for us.
type self struct{ team, app string }

// intent is what a person wants.
type intent struct {
	user     string // the account's id
	trigger  string // opens a modal within three seconds
	ref      chat.Ref
	decision countersign.ApprovalStatus
	at       chat.Place
	submits  bool // the reason is given, and it is to be decided; else to be asked
	reason   string
}

// read finds out what a person wants. wanted is false for what asks for nothing, such as a
// button that is a link. problem is empty, chat.Foreign or chat.Malformed.
func read(raw json.RawMessage, me self) (in intent, wanted bool, problem chat.Result) {
	var p payload
	if err := json.Unmarshal(raw, &p); err != nil {
		return in, true, chat.Malformed
	}
	in = intent{user: p.User.ID, trigger: p.Trigger}
	if p.AppID != me.app || p.Team.ID != me.team || p.User.Team != "" && p.User.Team != me.team {
		return in, true, chat.Foreign
	}
	var carried value
	switch {
	case p.Type == "block_actions" && len(p.Actions) == 1:
		decision, is := map[string]countersign.ApprovalStatus{actionApprove: countersign.ApprovalApproved, actionReject: countersign.ApprovalRejected}[p.Actions[0].ID]
		if !is {
			return in, false, ""
		}
		if json.Unmarshal([]byte(p.Actions[0].Value), &carried) != nil {
			return in, true, chat.Malformed
		}
		in.decision, in.at = decision, chat.Place{Channel: p.Container.Channel, Message: p.Container.Message}
	case p.Type == "view_submission" && p.View.Callback == callback:
		if json.Unmarshal([]byte(p.View.Metadata), &carried) != nil {
			return in, true, chat.Malformed
		}
		in.submits, in.reason = true, p.View.State.Values[reasonBlock][reasonAction].Value
		in.decision, in.at = carried.Decision, chat.Place{Channel: carried.Channel, Message: carried.Message}
	default:
		return in, false, ""
	}
	in.ref = carried.ref()
	decides := in.decision == countersign.ApprovalApproved || in.decision == countersign.ApprovalRejected
	if !decides || in.user == "" || in.ref.Tenant == "" || (in.ref.Approval == "") == (in.ref.Change == "") {
		return in, true, chat.Malformed
	}
	return in, true, ""
}

// acknowledgment is the answer to an envelope. Slack expects it within three seconds.
func acknowledgment(id string, response object) object {
	if response == nil {
		return object{"envelope_id": id}
	}
	return object{"envelope_id": id, "payload": response}
}

// responseTo tells the person how their submission ended: in place of the modal, or beside
// the reason where they may try again.
func responseTo(a chat.Answer) object {
	if a.Retry {
		return object{"response_action": "errors", "errors": object{reasonBlock: cut(a.Text, maxText)}}
	}
	return object{"response_action": "update", "view": noticeView(a.Text)}
}
