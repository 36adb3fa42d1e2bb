package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/countersign/countersign/client"
)

// Retiring a record hides it from lists and prevents new uses; restoring ends that. The
// commands are the same for models, projects, agents and teams.

// retirement is the flags of these commands.
type retirement struct {
	ID     string `arg:"" help:"Its id."`
	Reason string `required:"" help:"Why; kept in the audit log."`
	Asking
}

func retire[T any](t *Terminal, r retirement, done string, ask func(*client.Client, context.Context, string, string) (*T, error)) error {
	return show(t, r.Asking, func(c *client.Client) (*T, error) { return ask(c, t.Context, r.ID, r.Reason) },
		func(w io.Writer, _ *T) { fmt.Fprintln(w, done, Plain(r.ID)) })
}

// retirees is the flags of a list that hides retired records.
type retirees struct {
	Retired bool `help:"Show retired."`
}

// withRetired adds a column if retired records are listed too.
func withRetired[T any](shown table[T], asked bool, is func(T) bool) table[T] {
	if !asked {
		return shown
	}
	row := shown.row
	return table[T]{heading: append(shown.heading[:len(shown.heading):len(shown.heading)], "retired"), row: func(item T) []string { return append(row(item), yes(is(item))) }}
}

// ModelsRetire is the command `models retire`.
type ModelsRetire struct{ retirement }

// Run retires the model.
func (r *ModelsRetire) Run(t *Terminal) error {
	return retire(t, r.retirement, "retired", (*client.Client).RetireModel)
}

// ModelsRestore is the command `models restore`.
type ModelsRestore struct{ retirement }

// Run restores the model.
func (r *ModelsRestore) Run(t *Terminal) error {
	return retire(t, r.retirement, "restored", (*client.Client).RestoreModel)
}

// ProjectsRetire is the command `projects retire`.
type ProjectsRetire struct{ retirement }

// Run retires the project.
func (r *ProjectsRetire) Run(t *Terminal) error {
	return retire(t, r.retirement, "retired", (*client.Client).RetireProject)
}

// ProjectsRestore is the command `projects restore`.
type ProjectsRestore struct{ retirement }

// Run restores the project.
func (r *ProjectsRestore) Run(t *Terminal) error {
	return retire(t, r.retirement, "restored", (*client.Client).RestoreProject)
}

// AgentsRetire is the command `agents retire`.
type AgentsRetire struct{ retirement }

// Run retires the agent.
func (r *AgentsRetire) Run(t *Terminal) error {
	return retire(t, r.retirement, "retired", (*client.Client).RetireAgent)
}

// AgentsRestore is the command `agents restore`.
type AgentsRestore struct{ retirement }

// Run restores the agent.
func (r *AgentsRestore) Run(t *Terminal) error {
	return retire(t, r.retirement, "restored", (*client.Client).RestoreAgent)
}

// TeamsRetire is the command `teams retire`.
type TeamsRetire struct{ retirement }

// Run retires the team.
func (r *TeamsRetire) Run(t *Terminal) error {
	return retire(t, r.retirement, "retired", (*client.Client).RetireTeam)
}

// TeamsRestore is the command `teams restore`.
type TeamsRestore struct{ retirement }

// Run restores the team.
func (r *TeamsRestore) Run(t *Terminal) error {
	return retire(t, r.retirement, "restored", (*client.Client).RestoreTeam)
}
