package slacktest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// What Slack's reference says of blocks, views and messages, as far as it concerns what we
// send (docs.slack.dev/reference/block-kit and /reference/methods, November 2026). Unknown
// fields and block types count as mistakes: Slack refuses most of them.

// Limits in characters where nothing else is said.
const (
	textMost     = 3000
	headerMost   = 150
	buttonMost   = 75
	valueMost    = 2000
	idMost       = 255
	urlMost      = 3000
	labelMost    = 2000
	titleMost    = 24 // of a view, its submit and its close
	metadataMost = 3000
	fallbackMost = 4000
	messageRows  = 50 // blocks
	viewRows     = 100
	elementsMost = 25
)

// entity is the only form in which the three control characters may stand in a text.
var entity = regexp.MustCompile(`&(amp|lt|gt);`)

type judge struct{ problems []string }

func (j *judge) bad(at, format string, args ...any) {
	j.problems = append(j.problems, at+": "+fmt.Sprintf(format, args...))
}

type object = map[string]any

// fields checks that an object has these fields and no others; a trailing ? marks one that
// may be missing.
func (j *judge) fields(at string, o object, names ...string) {
	known := map[string]bool{}
	for _, n := range names {
		name, optional := strings.CutSuffix(n, "?")
		known[name] = true
		if _, has := o[name]; !has && !optional {
			j.bad(at, "%s is missing", name)
		}
	}
	for name := range o {
		if !known[name] {
			j.bad(at, "there is no field %s", name)
		}
	}
}

func (j *judge) string(at string, v any, most int) string {
	s, is := v.(string)
	if n := utf8.RuneCountInString(s); !is || n < 1 || n > most {
		j.bad(at, "%d characters of %d in %T", n, most, v)
	}
	return s
}

// control checks that no control character stands alone in a text.
func (j *judge) control(at, text string) {
	if strings.ContainsAny(entity.ReplaceAllString(text, ""), "&<>") {
		j.bad(at, "an unescaped control character in %q", text)
	}
}

func (j *judge) text(at string, v any, most int) {
	o, _ := v.(object)
	j.fields(at, o, "type", "text", "emoji?")
	if o["type"] != "plain_text" {
		j.bad(at, "type %v: text of others is only shown as plain text", o["type"])
	}
	text := j.string(at, o["text"], most)
	j.control(at, text)
	if strings.TrimSpace(text) == "" {
		j.bad(at, "a blank text")
	}
}

func (j *judge) link(at string, v any) {
	if u, err := url.Parse(j.string(at, v, urlMost)); err != nil || u.Scheme != "http" && u.Scheme != "https" {
		j.bad(at, "no address: %v", v)
	}
}

func (j *judge) blocks(v any, most int, view bool) (inputs []string) {
	list, is := v.([]any)
	if !is || len(list) < 1 || len(list) > most {
		j.bad("blocks", "%d of %d", len(list), most)
	}
	ids, actions := map[string]bool{}, map[string]bool{}
	for i, item := range list {
		at := fmt.Sprintf("blocks[%d]", i)
		o, _ := item.(object)
		if id, has := o["block_id"]; has {
			if s := j.string(at+".block_id", id, idMost); ids[s] {
				j.bad(at, "block_id %s twice", s)
			} else {
				ids[s] = true
			}
		}
		switch o["type"] {
		case "header":
			j.fields(at, o, "type", "text", "block_id?")
			j.text(at+".text", o["text"], headerMost)
		case "section":
			j.fields(at, o, "type", "text", "block_id?")
			j.text(at+".text", o["text"], textMost)
		case "actions":
			j.fields(at, o, "type", "elements", "block_id?")
			elements, _ := o["elements"].([]any)
			if len(elements) < 1 || len(elements) > elementsMost {
				j.bad(at, "%d elements of %d", len(elements), elementsMost)
			}
			for _, e := range elements {
				j.button(at, e, actions)
			}
		case "input":
			j.input(at, o, view)
			if id, is := o["block_id"].(string); is {
				inputs = append(inputs, id)
			}
		default:
			j.bad(at, "type %v", o["type"])
		}
	}
	return inputs
}

