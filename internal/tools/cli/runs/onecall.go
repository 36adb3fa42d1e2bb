package runs

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
)

// OneCall is the flags of the commands that start a run of one capability.
type OneCall struct {
	Input        []string `sep:"none" help:"An input: name=TEXT or name:=JSON. Repeat it for each." placeholder:"NAME=TEXT"`
	Inputs       string   `help:"The inputs as a JSON object in a file; - is standard input." placeholder:"FILE"`
	Expect       string   `help:"What the output must be: field=TEXT or field:=JSON; judged besides what the capability expects. An agent's LIVE run needs one of the two." placeholder:"FIELD=TEXT"`
	ExpectStatus int64    `help:"The status that the answer must have, 200 to 299." placeholder:"N"`
	Live         bool     `help:"LIVE; else DRY_RUN, which sends nothing."`
}

// Typed are the inputs and the expectation that the flags give.
func (o OneCall) Typed(t *terminal.Terminal) (map[string]countersign.Value, *countersign.Expectation, error) {
	inputs := map[string]countersign.Value{}
	if o.Inputs != "" {
		if err := typed.ReadDocument(t, o.Inputs, &inputs); err != nil {
			return nil, nil, err
		}
	}
	for _, pair := range o.Input {
		name, v, err := typed.Assignment("--input", pair)
		if err != nil {
			return nil, nil, err
		}
		inputs[name] = v
	}
	if o.Expect == "" {
		return inputs, nil, nil
	}
	field, v, err := typed.Assignment("--expect", o.Expect)
	return inputs, &countersign.Expectation{Field: field, Equals: v, StatusCode: o.ExpectStatus}, err
}

// ModeOf is the mode of a run that is LIVE or not.
func ModeOf(live bool) string {
	if live {
		return countersign.ModeLive
	}
	return countersign.ModeDryRun
}
