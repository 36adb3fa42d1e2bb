package console

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// The steps of a plan or a team as a form. All of it stands in the form's fields, so that
// adding and removing rows are submit buttons and nothing is kept between two requests.
// Rows refer to earlier rows by a key that stays when a step's ID is changed or a row
// above is removed.

// maxBuiltSteps bounds a form: each step has a field for each input.
const maxBuiltSteps = 25

// offersShown is how many capabilities a search shows.
const offersShown = 10

// offer is a capability that a step may call.
type offer struct {
	Owner, Word string // ID and name of the project, or of the agent, that has it
	*countersign.Capability
	Fixed map[string]countersign.Value // inputs that the agent's manifest sets
}

// Use is what a form has for it; no ID contains a slash.
func (o *offer) Use() string { return o.Owner + "/" + o.Name }

// Asks says whether a step of it asks for approval.
func (o *offer) Asks() string { return askingWords(o.Capability) }

// builtStep is a step of a plan or of a team; Owner is its project or its agent.
type builtStep struct {
	ID, Name, Owner, Capability string
	ActionID                    string // of the model, in a plan that was compiled

	Input       map[string]countersign.Value
	DependsOn   []string
	Bindings    map[string]countersign.Binding
	Expectation *countersign.Expectation
}

// stepsForm reads and shows the steps.
type stepsForm struct {
	v      *pageRequest
	offers []offer
	loose  bool // required inputs may come with the run
	stored bool // the steps are stored ones: their fields of outputs are taken as they are
}

// stepRow is one step as the form shows it.
type stepRow struct {
	N        int
	Key, Use string
	Action   string // of the model, in a plan that was compiled
	Offer    *offer // nil: it is no longer there
	Wrong    string // what is wrong with the step as a whole
	Head     []field
	Inputs   []inputField
	Bound    *field // bindings as JSON, where inputs aren't declared
	Fixed    []teamInput
	After    *field // nil for the first step
	Expected []field
}

// At is the name of one of the row's fields.
func (r stepRow) At(what string) string { return stepField(r.N, what) }

// inputField is an input: typed, or taken from an earlier step's output.
type inputField struct {
	Value       field
	Step, Field *field // nil where no step is earlier
	Sensitive   bool
}

// Open reports whether the choice of an earlier step is to be seen at once.
func (f inputField) Open() bool {
	return f.Step.Value != "" || f.Step.Wrong != "" || f.Field.Wrong != ""
}

func stepField(i int, what string) string { return "steps[" + strconv.Itoa(i) + "]." + what }

// count is how many rows the form has.
func (f *stepsForm) count() int {
	n := 0
	for n < maxBuiltSteps && f.v.r.PostForm.Has(stepField(n, "use")) {
		n++
	}
	return n
}

func (f *stepsForm) find(use string) *offer {
	for i := range f.offers {
		if f.offers[i].Use() == use {
			return &f.offers[i]
		}
	}
	return nil
}

// found are the offers with a text, at most offersShown, and how many there are.
func (f *stepsForm) found(text string) (list []*offer, total int) {
	for i := range f.offers {
		o := &f.offers[i]
		if !mentions(o.Capability, text) && !strings.Contains(strings.ToLower(o.Owner+"\n"+o.Word), strings.ToLower(text)) {
			continue
		}
		if total++; len(list) < offersShown {
			list = append(list, o)
		}
	}
	return list, total
}

// edit adds or removes a row if such a button was pressed.
func (f *stepsForm) edit() (done bool) {
	form := f.v.r.PostForm
	if n, err := strconv.Atoi(form.Get("remove")); err == nil {
		f.v.r.PostForm = withoutRow(form, "steps", n)
		return true
	}
	if o := f.find(form.Get("add")); o != nil && f.count() < maxBuiltSteps {
		f.add(o)
		return true
	}
	return form.Has("add")
}

