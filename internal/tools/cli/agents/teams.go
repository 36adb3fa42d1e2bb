package agents

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/plans"
	"github.com/countersign/countersign/internal/tools/cli/runs"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Teams are the commands on teams of agents (specification 2.16).
type Teams struct {
	List    service.ListRetirable[countersign.Team] `cmd:"" help:"List the teams in scope." example:"teams list"`
	Show    service.Show[countersign.Team]          `cmd:"" set:"whose=The team's" help:"Show a team's members and steps." example:"teams show returns-desk"`
	Put     TeamsPut                                `cmd:"" help:"Create or update a team of at least two admitted agents (OPERATOR)." example:"teams put team.json --id returns-desk"`
	Start   TeamsStart                              `cmd:"" help:"Run a team's steps, one after the other (OPERATOR)." example:"teams start returns-desk --live --watch"`
	Suspend service.Change[countersign.Team]        `cmd:"" set:"whose=The team's" help:"Stop a team's runs before their next step (ADMIN)." example:"teams suspend returns-desk --reason 'stocktaking'"`
	Resume  service.Change[countersign.Team]        `cmd:"" set:"whose=The team's" help:"Let a team run again (ADMIN)." example:"teams resume returns-desk --reason 'stocktaking is over'"`
	Retire  service.Change[countersign.Team]        `cmd:"" set:"whose=Its" help:"Hide a team from lists and refuse anything new made from it; it can still be read and restored (ADMIN)." example:"teams retire returns-desk --reason 'replaced'"`
	Restore service.Change[countersign.Team]        `cmd:"" set:"whose=Its" help:"Undo a retirement (ADMIN)." example:"teams restore returns-desk --reason 'needed again'"`
}

// NewTeams returns the commands, with what each asks for and prints.
func NewTeams() (c Teams) {
	c.List = service.Retirable((*client.Client).Teams, teamTable, func(x countersign.Team) bool { return x.Retired })
	c.Show = service.Shows((*client.Client).Team, printTeam)
	c.Suspend, c.Resume = service.Changes("suspended", (*client.Client).SuspendTeam), service.Changes("resumed", (*client.Client).ResumeTeam)
	c.Retire, c.Restore = service.Changes("retired", (*client.Client).RetireTeam), service.Changes("restored", (*client.Client).RestoreTeam)
	revision := func(x *countersign.Team) int64 { return x.Revision }
	c.Suspend, c.Resume = c.Suspend.Revised(revision), c.Resume.Revised(revision)
	return c
}

var teamTable = service.Columns[countersign.Team]{
	Heading: []string{"id", "name", "revision", "suspended", "members", "steps", "updated"},
	Row: func(x countersign.Team) []string {
		return []string{x.ID, x.Name, words.Number(x.Revision), words.Yes(x.Suspended), words.Number(len(x.Members)), words.Number(len(x.Steps)), words.Moment(x.UpdatedAt)}
	},
}

func printTeam(w io.Writer, x *countersign.Team) {
	terminal.Facts(w, [2]string{"team", x.ID}, [2]string{"name", x.Name}, [2]string{"revision", words.Number(x.Revision)}, [2]string{"suspended", words.Yes(x.Suspended)}, [2]string{"retired", words.Yes(x.Retired)},
		[2]string{"created", words.Moment(x.CreatedAt)}, [2]string{"updated", words.Moment(x.UpdatedAt)})
	fmt.Fprintln(w)
	terminal.Table(w, []string{"member", "role"}, service.Rows(x.Members, func(m countersign.TeamMember) []string { return []string{m.AgentID, m.Role} }))
	fmt.Fprintln(w)
	terminal.Table(w, []string{"step", "agent", "capability", "after", "input"}, service.Rows(x.Steps, func(s countersign.TeamStep) []string {
		return []string{s.ID, s.AgentID, s.Capability, strings.Join(s.DependsOn, ", "), plans.InputText(s.Input, s.InputBindings)}
	}))
}

// TeamsPut is the command `teams put`.
type TeamsPut struct {
	File     string `arg:"" help:"The team as JSON (see /docs/api/types at the service); - is standard input."`
	ID       string `help:"The team's id; else the file's."`
	Revision int64  `help:"Update this revision, which must be the current one; else the file's expectedRevision." placeholder:"N"`
	service.Asking
}

// Run saves the team.
func (p *TeamsPut) Run(t *terminal.Terminal) error {
	var w countersign.TeamWrite
	if err := typed.ReadDocument(t, p.File, &w); err != nil {
		return err
	}
	id, err := typed.IdOf(p.ID, w.ID, p.File)
	if err != nil {
		return err
	}
	w.ExpectedRevision = service.Revision(p.Revision, w.ExpectedRevision)
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.Team, error) {
		saved, err := c.SaveTeam(t.Context, id, w)
		return saved, service.WithRevision(err)
	}, func(out io.Writer, x *countersign.Team) {
		fmt.Fprintf(out, "saved %s, revision %d\n", x.ID, x.Revision)
	})
}

// TeamsStart is the command `teams start`.
type TeamsStart struct {
	ID       string `arg:"" help:"The team's id."`
	Inputs   string `help:"Inputs by step id, which override the steps' own, as JSON in a file; - is standard input." placeholder:"FILE"`
	Live     bool   `help:"LIVE; else DRY_RUN, which sends nothing."`
	Revision int64  `help:"Only this revision of the team; else the current one. Give it where --key is to be repeated." placeholder:"N"`
	runs.Starting
}

// Run starts the team's run.
func (s *TeamsStart) Run(t *terminal.Terminal) error {
	w := countersign.TeamRunStart{ExpectedRevision: s.Revision, Mode: runs.ModeOf(s.Live), Reason: s.Reason}
	if s.Inputs != "" {
		if err := typed.ReadDocument(t, s.Inputs, &w.Inputs); err != nil {
			return err
		}
	}
	return s.Start(t, func(c *client.Client, key client.StartOption) (*client.Started, error) {
		if w.ExpectedRevision == 0 {
			x, err := c.Team(t.Context, s.ID)
			if err != nil {
				return nil, err
			}
			w.ExpectedRevision = x.Revision
		}
		started, err := c.StartTeamRun(t.Context, s.ID, w, key)
		return started, service.WithRevision(err)
	})
}
