// Package plans has the commands on plans.
package plans

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Commands are the commands on plans (specification 2.9).
type Commands struct {
	List    List                           `cmd:"" help:"List the plans, newest first." example:"plans list --status READY"`
	Show    service.Show[countersign.Plan] `cmd:"" set:"whose=The plan's" help:"Show a plan and its steps." example:"plans show plan-1"`
	Compile Compile                        `cmd:"" help:"Compile a model's scenario into a plan; exit status 1 if it is INVALID (OPERATOR)." example:"plans compile refund-agent --file compile.json --live"`
	Create  Create                         `cmd:"" help:"Store a plan of your own; exit status 1 if it is INVALID (OPERATOR)." example:"plans create plan.json"`
	Drift   Drift                          `cmd:"" help:"Show what has changed since a plan was made; exit status 1 if anything has." example:"plans drift plan-1"`
}

// New returns the commands, with what each asks for and prints.
func New() (c Commands) {
	c.Show = service.Shows((*client.Client).Plan, printPlan)
	return c
}

// List is the command `plans list`.
type List struct {
	Status string `enum:",READY,INVALID" default:"" help:"Only READY or INVALID ones." placeholder:"STATUS"`
	Model  string `help:"Only those of this model." placeholder:"ID"`
	service.Listing
}

var planTable = service.Columns[countersign.Plan]{
	Heading: []string{"id", "status", "mode", "name", "model", "steps", "by", "created"},
	Row: func(p countersign.Plan) []string {
		return []string{p.ID, p.Status, p.Mode, p.Name, p.ModelID, words.Number(len(p.Steps)), words.Called(p.CreatedBy, p.CreatedByName), words.Moment(p.CreatedAt)}
	},
}

// Run lists the plans.
func (l *List) Run(t *terminal.Terminal) error {
	return service.ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[countersign.Plan], error) {
		return c.Plans(t.Context, client.PlanFilter{Paging: p, Status: l.Status, ModelID: l.Model})
	}, planTable)
}

func printPlan(w io.Writer, p *countersign.Plan) {
	model := ""
	if p.ModelID != "" {
		model = fmt.Sprintf("%s, revision %d", p.ModelID, p.ModelRevision)
	}
	terminal.Facts(w, [2]string{"plan", p.ID}, [2]string{"name", p.Name}, [2]string{"status", p.Status}, [2]string{"mode", p.Mode}, [2]string{"model", model}, [2]string{"scenario", p.ScenarioID},
		[2]string{"digest", p.PlanDigest}, [2]string{"by", words.Called(p.CreatedBy, p.CreatedByName)}, [2]string{"created", words.Moment(p.CreatedAt)})
	for _, e := range p.ValidationErrors {
		fmt.Fprintln(w, "invalid:", words.Plain(e))
	}
	fmt.Fprintln(w)
	terminal.Table(w, []string{"step", "project", "capability", "after", "input", "expects"}, service.Rows(p.Steps, func(s countersign.Step) []string { return planStepRow(p, s) }))
}

func planStepRow(p *countersign.Plan, s countersign.Step) []string {
	var expects []string
	for _, e := range countersign.Expectations(capabilityOf(p, s), &s) {
		expects = append(expects, e.Field+" = "+words.Value(e.Equals))
	}
	return []string{s.ID, s.ProjectID, s.Capability, strings.Join(s.DependsOn, ", "), InputText(s.Input, s.InputBindings), strings.Join(expects, "; ")}
}

// capabilityOf is the capability of a step when the plan was made, nil if it is not visible.
func capabilityOf(p *countersign.Plan, s countersign.Step) *countersign.Capability {
	for i := range p.ProjectSnapshots {
		if p.ProjectSnapshots[i].ID == s.ProjectID {
			return p.ProjectSnapshots[i].Capability(s.Capability)
		}
	}
	return nil
}