func (j *judge) button(at string, v any, actions map[string]bool) {
	o, _ := v.(object)
	j.fields(at, o, "type", "text", "action_id", "value?", "style?", "url?")
	j.text(at+".text", o["text"], buttonMost)
	id := j.string(at+".action_id", o["action_id"], idMost)
	if o["type"] != "button" || actions[id] {
		j.bad(at, "%v %s, or twice", o["type"], id)
	}
	actions[id] = true
	if v, has := o["value"]; has {
		j.string(at+".value", v, valueMost)
	}
	if v, has := o["url"]; has {
		j.link(at+".url", v)
	}
	if style, has := o["style"]; has && style != "primary" && style != "danger" {
		j.bad(at, "style %v", style)
	}
}

func (j *judge) input(at string, o object, view bool) {
	if !view {
		j.bad(at, "an input in a message")
	}
	j.fields(at, o, "type", "block_id", "label", "element", "hint?")
	j.text(at+".label", o["label"], labelMost)
	if hint, has := o["hint"]; has {
		j.text(at+".hint", hint, labelMost)
	}
	e, _ := o["element"].(object)
	j.fields(at+".element", e, "type", "action_id", "multiline?", "min_length?", "max_length?")
	if e["type"] != "plain_text_input" {
		j.bad(at, "element %v", e["type"])
	}
	for _, name := range []string{"min_length", "max_length"} {
		if n, has := e[name].(float64); has && (n < 0 || n > textMost) {
			j.bad(at, "%s %v", name, n)
		}
	}
}

func (j *judge) message(o object, update bool) {
	names := []string{"channel", "text", "blocks"}
	if update {
		names = append(names, "ts")
	} else {
		names = append(names, "mrkdwn?", "unfurl_links?", "unfurl_media?")
	}
	j.fields("message", o, names...)
	j.control("text", j.string("text", o["text"], fallbackMost))
	j.blocks(o["blocks"], messageRows, false)
}

func (j *judge) view(v any) (inputs []string) {
	o, _ := v.(object)
	j.fields("view", o, "type", "title", "blocks", "close?", "submit?", "callback_id?", "private_metadata?")
	if o["type"] != "modal" {
		j.bad("view", "type %v", o["type"])
	}
	for _, name := range []string{"title", "close", "submit"} {
		if text, has := o[name]; has {
			j.text("view."+name, text, titleMost)
		}
	}
	if v, has := o["callback_id"]; has {
		j.string("view.callback_id", v, idMost)
	}
	if v, has := o["private_metadata"]; has {
		j.string("view.private_metadata", v, metadataMost)
	}
	inputs = j.blocks(o["blocks"], viewRows, true)
	if _, has := o["submit"]; len(inputs) > 0 && !has {
		j.bad("view", "an input without submit")
	}
	return inputs
}

// response checks what an acknowledgment of a submission may carry.
func (j *judge) response(o object, inputs []string) {
	switch o["response_action"] {
	case "update":
		j.fields("response", o, "response_action", "view")
		j.view(o["view"])
	case "errors":
		j.fields("response", o, "response_action", "errors")
		errors, _ := o["errors"].(object)
		for name, text := range errors {
			j.string("response.errors", text, textMost)
			if len(inputs) == 0 || name != inputs[0] {
				j.bad("response", "an error of %s, which is no input", name)
			}
		}
		if len(errors) == 0 {
			j.bad("response", "no errors")
		}
	default:
		j.bad("response", "response_action %v", o["response_action"])
	}
}

// Judge returns what Slack would refuse of blocks of a message, or of a view.
func Judge(v any, view bool) []string {
	b, err := json.Marshal(v)
	if err != nil {
		return []string{err.Error()}
	}
	var o any
	if err := json.Unmarshal(b, &o); err != nil {
		return []string{err.Error()}
	}
	j := &judge{}
	if view {
		j.view(o)
	} else {
		j.blocks(o, messageRows, false)
	}
	return j.problems
}
