package steps

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The steps of a plan or a team as a form. All of it stands in the form's fields, so that
// adding and removing rows are submit buttons and nothing is kept between two requests.
// Rows refer to earlier rows by a key that stays when a step's ID is changed or a row
// above is removed.

// MaxBuiltSteps bounds a form: each step has a field for each input.
const MaxBuiltSteps = 25

// offersShown is how many capabilities a search shows.
const offersShown = 10

// Offer is a capability that a step may call.
type Offer struct {
	Owner, Word string // ID and name of the project, or of the agent, that has it
	*countersign.Capability
	Fixed map[string]countersign.Value // inputs that the agent's manifest sets
}

// Use is what a form has for it; no ID contains a slash.
func (o *Offer) Use() string { return o.Owner + "/" + o.Name }

// Asks says whether a step of it asks for approval.
func (o *Offer) Asks() string { return text.AskingWords(o.Capability) }

// BuiltStep is a step of a plan or of a team; Owner is its project or its agent.
type BuiltStep struct {
	ID, Name, Owner, Capability string
	ActionID                    string // of the model, in a plan that was compiled

	Input       map[string]countersign.Value
	DependsOn   []string
	Bindings    map[string]countersign.Binding
	Expectation *countersign.Expectation
}

// Form reads and shows the steps.
type Form struct {
	Request *web.Request
	Offers  []Offer
	Loose   bool // required inputs may come with the run
	stored  bool // the steps are stored ones: their fields of outputs are taken as they are
}

// StepRow is one step as the form shows it.
type StepRow struct {
	N        int
	Key, Use string
	Action   string // of the model, in a plan that was compiled
	Offer    *Offer // nil: it is no longer there
	Wrong    string // what is wrong with the step as a whole
	Head     []form.Field
	Inputs   []inputField
	Bound    *form.Field // bindings as JSON, where inputs aren't declared
	Fixed    []TeamInput
	After    *form.Field // nil for the first step
	Expected []form.Field
}

// At is the name of one of the row's fields.
func (r StepRow) At(what string) string { return stepField(r.N, what) }

// inputField is an input: typed, or taken from an earlier step's output.
type inputField struct {
	Value       form.Field
	Step, Field *form.Field // nil where no step is earlier
	Sensitive   bool
}

// Open reports whether the choice of an earlier step is to be seen at once.
func (f inputField) Open() bool {
	return f.Step.Value != "" || f.Step.Wrong != "" || f.Field.Wrong != ""
}

func stepField(i int, what string) string { return "steps[" + strconv.Itoa(i) + "]." + what }

// count is how many rows the form has.
func (f *Form) count() int {
	n := 0
	for n < MaxBuiltSteps && f.Request.R.PostForm.Has(stepField(n, "use")) {
		n++
	}
	return n
}

func (f *Form) find(use string) *Offer {
	for i := range f.Offers {
		if f.Offers[i].Use() == use {
			return &f.Offers[i]
		}
	}
	return nil
}

// found are the offers with a text, at most offersShown, and how many there are.
func (f *Form) found(text string) (list []*Offer, total int) {
	for i := range f.Offers {
		o := &f.Offers[i]
		if !form.Mentions(o.Capability, text) && !strings.Contains(strings.ToLower(o.Owner+"\n"+o.Word), strings.ToLower(text)) {
			continue
		}
		if total++; len(list) < offersShown {
			list = append(list, o)
		}
	}
	return list, total
}

// Edit adds or removes a row if such a button was pressed.
func (f *Form) Edit() (done bool) {
	form := f.Request.R.PostForm
	if n, err := strconv.Atoi(form.Get("remove")); err == nil {
		f.Request.R.PostForm = WithoutRow(form, "steps", n)
		return true
	}
	if o := f.find(form.Get("add")); o != nil && f.count() < MaxBuiltSteps {
		f.add(o)
		return true
	}
	return form.Has("add")
}