// InputText prints a step's input, with the sources of bound fields.
func InputText(input map[string]countersign.Value, bindings map[string]countersign.Binding) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(input)) {
		parts = append(parts, name+"="+words.Value(input[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		parts = append(parts, name+" from "+bindings[name].StepID+"."+bindings[name].Field)
	}
	return strings.Join(parts, ", ")
}

// Compile is the command `plans compile`.
type Compile struct {
	Model    string `arg:"" help:"The model's id."`
	File     string `required:"" help:"CompileRequest as JSON (see /docs/api/types at the service): which capability carries each action out; - is standard input." placeholder:"FILE"`
	Scenario string `help:"The scenario; else the file's." placeholder:"ID"`
	Live     bool   `help:"A LIVE plan; else the file's mode, or DRY_RUN."`
	service.Asking
}

// compileFile is a CompileRequest in which the scenario may come from a flag.
type compileFile struct {
	ScenarioID     string                               `json:"scenarioId,omitempty"`
	ActionBindings map[string]countersign.ActionBinding `json:"actionBindings"`
	Name           string                               `json:"name,omitempty"`
	Inputs         map[string]countersign.Scalar        `json:"inputs,omitempty"`
	Mode           string                               `json:"mode,omitempty" enum:"DRY_RUN,LIVE"`
}

// Run compiles a plan.
func (p *Compile) Run(t *terminal.Terminal) error {
	var f compileFile
	if err := typed.ReadDocument(t, p.File, &f); err != nil {
		return err
	}
	w := countersign.CompileRequest(f)
	if w.ScenarioID = words.First(p.Scenario, w.ScenarioID); w.ScenarioID == "" {
		return terminal.Unusablef("%s has no scenarioId; give one with --scenario", p.File)
	}
	if p.Live {
		w.Mode = countersign.ModeLive
	}
	return made(t, p.Asking, func(c *client.Client) (*countersign.Plan, error) { return c.CompilePlan(t.Context, p.Model, w) })
}

// Create is the command `plans create`.
type Create struct {
	File string `arg:"" help:"PlanWrite as JSON (see /docs/api/types at the service); - is standard input."`
	service.Asking
}

// Run stores the plan.
func (p *Create) Run(t *terminal.Terminal) error {
	var w countersign.PlanWrite
	if err := typed.ReadDocument(t, p.File, &w); err != nil {
		return err
	}
	return made(t, p.Asking, func(c *client.Client) (*countersign.Plan, error) { return c.CreatePlan(t.Context, w) })
}

// made prints a new plan; an INVALID plan is a negative result.
func made(t *terminal.Terminal, a service.Asking, ask func(*client.Client) (*countersign.Plan, error)) error {
	var ready bool
	err := service.ShowRecord(t, a, ask, printPlan, func(p *countersign.Plan) { ready = p.Status == countersign.PlanReady })
	return terminal.VerdictOf(ready, err)
}

// Drift is the command `plans drift`.
type Drift struct {
	ID string `arg:"" help:"The plan's id."`
	service.Asking
}

// Run prints what has changed since the plan was made.
func (d *Drift) Run(t *terminal.Terminal) error {
	var current bool
	err := service.ShowRecord(t, d.Asking, func(c *client.Client) (*countersign.Drift, error) { return c.PlanDrift(t.Context, d.ID) }, printDrift,
		func(drift *countersign.Drift) { current = drift.Current })
	return terminal.VerdictOf(current, err)
}

func printDrift(w io.Writer, d *countersign.Drift) {
	if d.Current {
		fmt.Fprintln(w, "current: everything is as the plan saw it")
		return
	}
	terminal.Table(w, []string{"changed", "id", "planned", "now", "suspended", "what"}, service.Rows(d.Changes, func(c countersign.Change) []string {
		return []string{c.Kind, c.ID, words.Number(c.Planned), words.Number(c.Current), words.Yes(c.Suspended), c.Message}
	}))
}
