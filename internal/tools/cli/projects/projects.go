// Package projects has the commands on projects, their credential variables, webhooks, and the trial of a
// project's receiver.
package projects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/tools/cli/runs"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Commands are the commands on project connections (specification 2.6).
type Commands struct {
	List       service.ListRetirable[countersign.Project] `cmd:"" help:"List the projects in scope." example:"projects list"`
	Show       service.Show[countersign.Project]          `cmd:"" set:"whose=The project's" help:"Show a project and its capabilities." example:"projects show default-shop"`
	Put        Put                                        `cmd:"" help:"Register or edit a project; it is disabled afterwards (ADMIN)." example:"projects put shop.json --id default-shop"`
	Validate   Validate                                   `cmd:"" help:"Find contradictions and gaps in a project's approval rules, each with inputs that show it; with --strict, exit status 1 if there are any." example:"projects validate default-shop"`
	WhatIf     WhatIf                                     `cmd:"" name:"what-if" help:"Say what another approval, other rules or other budgets of a capability, or a proposed change, would have done with its past LIVE runs; changes nothing." example:"projects what-if default-shop what-if.json"`
	Health     Health                                     `cmd:"" help:"Check a project's health; exit status 1 if it isn't healthy (ADMIN)." example:"projects health default-shop"`
	Run        Run                                        `cmd:"" help:"Run one capability, without a model (OPERATOR)." example:"projects run default-shop --capability refunds.create --input orderId=A-1 --input amount:=10 --expect status=refunded --live --watch"`
	Enable     Enable                                     `cmd:"" help:"Allow LIVE runs to use a project that passed its health check (ADMIN)." example:"projects enable default-shop"`
	AnswerKeys AnswerKeys                                 `cmd:"" help:"Change the keys by which a project's receiver signs its answers, also under unfinished runs (ADMIN)." example:"projects answer-keys default-shop ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"`
	Disable    Disable                                    `cmd:"" help:"Stop LIVE runs from using a project (ADMIN)." example:"projects disable default-shop --reason 'the shop is being moved'"`
	Retire     service.Change[countersign.Project]        `cmd:"" set:"whose=Its" help:"Hide a project that no unfinished run uses from lists and refuse anything new made from it; it can still be read and restored (ADMIN)." example:"projects retire default-shop --reason 'replaced'"`
	Restore    service.Change[countersign.Project]        `cmd:"" set:"whose=Its" help:"Undo a retirement (ADMIN)." example:"projects restore default-shop --reason 'needed again'"`
}

// New returns the commands, with what each asks for and prints.
func New() (c Commands) {
	c.List = service.Retirable((*client.Client).Projects, projectTable, func(p countersign.Project) bool { return p.Retired })
	c.Show = service.Shows((*client.Client).Project, printProject)
	c.Retire, c.Restore = service.Changes("retired", (*client.Client).RetireProject), service.Changes("restored", (*client.Client).RestoreProject)
	return c
}

var projectTable = service.Columns[countersign.Project]{
	Heading: []string{"id", "name", "revision", "enabled", "capabilities", "address", "credential", "updated"},
	Row: func(p countersign.Project) []string {
		return []string{p.ID, p.Name, words.Number(p.Revision), words.Yes(p.Enabled), words.Number(len(p.Capabilities)), words.First(p.BaseURL, p.Adapter), credentialOf(&p), words.Moment(p.UpdatedAt)}
	},
}

// credentialOf prints how calls to a project are authenticated, and whether the service has
// the credential.
func credentialOf(p *countersign.Project) string {
	auths := p.EffectiveAuths()
	if len(auths) == 0 {
		return countersign.AuthNone
	}
	words := make([]string, len(auths))
	for i, a := range auths {
		words[i] = strings.Join(slices.DeleteFunc([]string{a.Type, a.HeaderName, a.User, a.CredentialEnv}, func(s string) bool { return s == "" }), " ")
	}
	text := strings.Join(words, ", ")
	switch {
	case p.SecretConfigured:
		return text
	case len(auths) > 1:
		return text + " (not all are set)"
	default:
		return text + " (not set)"
	}
}