// add appends a row that comes after the last one.
func (f *stepsForm) add(o *offer) {
	form, n := f.v.r.PostForm, f.count()
	keys, ids := map[string]bool{}, map[string]bool{}
	for i := range n {
		keys[form.Get(stepField(i, "key"))], ids[form.Get(stepField(i, "id"))] = true, true
	}
	form.Set(stepField(n, "use"), o.Use())
	form.Set(stepField(n, "key"), unused("k", keys))
	form.Set(stepField(n, "id"), unused(stepIDOf(o.Name), ids))
	form.Set(stepField(n, "name"), o.Name)
	if n > 0 {
		form.Set(stepField(n, "dependsOn"), form.Get(stepField(n-1, "key")))
	}
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// stepIDOf makes an ID of a capability's name.
func stepIDOf(name string) string {
	id := strings.Trim(notInID.ReplaceAllString(name, "-"), "._-")
	if id = id[:min(len(id), 100)]; id == "" {
		return "step"
	}
	return id
}

func unused(name string, taken map[string]bool) string {
	out := name
	for n := 2; taken[out]; n++ {
		out = name + "-" + strconv.Itoa(n)
	}
	return out
}

// withoutRow removes a row of a list from a form and renumbers those behind it.
func withoutRow(form url.Values, list string, row int) url.Values {
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

// rows are the steps with what was typed and what is wrong with it.
func (f *stepsForm) rows(s *form) []stepRow {
	var rows []stepRow
	var earlier []choice
	for i := range f.count() {
		row := f.row(s, i, earlier)
		rows = append(rows, row)
		earlier = append(earlier, choice{Value: row.Key, Word: strconv.Itoa(i+1) + ". " + row.Head[0].Value})
	}
	return rows
}

func (f *stepsForm) row(s *form, i int, earlier []choice) stepRow {
	at := func(what string) string { return stepField(i, what) }
	r := stepRow{N: i, Key: f.v.form(at("key")), Use: f.v.form(at("use")), Action: f.v.form(at("actionId"))}
	r.Offer = f.find(r.Use)
	r.Head = []field{
		must(s.line(at("name"), "Name", "What people read.", "")),
		must(s.mono(at("id"), "ID", "Its name in bindings and receipts.", "")),
	}
	var wrong []string
	for _, what := range []string{"projectId", "agentId", "capability"} {
		if text := s.take(at(what)); text != "" {
			wrong = append(wrong, text)
		}
	}
	if r.Wrong = strings.Join(wrong, " "); r.Offer == nil {
		return r
	}
	if len(earlier) > 0 {
		after := s.boxes(at("dependsOn"), "After", "A step that takes an output comes after that step, ticked or not.", nil, earlier...)
		r.After = &after
	}
	r.Inputs, r.Bound = f.inputs(s, at, r.Offer, earlier)
	r.Fixed = fixedInputs(r.Offer.Fixed)
	hint := "If empty: what the capability expects; if that is empty too, the step stays unverified. $ is the whole output."
	r.Expected = s.expectationAt(at("expectation"), nil, hint)
	return r
}

func (f *stepsForm) inputs(s *form, at func(string) string, o *offer, earlier []choice) (out []inputField, bound *field) {
	if o.InputSchema == nil {
		doc := s.document(at("inputBindings"), "Inputs from earlier steps", `A JSON object such as {"amount": {"stepId": "read", "field": "total"}}.`, "", 3)
		return []inputField{{Value: s.document(at("input"), "Inputs", "A JSON object: this capability declares none.", "", 4)}}, &doc
	}
	for _, in := range inputsOf(*o.Capability) {
		if _, set := o.Fixed[in.Name]; set {
			continue
		}
		one := inputField{Value: s.input(at("input."+in.Name), in, countersign.Value{}), Sensitive: in.Sensitive}
		one.Value.Required = in.Required && !f.loose && len(earlier) == 0
		if len(earlier) > 0 {
			one.Value.Needed = in.Required && !f.loose
			from := at("inputBindings." + in.Name)
			step := s.choose("select", from+".stepId", "Take it from", "Its value is verified first.", "", append([]choice{{Word: "no step: as typed above"}}, earlier...)...)
			name := s.mono(from+".field", "Field of that step’s output", "A dotted path leads deeper. $ is the whole output.", "")
			name.Wrong = strings.TrimSpace(name.Wrong + " " + s.take(from))
			name.Offered = f.offeredOutputs(step.Value, earlier)
			one.Step, one.Field = &step, &name
		}
		out = append(out, one)
	}
	return out, nil
}

// typed reads the steps and reports every field that is wrong.
func (f *stepsForm) typed() (steps []builtStep, wrong error) {
	ids := map[string]string{} // by the keys of earlier rows
	for i := range f.count() {
		step, err := f.typedStep(i, ids)
		steps, wrong = append(steps, step), together(wrong, err)
		ids[f.v.form(stepField(i, "key"))] = step.ID
	}
	for i := range steps {
		steps[i].follow(steps[:i])
	}
	return steps, wrong
}

func (f *stepsForm) typedStep(i int, ids map[string]string) (s builtStep, wrong error) {
	at := func(what string) string { return stepField(i, what) }
	s.ID, s.Name, s.ActionID = f.v.form(at("id")), f.v.form(at("name")), f.v.form(at("actionId"))
	s.Owner, s.Capability, _ = strings.Cut(f.v.form(at("use")), "/")
	if !countersign.ValidID(s.ID) {
		wrong = invalid(at("id"), "letters, digits, dots, underscores and hyphens, at most 128")
	}
	for _, key := range f.v.r.PostForm[at("dependsOn")] {
		if id := ids[key]; id != "" {
			s.DependsOn = append(s.DependsOn, id)
		}
	}
	o := f.find(s.Owner + "/" + s.Capability)
	if o == nil {
		return s, together(wrong, invalid(at("capability"), "%s is no longer there; remove the step", s.Capability))
	}
	var unbound, unread, unclear error
	s.Bindings, unbound = f.typedBindings(at("inputBindings"), o, ids)
	s.Input, unread = f.v.typedInputsAt(at("input"), f.typing(o), s.given(o))
	s.Expectation, unclear = f.v.typedExpectationAt(at("expectation"))
	return s, together(wrong, unbound, unread, unclear)
}

// given are the inputs that nobody types.
func (s *builtStep) given(o *offer) map[string]countersign.Value {
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
func (f *stepsForm) typing(o *offer) *countersign.Capability {
	if f.loose {
		return loosened(o.Capability)
	}
	return o.Capability
}

func (f *stepsForm) typedBindings(at string, o *offer, ids map[string]string) (out map[string]countersign.Binding, wrong error) {
	if o.InputSchema == nil {
		text := f.v.form(at)
		if text == "" {
			return nil, nil
		}
		if err := exactjson.Decode([]byte(text), &out); err != nil {
			return nil, invalid(at, "%s", strings.ReplaceAll(problemMessage(err), "; ", ", "))
		}
		return out, nil
	}
	for _, in := range inputsOf(*o.Capability) {
		key, name := f.v.form(at+"."+in.Name+".stepId"), f.v.form(at+"."+in.Name+".field")
		if _, set := o.Fixed[in.Name]; set || key == "" {
			continue
		}
		switch {
		case ids[key] == "":
			wrong = together(wrong, invalid(at+"."+in.Name+".stepId", "choose an earlier step"))
		case name == "":
			wrong = together(wrong, invalid(at+"."+in.Name+".field", "say which field"))
		case !f.stored:
			wrong = together(wrong, f.checkOutput(at+"."+in.Name+".field", key, name))
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
func (s *builtStep) follow(earlier []builtStep) {
	for _, name := range slices.Sorted(maps.Keys(s.Bindings)) {
		from := s.Bindings[name].StepID
		if from != "" && !reaches(s.DependsOn, from, earlier) {
			s.DependsOn = append(s.DependsOn, from)
		}
	}
}

// reaches reports whether a step depends on another, directly or by others. Steps come
// after earlier ones only, so one look back is enough.
func reaches(dependsOn []string, id string, earlier []builtStep) bool {
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

// write puts stored steps into the form. It reports whether the form has all of them: it
// can't show what it has no field for, such as a step that comes after a later one.
func (f *stepsForm) write(steps []builtStep) bool {
	keys := map[string]string{} // by step ID
	for i, s := range steps {
		if keys[s.ID] != "" || i >= maxBuiltSteps {
			return false
		}
		f.writeStep(i, s, keys)
		keys[s.ID] = "k" + strconv.Itoa(i)
	}
	f.stored = true
	again, wrong := f.typed()
	f.stored = false
	return wrong == nil && rawOf(plainly(again)) == rawOf(plainly(steps))
}

// plainly has no empty lists and objects: for the API they are the same as none.
func plainly(steps []builtStep) []builtStep {
	out := make([]builtStep, len(steps))
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

func (f *stepsForm) writeStep(i int, s builtStep, keys map[string]string) {
	form := f.v.r.PostForm
	set := func(what, value string) { form.Set(stepField(i, what), value) }
	set("use", s.Owner+"/"+s.Capability)
	set("key", "k"+strconv.Itoa(i))
	set("id", s.ID)
	set("name", s.Name)
	set("actionId", s.ActionID)
	for _, id := range s.DependsOn {
		form.Add(stepField(i, "dependsOn"), keys[id])
	}
	o := f.find(s.Owner + "/" + s.Capability)
	switch {
	case o == nil:
	case o.InputSchema == nil:
		if s.Input != nil {
			set("input", pretty(countersign.ObjectValue(s.Input)))
		}
		if s.Bindings != nil {
			set("inputBindings", pretty(s.Bindings))
		}
	default:
		for name, value := range s.Input {
			set("input."+name, typedText(typesOf(o.InputSchema[name]), value))
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

// typedText is a value as it is typed into the field of an input.
func typedText(kind string, v countersign.Value) string {
	if kind == "string" && v.Kind() == countersign.KindString {
		return v.Text()
	}
	return v.Raw()
}

// Expects reports whether the form says what the answer must be, or what is wrong with it.
func (r stepRow) Expects() bool {
	return slices.ContainsFunc(r.Expected, func(f field) bool { return f.Value != "" || f.Wrong != "" })
}

// stepOffers is the search for capabilities below the steps.
type stepOffers struct {
	Find, Whose, WhoseTitle string
	None                    string // why there is nothing to choose from
	Found                   []*offer
	Total, Most             int
	Full                    bool
}

func (f *stepsForm) offersFor(whose, none string) stepOffers {
	d := stepOffers{Find: f.v.form("find"), Whose: whose, WhoseTitle: upper(whose), None: none, Most: maxBuiltSteps, Full: f.count() >= maxBuiltSteps}
	if d.Found, d.Total = f.found(d.Find); d.Total == 0 && len(f.offers) > 0 {
		d.None = "Nothing matches."
	}
	return d
}