// add appends a row that comes after the last one.
func (f *Form) add(o *Offer) {
	form, n := f.Request.R.PostForm, f.count()
	keys, ids := map[string]bool{}, map[string]bool{}
	for i := range n {
		keys[form.Get(stepField(i, "key"))], ids[form.Get(stepField(i, "id"))] = true, true
	}
	form.Set(stepField(n, "use"), o.Use())
	form.Set(stepField(n, "key"), Unused("k", keys))
	form.Set(stepField(n, "id"), Unused(StepIDOf(o.Name), ids))
	form.Set(stepField(n, "name"), o.Name)
	if n > 0 {
		form.Set(stepField(n, "dependsOn"), form.Get(stepField(n-1, "key")))
	}
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// StepIDOf makes an ID of a capability's name.
func StepIDOf(name string) string {
	id := strings.Trim(notInID.ReplaceAllString(name, "-"), "._-")
	if id = id[:min(len(id), 100)]; id == "" {
		return "step"
	}
	return id
}

// Unused is a name, numbered where it is taken.
func Unused(name string, taken map[string]bool) string {
	out := name
	for n := 2; taken[out]; n++ {
		out = name + "-" + strconv.Itoa(n)
	}
	return out
}

// WithoutRow removes a row of a list from a form and renumbers those behind it.
func WithoutRow(form url.Values, list string, row int) url.Values {
	out := url.Values{}
	for name, values := range form {
		rest, isRow := strings.CutPrefix(name, list+"[")
		at, what, _ := strings.Cut(rest, "]")
		n, err := strconv.Atoi(at)
		switch {
		case !isRow || err != nil || n < row:
			out[name] = values
		case n > row:
			out[list+"["+strconv.Itoa(n-1)+"]"+what] = values
		}
	}
	return out
}

// Rows are the steps with what was typed and what is wrong with it.
func (f *Form) Rows(s *form.Form) []StepRow {
	var rows []StepRow
	var earlier []form.Choice
	for i := range f.count() {
		row := f.row(s, i, earlier)
		rows = append(rows, row)
		earlier = append(earlier, form.Choice{Value: row.Key, Word: strconv.Itoa(i+1) + ". " + row.Head[0].Value})
	}
	return rows
}

func (f *Form) row(s *form.Form, i int, earlier []form.Choice) StepRow {
	at := func(what string) string { return stepField(i, what) }
	r := StepRow{N: i, Key: f.Request.Form(at("key")), Use: f.Request.Form(at("use")), Action: f.Request.Form(at("actionId"))}
	r.Offer = f.find(r.Use)
	r.Head = []form.Field{
		form.Must(s.Line(at("name"), "Name", "What people read.", "")),
		form.Must(s.Mono(at("id"), "ID", "Its name in bindings and receipts.", "")),
	}
	var wrong []string
	for _, what := range []string{"projectId", "agentId", "capability"} {
		if text := s.Take(at(what)); text != "" {
			wrong = append(wrong, text)
		}
	}
	if r.Wrong = strings.Join(wrong, " "); r.Offer == nil {
		return r
	}
	if len(earlier) > 0 {
		after := s.Boxes(at("dependsOn"), "After", "A step that takes an output comes after that step, ticked or not.", nil, earlier...)
		r.After = &after
	}
	r.Inputs, r.Bound = f.inputs(s, at, r.Offer, earlier)
	r.Fixed = FixedInputs(r.Offer.Fixed)
	hint := "If empty: what the capability expects; if that is empty too, the step stays unverified. $ is the whole output."
	r.Expected = s.ExpectationAt(at("expectation"), nil, hint)
	return r
}

func (f *Form) inputs(s *form.Form, at func(string) string, o *Offer, earlier []form.Choice) (out []inputField, bound *form.Field) {
	if o.InputSchema == nil {
		doc := s.Document(at("inputBindings"), "Inputs from earlier steps", `A JSON object such as {"amount": {"stepId": "read", "field": "total"}}.`, "", 3)
		return []inputField{{Value: s.Document(at("input"), "Inputs", "A JSON object: this capability declares none.", "", 4)}}, &doc
	}
	for _, in := range form.InputsOf(*o.Capability) {
		if _, set := o.Fixed[in.Name]; set {
			continue
		}
		one := inputField{Value: s.Input(at("input."+in.Name), in, countersign.Value{}), Sensitive: in.Sensitive}
		one.Value.Required = in.Required && !f.Loose && len(earlier) == 0
		if len(earlier) > 0 {
			one.Value.Needed = in.Required && !f.Loose
			from := at("inputBindings." + in.Name)
			step := s.Choose("select", from+".stepId", "Take it from", "Its value is verified first.", "", append([]form.Choice{{Word: "no step: as typed above"}}, earlier...)...)
			name := s.Mono(from+".field", "Field of that step’s output", "A dotted path leads deeper. $ is the whole output.", "")
			name.Wrong = strings.TrimSpace(name.Wrong + " " + s.Take(from))
			name.Offered = f.offeredOutputs(step.Value, earlier)
			one.Step, one.Field = &step, &name
		}
		out = append(out, one)
	}
	return out, nil
}

// Typed reads the steps and reports every field that is wrong.
func (f *Form) Typed() (steps []BuiltStep, wrong error) {
	ids := map[string]string{} // by the keys of earlier rows
	for i := range f.count() {
		step, err := f.typedStep(i, ids)
		steps, wrong = append(steps, step), web.Together(wrong, err)
		ids[f.Request.Form(stepField(i, "key"))] = step.ID
	}
	for i := range steps {
		steps[i].follow(steps[:i])
	}
	return steps, wrong
}

func (f *Form) typedStep(i int, ids map[string]string) (s BuiltStep, wrong error) {
	at := func(what string) string { return stepField(i, what) }
	s.ID, s.Name, s.ActionID = f.Request.Form(at("id")), f.Request.Form(at("name")), f.Request.Form(at("actionId"))
	s.Owner, s.Capability, _ = strings.Cut(f.Request.Form(at("use")), "/")
	if !countersign.ValidID(s.ID) {
		wrong = web.Invalid(at("id"), "letters, digits, dots, underscores and hyphens, at most 128")
	}
	for _, key := range f.Request.R.PostForm[at("dependsOn")] {
		if id := ids[key]; id != "" {
			s.DependsOn = append(s.DependsOn, id)
		}
	}
	o := f.find(s.Owner + "/" + s.Capability)
	if o == nil {
		return s, web.Together(wrong, web.Invalid(at("capability"), "%s is no longer there; remove the step", s.Capability))
	}
	var unbound, unread, unclear error
	s.Bindings, unbound = f.typedBindings(at("inputBindings"), o, ids)
	s.Input, unread = form.TypedInputsAt(f.Request, at("input"), f.typing(o), s.given(o))
	s.Expectation, unclear = form.TypedExpectationAt(f.Request, at("expectation"))
	return s, web.Together(wrong, unbound, unread, unclear)
}

// given are the inputs that nobody types.
func (s *BuiltStep) given(o *Offer) map[string]countersign.Value {
	out := map[string]countersign.Value{}
	for name := range o.Fixed {
		out[name] = countersign.Value{}
	}
	for name := range s.Bindings {
		out[name] = countersign.Value{}
	}
	return out
}

// typing is the capability whose inputs are typed; with required ones optional where they
// may come with the run.
func (f *Form) typing(o *Offer) *countersign.Capability {
	if f.Loose {
		return Loosened(o.Capability)
	}
	return o.Capability
}

func (f *Form) typedBindings(at string, o *Offer, ids map[string]string) (out map[string]countersign.Binding, wrong error) {
	if o.InputSchema == nil {
		text := f.Request.Form(at)
		if text == "" {
			return nil, nil
		}
		if err := exactjson.Decode([]byte(text), &out); err != nil {
			return nil, web.Invalid(at, "%s", strings.ReplaceAll(web.ProblemMessage(err), "; ", ", "))
		}
		return out, nil
	}
	for _, in := range form.InputsOf(*o.Capability) {
		key, name := f.Request.Form(at+"."+in.Name+".stepId"), f.Request.Form(at+"."+in.Name+".field")
		if _, set := o.Fixed[in.Name]; set || key == "" {
			continue
		}
		switch {
		case ids[key] == "":
			wrong = web.Together(wrong, web.Invalid(at+"."+in.Name+".stepId", "choose an earlier step"))
		case name == "":
			wrong = web.Together(wrong, web.Invalid(at+"."+in.Name+".field", "say which field"))
		case !f.stored:
			wrong = web.Together(wrong, f.checkOutput(at+"."+in.Name+".field", key, name))
		}
		if out == nil {
			out = map[string]countersign.Binding{}
		}
		out[in.Name] = countersign.Binding{StepID: ids[key], Field: name}
	}
	return out, wrong
}

// follow makes the steps that a step takes outputs of its dependencies, unless they are
// already, directly or by others.
func (s *BuiltStep) follow(earlier []BuiltStep) {
	for _, name := range slices.Sorted(maps.Keys(s.Bindings)) {
		from := s.Bindings[name].StepID
		if from != "" && !reaches(s.DependsOn, from, earlier) {
			s.DependsOn = append(s.DependsOn, from)
		}
	}
}

// reaches reports whether a step depends on another, directly or by others. Steps come
// after earlier ones only, so one look back is enough.
func reaches(dependsOn []string, id string, earlier []BuiltStep) bool {
	before := map[string]bool{}
	for _, d := range dependsOn {
		before[d] = true
	}
	for i := len(earlier) - 1; i >= 0 && !before[id]; i-- {
		if before[earlier[i].ID] {
			for _, d := range earlier[i].DependsOn {
				before[d] = true
			}
		}
	}
	return before[id]
}

// Write puts stored steps into the form. It reports whether the form has all of them: it
// can't show what it has no field for, such as a step that comes after a later one.
func (f *Form) Write(steps []BuiltStep) bool {
	keys := map[string]string{} // by step ID
	for i, s := range steps {
		if keys[s.ID] != "" || i >= MaxBuiltSteps {
			return false
		}
		f.writeStep(i, s, keys)
		keys[s.ID] = "k" + strconv.Itoa(i)
	}
	f.stored = true
	again, wrong := f.Typed()
	f.stored = false
	return wrong == nil && text.RawOf(plainly(again)) == text.RawOf(plainly(steps))
}

// plainly has no empty lists and objects: for the API they are the same as none.
func plainly(steps []BuiltStep) []BuiltStep {
	out := make([]BuiltStep, len(steps))
	for i, s := range steps {
		if len(s.Input) == 0 {
			s.Input = nil
		}
		if len(s.DependsOn) == 0 {
			s.DependsOn = nil
		}
		if len(s.Bindings) == 0 {
			s.Bindings = nil
		}
		out[i] = s
	}
	return out
}

func (f *Form) writeStep(i int, s BuiltStep, keys map[string]string) {
	posted := f.Request.R.PostForm
	set := func(what, value string) { posted.Set(stepField(i, what), value) }
	set("use", s.Owner+"/"+s.Capability)
	set("key", "k"+strconv.Itoa(i))
	set("id", s.ID)
	set("name", s.Name)
	set("actionId", s.ActionID)
	for _, id := range s.DependsOn {
		posted.Add(stepField(i, "dependsOn"), keys[id])
	}
	o := f.find(s.Owner + "/" + s.Capability)
	switch {
	case o == nil:
	case o.InputSchema == nil:
		if s.Input != nil {
			set("input", text.Pretty(countersign.ObjectValue(s.Input)))
		}
		if s.Bindings != nil {
			set("inputBindings", text.Pretty(s.Bindings))
		}
	default:
		for name, value := range s.Input {
			set("input."+name, form.TypedText(form.TypesOf(o.InputSchema[name]), value))
		}
		for name, b := range s.Bindings {
			set("inputBindings."+name+".stepId", keys[b.StepID])
			set("inputBindings."+name+".field", b.Field)
		}
	}
	if e := s.Expectation; e != nil {
		set("expectation.field", e.Field)
		set("expectation.equals", e.Equals.Raw())
		if e.StatusCode != 0 {
			set("expectation.statusCode", strconv.FormatInt(e.StatusCode, 10))
		}
	}
}

// Expects reports whether the form says what the answer must be, or what is wrong with it.
func (r StepRow) Expects() bool {
	return slices.ContainsFunc(r.Expected, func(f form.Field) bool { return f.Value != "" || f.Wrong != "" })
}

// StepOffers is the search for capabilities below the steps.
type StepOffers struct {
	Find, Whose, WhoseTitle string
	None                    string // why there is nothing to choose from
	Found                   []*Offer
	Total, Most             int
	Full                    bool
}

// OffersFor are the capabilities that a search finds.
func (f *Form) OffersFor(whose, none string) StepOffers {
	d := StepOffers{Find: f.Request.Form("find"), Whose: whose, WhoseTitle: text.Upper(whose), None: none, Most: MaxBuiltSteps, Full: f.count() >= MaxBuiltSteps}
	if d.Found, d.Total = f.found(d.Find); d.Total == 0 && len(f.Offers) > 0 {
		d.None = "Nothing matches."
	}
	return d
}

// Loosened is a capability without required inputs, for a form in which none is.
func Loosened(c *countersign.Capability) *countersign.Capability {
	if c.InputSchema == nil {
		return c
	}
	out := *c
	out.InputSchema = map[string]countersign.InputField{}
	for name, in := range c.InputSchema {
		in.Required = false
		out.InputSchema[name] = in
	}
	return &out
}