func printProject(w io.Writer, p *countersign.Project) {
	state := "disabled"
	if p.Enabled {
		state = "enabled"
	}
	facts := [][2]string{{"project", p.ID}, {"name", p.Name}, {"revision", words.Number(p.Revision)}, {"state", state}, {"retired", words.Yes(p.Retired)}, {"adapter", p.Adapter},
		{"address", p.BaseURL}, {"health path", p.HealthPath}, {"health", healthText(p.Health)}, {"credential", credentialOf(p)}, {"headers", headersText(p.Headers)},
		{"created", words.Moment(p.CreatedAt)}, {"updated", words.Moment(p.UpdatedAt)}}
	terminal.Facts(w, append(facts, runs.MemberFacts(request.Unlisted(p, projectListed...))...)...)
	fmt.Fprintln(w)
	terminal.Table(w, []string{"capability", "method", "path", "effect", "approval", "idempotent", "timeout", "output field"}, service.Rows(p.Capabilities, func(c countersign.Capability) []string { return capabilityRow(p, c) }))
	printExpectations(w, p)
	printRules(w, p)
	for i := range p.Capabilities {
		if rest := runs.MemberFacts(request.Unlisted(&p.Capabilities[i], capabilityListed...)); len(rest) > 0 {
			fmt.Fprintln(w)
			terminal.Facts(w, append([][2]string{{"capability", p.Capabilities[i].Name}}, rest...)...)
		}
	}
}

// projectListed and capabilityListed are the members that printProject has words for.
var (
	projectListed    = []string{"id", "name", "revision", "enabled", "retired", "adapter", "baseUrl", "healthPath", "health", "auth", "authSecretEnv", "secretConfigured", "weakSecret", "headers", "capabilities", "conformance", "createdAt", "updatedAt"}
	capabilityListed = []string{"name", "method", "path", "sideEffect", "approval", "idempotent", "timeoutMs", "outputField", "expectation", "approvalRules"}
)

// headersText are the headers that each call is sent with.
func headersText(h countersign.Headers) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		list = append(list, name+": "+h[name])
	}
	return strings.Join(list, ", ")
}

// printExpectations lists what the capabilities of a project expect, if they do.
func printExpectations(w io.Writer, p *countersign.Project) {
	var found [][]string
	for _, c := range p.Capabilities {
		if e := c.Expectation; e != nil {
			found = append(found, []string{c.Name, e.Field, words.Value(e.Equals), words.Number(e.StatusCode)})
		}
	}
	if len(found) > 0 {
		fmt.Fprintln(w)
		terminal.Table(w, []string{"capability", "expects of field", "value", "status"}, found)
	}
}

// printRules lists the rules of a project, if it has any.
func printRules(w io.Writer, p *countersign.Project) {
	if found := ruleRows(p); len(found) > 0 {
		fmt.Fprintln(w)
		terminal.Table(w, []string{"capability", "rule", "approvals", "groups", "reason", "when"}, found)
	}
}

func capabilityRow(p *countersign.Project, c countersign.Capability) []string {
	effect := "read"
	if c.HasSideEffect() {
		effect = "side effect"
	}
	approval := c.ApprovalPolicy()
	if approval == countersign.ApprovalRiskBased && c.NeedsApproval() {
		approval += " (asks)"
	}
	return []string{c.Name, c.Method, c.Path, effect, approval, idempotence(p, c), c.Timeout().String(), c.OutputField}
}

// idempotence shows whether check-receiver confirmed the idempotency or it is only declared.
func idempotence(p *countersign.Project, c countersign.Capability) string {
	found := p.ConformanceOf(c.Name)
	switch {
	case !c.Idempotent:
		return ""
	case found == nil:
		return "declared"
	case found.Proven:
		return "proven"
	default:
		return "declared, not proven"
	}
}

