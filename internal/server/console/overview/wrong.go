package overview

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// wrongRow is something that needs attention.
type wrongRow struct {
	Title, Detail, Href string
	State               text.State
	At                  time.Time
}

// overviewWrong lists recently failed runs, agents that are silent or report errors,
// and disabled projects: so many of each kind.
func overviewWrong(v *web.Request, d *overviewData) error {
	for _, part := range []func(*web.Request, *overviewData) error{failedLately, agentsInTrouble, projectsOff} {
		before := len(d.Wrong)
		if err := part(v, d); err != nil {
			return err
		}
		if more := len(d.Wrong) - before - wrongShown; more > 0 {
			d.Wrong, d.WrongMore = d.Wrong[:before+wrongShown], d.WrongMore+more
		}
	}
	return nil
}

func failedLately(v *web.Request, d *overviewData) error {
	found, err := v.Control.Runs(v.R.Context(), v.Actor, control.List{Limit: wrongShown},
		control.RunFilter{Status: string(countersign.RunFailed), Since: v.Now.Add(-wrongFor)})
	if err != nil {
		return err
	}
	rows, err := runs.RowsOf(v, found.Items)
	for i := range rows {
		d.Wrong = append(d.Wrong, wrongRow{
			Title: rows[i].Title + " failed", Detail: rows[i].Why, Href: web.Prefix + "/runs/" + rows[i].ID, State: rows[i].State, At: rows[i].CompletedAt,
		})
	}
	return err
}

func agentsInTrouble(v *web.Request, d *overviewData) error {
	found, err := v.Control.Agents(v.R.Context(), v.Actor, control.List{Limit: watchedAgents}, control.AgentFilter{Status: string(countersign.AgentAdmitted)})
	if err != nil {
		return err
	}
	for i := range found.Items {
		a := &found.Items[i]
		row := wrongRow{Href: web.Prefix + "/agents/" + a.ID, At: a.LastHeartbeatAt, Detail: a.ID}
		switch a.Liveness {
		case countersign.LivenessStale:
			row.Title, row.State = a.Name+" sends no heartbeat", text.State{Class: "is-wait", Icon: "s-stale", Word: "Stale"}
		case countersign.LivenessError:
			row.Title, row.State = a.Name+" reports an error", text.State{Class: "is-fail", Icon: "s-failed", Word: "Error"}
		default:
			continue
		}
		d.Wrong = append(d.Wrong, row)
	}
	return nil
}

func projectsOff(v *web.Request, d *overviewData) error {
	found, err := control.ListProjects(v.R.Context(), v.Control, v.Actor, control.List{Limit: watchedAgents}, web.ProjectRowOf)
	if err != nil {
		return err
	}
	for i := range found.Items {
		p := &found.Items[i]
		if p.Enabled || p.UpdatedAt.Equal(p.CreatedAt) { // it was never enabled: nothing misses it
			continue
		}
		name := p.Name
		if safetext.Blank(name) {
			name = p.ID
		}
		d.Wrong = append(d.Wrong, wrongRow{
			Title: name + " is disabled", Detail: "LIVE runs can't call it. An admin enables it.", Href: web.Prefix + "/projects/" + p.ID,
			State: text.State{Class: "is-wait", Icon: "s-warn", Word: "Disabled"}, At: p.UpdatedAt,
		})
	}
	return nil
}
