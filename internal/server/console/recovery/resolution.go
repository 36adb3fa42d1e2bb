package recovery

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// resolution is the form that resolves an uncertain step.
type resolution struct {
	Chosen, Output, Evidence string
	OutputField              string // the capability's output field
	From                     string // the response that prefilled the output
	Errors                   map[string]string
	Differs                  contradiction // of the output that stands in the form
}

var resolutionWords = map[string]string{
	countersign.ConfirmedCompleted: "It happened", countersign.ConfirmedNotExecuted: "It did not happen", countersign.Abandon: "Give up without knowing",
}

func resolutionWord(resolution string) string { return resolutionWords[resolution] }

type resolutionOption struct {
	Value, Word, Consequence string
	Chosen                   bool
}

// Options are the choices, none preset. A run with a cancel request ends cancelled
// whichever is chosen.
func (d *Data) Options() []resolutionOption {
	goesOn := "the run is completed"
	if next := d.Next(); next != "" {
		goesOn = "the run goes on to " + next
	}
	again := "The step sends the same request under the same key."
	if d.Step.ApprovalRequired {
		again = "The step asks for approval again, then sends the same request under the same key."
	}
	if d.Settles {
		again = "The step fails: not executed, on your word. Nothing is sent a second time under its key; who wants it done starts a new run."
	}
	if d.Run.CancelRequested {
		goesOn, again = "the run ends cancelled", "The step and the run end cancelled. Nothing is sent."
	}
	happened := "The output below must meet the expectation. The step is completed and " + goesOn + ". Nothing is sent again."
	if d.Expected == nil {
		happened = "The step is completed with the output below and " + goesOn + ". Nothing is sent again."
	}
	options := []resolutionOption{
		{Value: countersign.ConfirmedCompleted, Consequence: happened},
		{Value: countersign.ConfirmedNotExecuted, Consequence: again},
		{Value: countersign.Abandon, Consequence: "The run ends cancelled. Whether “" + d.Step.Name + "” was done stays unknown here; settle it outside."},
	}
	for i := range options {
		options[i].Word, options[i].Chosen = resolutionWord(options[i].Value), options[i].Value == d.Resolve.Chosen
	}
	return options
}

// prefill fills the output from the response that the address names; the form is still
// to be sent.
func (d *Data) prefill(from string) {
	for _, f := range d.Known {
		if from != "" && f.Use == from {
			d.Resolve.Output, d.Resolve.From = f.Got.Output.Raw(), f.UseWord()
		}
	}
	d.compare()
}

// compare compares the output that stands in the form with what was sent.
func (d *Data) compare() {
	var output map[string]countersign.Value
	if err := exactjson.Decode([]byte(d.Resolve.Output), &output); err == nil {
		d.Resolve.Differs = d.contradictionOf(countersign.ObjectValue(output))
	}
}

// asExpected is the latest response in which all that the step expects was found, and nothing
// that contradicts what was sent, "" for none. It fills in the output; what happened is still for a person to choose.
func (d *Data) asExpected() string {
	for column := len(d.Found.Columns) - 1; column >= 0; column-- {
		if use := useOf(d.Found.Columns[column]); d.Found.met(column) && len(d.differing(use)) == 0 {
			return use
		}
	}
	return ""
}

// differing is where a response contradicts what was sent.
func (d *Data) differing(use string) []countersign.Discrepancy {
	for _, f := range d.Known {
		if f.Use == use && use != "" {
			return request.Differs(d.Step.Input, f.Got.Output, d.Resolve.OutputField)
		}
	}
	return nil
}

// filling is a response that the output can be filled in from.
type filling struct{ Use, Word string }

// Fillings are the responses, each with what in it contradicts what was sent.
func (d *Data) Fillings() (out []filling) {
	for _, f := range d.Known {
		if f.Use == "" {
			continue
		}
		word := f.UseWord()
		if differs := d.differing(f.Use); len(differs) > 0 {
			word += ", where " + contradiction{Fields: differs}.Names() + " differs from what was sent"
		}
		out = append(out, filling{f.Use, word})
	}
	return out
}

// useOf is the use of a response by the title of its column.
func useOf(column string) string {
	if column == lateColumn {
		return "late"
	}
	return strings.ReplaceAll(strings.ToLower(column), " ", "-")
}

func (f knownFact) UseWord() string {
	if f.Use == "late" {
		return "the late answer"
	}
	return strings.Replace(f.Use, "-", " ", 1)
}

// fillStep fills in the output from a response; what else was typed stays.
func fillStep(v *web.Request) (string, error) {
	return "", keptAgain(v, v.Form("fill"))
}

// keptAgain is the page with the form as it was typed, and the output from a response if
// one is named.
func keptAgain(v *web.Request, from string) error {
	d, err := recoveryOf(v, v.R.PathValue("id"))
	if err != nil {
		return err
	}
	d.typed(v)
	d.prefill(from)
	return d.Page()
}