func healthText(h *countersign.HealthCheck) string {
	switch {
	case h == nil:
		return ""
	case h.Healthy:
		return fmt.Sprintf("status %d in %s at %s", h.StatusCode, words.Milliseconds(h.LatencyMs), words.Moment(h.CheckedAt))
	default:
		return fmt.Sprintf("not healthy: status %d, %s, at %s", h.StatusCode, words.First(h.Error, "not 2xx"), words.Moment(h.CheckedAt))
	}
}

// Put registers or edits.
type Put struct {
	File     string `arg:"" help:"ProjectWrite as JSON (see /docs/api/types at the service); - is standard input."`
	ID       string `help:"The project's id, which begins with the tenant's and a hyphen; else the file's."`
	Revision int64  `help:"Edit this revision, which must be the current one; else the file's expectedRevision." placeholder:"N"`
	service.Asking
}

// Run saves the project. An edit names the revision that it is based on, so that it never
// overwrites somebody else's change.
func (p *Put) Run(t *terminal.Terminal) error {
	var w countersign.ProjectWrite
	if err := typed.ReadDocument(t, p.File, &w); err != nil {
		return err
	}
	id, err := typed.IdOf(p.ID, w.ID, p.File)
	if err != nil {
		return err
	}
	w.ExpectedRevision = service.Revision(p.Revision, w.ExpectedRevision)
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.Project, error) {
		saved, err := c.SaveProject(t.Context, id, w)
		return saved, service.WithRevision(err)
	}, func(out io.Writer, saved *countersign.Project) {
		fmt.Fprintf(out, "saved %s, revision %d, disabled until 'countersign projects health %s' and 'countersign projects enable %s'\n", saved.ID, saved.Revision, saved.ID, saved.ID)
	})
}

// Health is the command `projects health`.
type Health struct {
	ID string `arg:"" help:"The project's id."`
	service.Asking
}

// Run has the service call the project's health path, which shows only that it is reachable.
func (h *Health) Run(t *terminal.Terminal) error {
	var healthy bool
	err := service.ShowRecord(t, h.Asking, func(c *client.Client) (*countersign.HealthCheck, error) {
		return c.CheckProjectHealth(t.Context, h.ID)
	}, func(w io.Writer, check *countersign.HealthCheck) { fmt.Fprintln(w, words.Plain(healthText(check))) }, func(check *countersign.HealthCheck) { healthy = check.Healthy })
	return terminal.VerdictOf(healthy, err)
}

// Enable is the command `projects enable`.
type Enable struct {
	ID       string `arg:"" help:"The project's id."`
	Reason   string `help:"Why; kept in the audit log."`
	Revision int64  `help:"Only this revision; else whatever is current." placeholder:"N"`
	service.Asking
}

// Run enables the project.
func (e *Enable) Run(t *terminal.Terminal) error {
	return toggle(t, e.Asking, e.ID, countersign.Toggle{ExpectedRevision: e.Revision, Reason: e.Reason}, "enabled", func(c *client.Client, ctx context.Context, id string, w countersign.Toggle) (*countersign.Project, error) {
		p, err := c.EnableProject(ctx, id, w)
		if errors.Is(err, client.ErrHealthCheckRequired) {
			err = fmt.Errorf("%w (here 'countersign projects health %s')", err, id)
		}
		return p, err
	})
}

// Disable is the command `projects disable`.
type Disable struct {
	ID       string `arg:"" help:"The project's id."`
	Reason   string `required:"" help:"Why; kept in the audit log."`
	Revision int64  `help:"Only this revision; else whatever is current." placeholder:"N"`
	service.Asking
}

// Run disables the project.
func (d *Disable) Run(t *terminal.Terminal) error {
	return toggle(t, d.Asking, d.ID, countersign.Toggle{ExpectedRevision: d.Revision, Reason: d.Reason}, "disabled", (*client.Client).DisableProject)
}
