package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/chat"
)

// Slack's limits of what is sent, in characters where nothing else is said.
const (
	maxText     = 3000 // of a text object
	maxHeader   = 150
	maxViewRows = 100 // blocks of a modal
	maxFallback = 4000
)

// The ids by which Slack says what somebody pressed or sent.
const (
	actionApprove = "approve"
	actionReject  = "reject"
	callback      = "decide"
	reasonBlock   = "reason"
	reasonAction  = "text"
)

// object is a JSON object of Slack's Block Kit.
type object = map[string]any

// escaped writes the three characters that Slack reads as control characters in every text.
// All text here is plain_text, in which no other character is markup.
func escaped(s string) string { return controls.Replace(s) }

var controls = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func plain(s string) object { return object{"type": "plain_text", "text": s, "emoji": false} }

// cut escapes a text and keeps the beginning that fits. It says that it did.
func cut(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most+1]) // more can't fit
	}
	out := escaped(s)
	if utf8.RuneCountInString(out) <= most {
		return out
	}
	return parts(s, most-1)[0] + "…"
}

// parts escapes a text and divides it into parts that fit, none within an escape. A part
// ends after a line where there is one.
func parts(s string, most int) (out []string) {
	var part strings.Builder
	n, lineEnd := 0, 0
	flush := func(at int) {
		text := part.String()
		out = append(out, text[:at])
		part.Reset()
		part.WriteString(text[at:])
		n, lineEnd = utf8.RuneCountInString(text[at:]), 0
	}
	for _, r := range s {
		text := escaped(string(r))
		for n+utf8.RuneCountInString(text) > most { // behind an early line end, what is left may still be too long
			at := lineEnd
			if at == 0 {
				at = part.Len()
			}
			flush(at)
		}
		part.WriteString(text)
		if n += utf8.RuneCountInString(text); r == '\n' {
			lineEnd = part.Len()
		}
	}
	return append(out, part.String())
}

func section(text string) object { return object{"type": "section", "text": plain(text)} }

// sections are as many as a text needs. Slack refuses an empty text.
func sections(text string) (out []object) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	for _, part := range parts(text, maxText) {
		if strings.TrimSpace(part) != "" {
			out = append(out, section(part))
		}
	}
	return out
}

func header(text string) object {
	return object{"type": "header", "text": plain(cut(text, maxHeader))}
}

func lines(facts []chat.Fact) string {
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = f.Name + ": " + f.Value
	}
	return strings.Join(out, "\n")
}

// value is what a button and a modal carry: which approval or change, and what they said of it.
type value struct {
	Tenant   string                     `json:"t"`
	Approval string                     `json:"a,omitempty"`
	Change   string                     `json:"g,omitempty"`
	Digest   string                     `json:"d,omitempty"`
	Decision countersign.ApprovalStatus `json:"v,omitempty"`
	Channel  string                     `json:"c,omitempty"`
	Message  string                     `json:"m,omitempty"`
}

func (v value) ref() chat.Ref {
	return chat.Ref{Tenant: v.Tenant, Approval: v.Approval, Change: v.Change, Digest: v.Digest}
}

func (v value) text() string {
	b, err := json.Marshal(v)
	if err != nil { // it has texts only
		panic(err)
	}
	return string(b)
}

func button(action, word, style, value string) object {
	b := object{"type": "button", "action_id": action, "text": plain(word), "value": value}
	if style != "" {
		b["style"] = style
	}
	return b
}

func linkButton(link string) object {
	return object{"type": "button", "action_id": "open", "text": plain("Open in Countersign"), "url": link}
}

func digestOf(r chat.Ref) object {
	of := "Request"
	if r.Change != "" {
		of = "Change"
	}
	return section(of + " digest: " + escaped(r.Digest))
}

// messageBlocks is the message in the channel, and the text of its notification.
func messageBlocks(m chat.Message) (blocks []object, fallback string) {
	word := "Decide: "
	if !m.Open {
		word = "Ended: "
	}
	blocks = append(blocks, header(word+m.Title))
	if m.Again {
		blocks = append(blocks, section("Sent again after an interruption: an earlier message may show the same. One decision counts for both."))
	}
	facts := lines(m.Facts)
	if m.More > 0 {
		facts += fmt.Sprintf("\nand %d more inputs, which are shown before you decide", m.More)
	}
	blocks = append(blocks, sections(facts)...)
	if m.Digest != "" {
		blocks = append(blocks, digestOf(m.Ref))
	}
	blocks = append(blocks, sections(strings.Join(m.State, "\n"))...)
	var elements []object
	if m.Open {
		v := value{Tenant: m.Tenant, Approval: m.Approval, Change: m.Change, Digest: m.Digest}.text()
		elements = append(elements, button(actionApprove, "Approve…", "primary", v), button(actionReject, "Reject…", "danger", v))
	}
	blocks = append(blocks, object{"type": "actions", "block_id": "decision", "elements": append(elements, linkButton(m.Link))})
	return blocks, cut(word+m.Title, maxFallback)
}

// questionView is the modal that asks for the reason. It shows the request whole; where that
// doesn't fit, nothing is approved in it.
func questionView(q chat.Question, at chat.Place) object {
	title, submit := "Approve", "Approve"
	if q.Decision == countersign.ApprovalRejected {
		title, submit = "Reject", "Reject"
	}
	blocks := append([]object{header(title + ": " + q.Title)}, sections(lines(q.Facts))...)
	if len(q.Notes) > 0 {
		blocks = append(blocks, sections("Before you decide:\n"+strings.Join(q.Notes, "\n"))...)
	}
	blocks = append(blocks, sections(q.Shows+"\n"+q.Request)...)
	if q.Digest != "" {
		blocks = append(blocks, digestOf(q.Ref))
	}
	if len(blocks) > maxViewRows-1 {
		if q.Decision == countersign.ApprovalApproved {
			return noticeView("It is too long to be shown here whole, so it can't be approved here. See all of it and decide on its page: " + q.Link)
		}
		blocks = append(blocks[:maxViewRows-2], section("It goes on. All of it is on the page: "+cut(q.Link, 2000)))
	}
	blocks = append(blocks, object{
		"type": "input", "block_id": reasonBlock, "label": plain("Reason"),
		"element": object{"type": "plain_text_input", "action_id": reasonAction, "multiline": true, "min_length": 1, "max_length": maxText},
		"hint":    plain("It is kept with the decision and shown in the channel."),
	})
	carried := value{Tenant: q.Tenant, Approval: q.Approval, Change: q.Change, Digest: q.Digest, Decision: q.Decision, Channel: at.Channel, Message: at.Message}
	return object{
		"type": "modal", "callback_id": callback, "private_metadata": carried.text(),
		"title": plain(title), "submit": plain(submit), "close": plain("Cancel"), "blocks": blocks,
	}
}

// noticeView is a modal that says one thing.
func noticeView(text string) object {
	return object{"type": "modal", "title": plain("Countersign"), "close": plain("Close"), "blocks": sections(text)}
}