// typed takes over what stands in the form.
func (d *Data) typed(v *web.Request) {
	d.Resolve.Chosen = v.Form("resolution")
	d.Resolve.Output, d.Resolve.Evidence = v.R.PostForm.Get("output"), v.R.PostForm.Get("evidence")
	d.compare()
	d.Resolve.Differs.Ticked = v.Form("differs") == d.Resolve.Differs.Token
}

// hasTyped reports a form in which somebody has begun.
func hasTyped(v *web.Request) bool {
	return v.Form("resolution")+v.R.PostForm.Get("output")+v.R.PostForm.Get("evidence") != ""
}

// probeStep sends the step's probe, a read, and shows its response. The form keeps what was
// typed in it.
func probeStep(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.ProbeRun, "run/"+id); err != nil {
		return "", resolveAgain(v, id, err, nil)
	}
	if _, err := v.Control.Probe(v.R.Context(), v.Actor, id, v.Form("stepId")); err != nil {
		return "", resolveAgain(v, id, err, nil)
	}
	if hasTyped(v) {
		return "", keptAgain(v, "")
	}
	return "/recovery/" + id + "#known", nil
}

// errIncomplete stands above the form; the fields say what is missing.
var errIncomplete = countersign.Errorf(countersign.CodeInvalidRequest, "the resolution is not complete")

// reconcileStep records the resolution. A refused one shows the page again with
// everything typed.
func reconcileStep(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.ReconcileRun, "run/"+id); err != nil {
		return "", resolveAgain(v, id, err, nil)
	}
	word, wrong := typedResolution(v)
	if len(wrong) > 0 {
		return "", resolveAgain(v, id, errIncomplete, wrong)
	}
	if word.Resolution == countersign.ConfirmedCompleted {
		if err := ticksDifferences(v, id, word.Output); err != nil {
			return "", err
		}
	}
	_, err := v.Control.ReconcileRun(v.R.Context(), v.Actor, id, word)
	switch code := countersign.ErrorCode(err); code {
	case "":
		return desk.Onward(v, desk.Recovery, id, "/runs/"+id), nil
	case countersign.CodeExpectationNotMet:
		return "", resolveAgain(v, id, err, map[string]string{"output": "Not recorded: " + reasonIn(err) + ". Nothing was changed."})
	default:
		return "", resolveAgain(v, id, err, nil)
	}
}

// ticksDifferences is the page again where the output contradicts what was sent, and that
// wasn't ticked.
func ticksDifferences(v *web.Request, id string, output map[string]countersign.Value) error {
	d, err := recoveryOf(v, id)
	if err != nil || !d.Open {
		return nil //nolint:nilerr // the resolution itself says what is wrong
	}
	c := d.contradictionOf(countersign.ObjectValue(output))
	if len(c.Fields) == 0 || v.Form("differs") == c.Token {
		return nil
	}
	return resolveAgain(v, id, countersign.Errorf(countersign.CodeInvalidRequest, "the output differs from what was sent"),
		map[string]string{"differs": "Not recorded: what you state differs from what was sent. Check it, and tick that you know."})
}

// typedResolution reads the form; wrong has an error per field.
func typedResolution(v *web.Request) (word countersign.Reconcile, wrong map[string]string) {
	word = countersign.Reconcile{Resolution: v.Form("resolution"), Evidence: v.Form("evidence")}
	wrong = map[string]string{}
	if resolutionWord(word.Resolution) == "" {
		wrong["resolution"] = "Choose what happened."
	}
	if safetext.Blank(word.Evidence) {
		wrong["evidence"] = "Say what you checked, and where. Every resolution needs evidence."
	}
	if text := v.Form("output"); text != "" && word.Resolution == countersign.ConfirmedCompleted {
		if err := exactjson.Decode([]byte(text), &word.Output); err != nil {
			wrong["output"] = "Not a JSON object: " + reasonIn(err) + "."
		}
	}
	return word, wrong
}

// reasonIn is an error's message for the middle of a sentence.
func reasonIn(err error) string {
	if e := web.RefusalOf(err); e != nil {
		return strings.TrimSuffix(strings.TrimPrefix(e.Message, "output: "), ".")
	}
	return err.Error()
}

// resolveAgain shows the page again after a refused form. If the run can't be shown, it
// returns the error.
func resolveAgain(v *web.Request, id string, refused error, wrong map[string]string) error {
	e := web.RefusalOf(refused)
	if e == nil || e.Code == countersign.CodeNotFound || e.Code == countersign.CodeProjectScope {
		return refused
	}
	d, err := recoveryOf(v, id)
	if err != nil {
		return refused
	}
	d.typed(v)
	d.Resolve.Errors = wrong
	if len(wrong) == 0 {
		d.Problem = web.ProblemOf(e)
		if s := d.Step; e.Code == countersign.CodeStateConflict && !d.Open && s.Reconciliation != nil {
			d.Problem.Sentence = text.Called(s.Reconciliation.By, s.Reconciliation.ByName) + " recorded this " + web.AgoWord(v, s.Reconciliation.At) + ": " + resolutionWord(s.Reconciliation.Resolution) + ". Nothing was sent twice."
		}
	}
	p := d.Page()
	p.Status = cmp.Or(e.Code.Status(), http.StatusConflict)
	return p
}
