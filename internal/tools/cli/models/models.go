// Package models has the commands on models: stored, and in a file without a service.
package models

import (
	"errors"
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Commands are the commands on stored agent models (specification 2.4, modelstore.go), and on
// model files, which need no service.
type Commands struct {
	List     service.ListRetirable[countersign.Model] `cmd:"" help:"List the models." example:"models list"`
	Show     service.Show[countersign.Model]          `cmd:"" set:"whose=The model's" help:"Show a model." example:"models show refund-agent -o json"`
	Put      Put                                      `cmd:"" help:"Store a model (OPERATOR)." example:"models put model.json --revision 3"`
	Suspend  service.Change[countersign.Model]        `cmd:"" set:"whose=The model's" help:"Stop all plans made from a model so far before their next step (ADMIN)." example:"models suspend refund-agent --reason 'it refunds twice'"`
	Resume   service.Change[countersign.Model]        `cmd:"" set:"whose=The model's" help:"Allow new plans from a model again (ADMIN)." example:"models resume refund-agent --reason 'mended in revision 4'"`
	Retire   service.Change[countersign.Model]        `cmd:"" set:"whose=Its" help:"Hide a model from lists and refuse anything new made from it; it can still be read and restored (ADMIN)." example:"models retire refund-agent --reason 'replaced'"`
	Restore  service.Change[countersign.Model]        `cmd:"" set:"whose=Its" help:"Undo a retirement (ADMIN)." example:"models restore refund-agent --reason 'needed again'"`
	Validate Validate                                 `cmd:"" help:"Check a model file: errors and warnings, as POST /models/{id}/validate." example:"models validate model.json --strict"`
	Simulate Simulate                                 `cmd:"" help:"Simulate a model file's scenarios, as POST /models/{id}/simulate." example:"models simulate model.json --scenario returned-in-time --trace"`
	Explore  Explore                                  `cmd:"" help:"Explore every state that a model can reach, whatever its inputs." example:"models explore model.json"`
}

// New returns the commands, with what each asks for and prints.
func New() (c Commands) {
	c.List = service.Retirable((*client.Client).Models, modelTable, func(m countersign.Model) bool { return m.Retired })
	c.Show = service.Shows((*client.Client).Model, printModel)
	c.Suspend, c.Resume = service.Changes("suspended", (*client.Client).SuspendModel), service.Changes("resumed", (*client.Client).ResumeModel)
	c.Retire, c.Restore = service.Changes("retired", (*client.Client).RetireModel), service.Changes("restored", (*client.Client).RestoreModel)
	revision := func(m *countersign.Model) int64 { return m.Revision }
	c.Suspend, c.Resume = c.Suspend.Revised(revision), c.Resume.Revised(revision)
	return c
}

// ModelFile is the argument of commands on a file: an AgentModel or a ModelWrite.
type ModelFile struct {
	File string `arg:"" help:"The model, as JSON: the document itself or {\"document\": …}; - for standard input."`
}

// Validate is the command `models validate`.
type Validate struct {
	ModelFile
	Strict bool `help:"Exit status 1 also for warnings."`
	terminal.Output
}

// Run validates.
func (m *Validate) Run(t *terminal.Terminal) error {
	doc, err := m.read(t)
	if err != nil {
		return err
	}
	var v countersign.Validation
	if err := terminal.Working(t, "validating", func() { v = model.Validate(doc) }); err != nil {
		return err
	}
	if err := m.Print(t, v, func(w io.Writer) { printValidation(w, v) }); err != nil {
		return err
	}
	if !v.Valid || m.Strict && len(v.Warnings) > 0 {
		return terminal.StatusError{Status: terminal.ExitFailed}
	}
	return nil
}

func printValidation(w io.Writer, v countersign.Validation) {
	var rows [][]string
	for _, p := range v.Errors {
		rows = append(rows, []string{"error", p.Path, p.Code, p.Message})
	}
	for _, p := range v.Warnings {
		rows = append(rows, []string{"warning", p.Path, p.Code, p.Message})
	}
	if len(rows) > 0 {
		terminal.Table(w, []string{"severity", "path", "code", "message"}, rows)
		fmt.Fprintln(w)
	}
	word := "valid"
	if !v.Valid {
		word = "not valid"
	}
	fmt.Fprintf(w, "%s: %d errors, %d warnings\n", word, len(v.Errors), len(v.Warnings))
}

// compiled returns a model that can be simulated. A model with errors is a negative result
// and not a refusal, since no service was asked.
func (f ModelFile) compiled(t *terminal.Terminal) (*countersign.AgentModel, *model.Machine, error) {
	doc, err := f.read(t)
	if err != nil {
		return nil, nil, err
	}
	machine, err := model.Compile(doc)
	if err != nil {
		return nil, nil, f.failed(err)
	}
	return doc, machine, nil
}

// failed adds the file's name to an error. The error keeps its code in the text, as the
// service would answer it.
func (f ModelFile) failed(err error) error {
	return errors.New(f.File + ": " + err.Error())
}
