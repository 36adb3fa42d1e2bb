package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// A tool's arguments are the capability's inputs. Besides, where no input has the name,
// there are the agent's own words.

// word is an argument of ours, and how many characters it may have; waitSeconds is a number.
type word struct {
	name, description string
	most              int
}

var words = []word{
	{"task", "What this call belongs to, such as an order or a ticket. The same arguments for the same task find the same run: as long as it goes on, and 24 hours after its end.", 200},
	{"reason", "Why you ask for this, in your own words. Whoever approves it reads them.", 1000},
	{"again", "Only to do once more what was done already with the same arguments: why. Each call with it is a new run. While nobody knows what became of the one before, it is refused.", 1000},
	{waitSeconds, waitWords + " 2 if left out.", 0},
}

func (w word) schema() schema {
	if w.name == waitSeconds {
		return waitSchema(w.description)
	}
	return schema{Type: "string", Description: w.description, MaxLength: int64(w.most)}
}

// ownWords are those that no input of the capability is called by.
func ownWords(c *countersign.Capability) []word {
	return slices.DeleteFunc(slices.Clone(words), func(w word) bool { return hasInput(c, w.name) })
}

// hasInput reports an input that the capability names, in its schema or in its path.
func hasInput(c *countersign.Capability, name string) bool {
	_, declared := c.InputSchema[name]
	return declared || strings.Contains(c.Path, "{"+name+"}")
}

// said is what a call says besides its inputs.
type said struct {
	countersign.AgentWords
	wait patience
}

// read splits a call's arguments into inputs and the agent's words.
func (v *toolRequest) read(tool string, c *countersign.Capability, data []byte) (inputs map[string]countersign.Value, said said, err error) {
	said.wait = asUsual
	var arguments map[string]countersign.Value
	if err := exactjson.Decode(data, &arguments); err != nil {
		return nil, said, err
	}
	if isEarlierForm(c, arguments) {
		return nil, said, v.newForm(tool, c, arguments)
	}
	into := map[string]*string{"task": &said.Task, "reason": &said.Reason, "again": &said.Again}
	inputs = maps.Clone(arguments)
	for _, w := range ownWords(c) {
		given, is := inputs[w.name]
		delete(inputs, w.name)
		if !is || given.IsNull() {
			continue
		}
		if w.name == waitSeconds {
			said.wait, err = patienceOf(given)
		} else {
			*into[w.name], err = w.text(given)
		}
		if err != nil {
			return nil, said, err
		}
	}
	if inputs, err = propertiesOf(c).inputs(inputs); err != nil {
		return nil, said, err
	}
	return request.Given(c, inputs), said, nil
}

func (w word) text(v countersign.Value) (string, error) {
	text := v.Text()
	switch {
	case v.Kind() != countersign.KindString:
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "%s: it must be text, not %s", w.name, v.Kind())
	case safetext.Blank(text):
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "%s: it can't be blank; leave it out, or say it in words", w.name)
	case utf8.RuneCountInString(text) > w.most:
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "%s: it has at most %d characters", w.name, w.most)
	}
	return text, nil
}

// earlier are the arguments before this form, and what each of them was.
var earlier = map[string]func(countersign.Value) bool{
	"input":          func(v countersign.Value) bool { return v.Kind() == countersign.KindObject },
	"expectation":    func(v countersign.Value) bool { return v.Kind() == countersign.KindObject },
	"idempotencyKey": func(v countersign.Value) bool { return v.Kind() == countersign.KindString },
	"mode": func(v countersign.Value) bool {
		return v.Text() == countersign.ModeDryRun || v.Text() == countersign.ModeLive
	},
}

// isEarlierForm reports arguments in the form of earlier releases. A capability without a
// schema accepts any input, so there the value tells: a call that meant a rehearsal must
// not become a LIVE one.
func isEarlierForm(c *countersign.Capability, given map[string]countersign.Value) bool {
	for name, was := range earlier {
		v, is := given[name]
		if is && !hasInput(c, name) && (c.InputSchema != nil || was(v)) {
			return true
		}
	}
	return false
}

// newForm is the refusal of arguments in the earlier form.
func (v *toolRequest) newForm(tool string, c *countersign.Capability, given map[string]countersign.Value) error {
	names := map[string]string{}
	for name, field := range c.InputSchema {
		names[name] = strings.Join(field.Types(), " or ")
	}
	if inner, ok := given["input"].Object(); ok && c.InputSchema == nil {
		for name, value := range inner {
			names[name] = value.Kind().String()
		}
	}
	var parts []string
	known := propertiesOf(c)
	for _, name := range sortedKeys(names) {
		if _, fixed := v.offer.Agent.ExecutorInputs[c.Name][name]; !fixed {
			parts = append(parts, fmt.Sprintf("%s: (%s)", countersign.String(known.property(name)).Raw(), names[name]))
		}
	}
	parts = append(parts, `"task": (string, optional)`)
	address := strings.ReplaceAll(Pattern, "{id}", v.offer.Agent.ID)
	return countersign.Errorf(countersign.CodeInvalidRequest,
		"arguments: input, mode, expectation and idempotencyKey are an earlier form. Inputs are arguments themselves: call %s with {%s}. %s is LIVE and %s/rehearsal rehearses; the capability says what is expected, and the service makes the key",
		tool, strings.Join(parts, ", "), address, address)
}
