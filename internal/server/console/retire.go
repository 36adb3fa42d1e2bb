package console

import (
	"context"

	"github.com/countersign/countersign/internal/control"
)

// Models, projects, agents and teams are retired and restored in the same way.

// move is a change of a record that takes a reason; its page shows the result.
type move func(ctx context.Context, a control.Actor, id, reason string) error

func moving[T any](f func(context.Context, control.Actor, string, string) (T, error)) move {
	return func(ctx context.Context, a control.Actor, id, reason string) error {
		_, err := f(ctx, a, id, reason)
		return err
	}
}

func (c *Console) retireRoutes() []route {
	var out []route
	for place, moves := range map[string][2]move{
		"/models/":   {moving(c.control.RetireModel), moving(c.control.RestoreModel)},
		"/projects/": {moving(c.control.RetireProject), moving(c.control.RestoreProject)},
		"/agents/":   {moving(c.control.RetireAgent), moving(c.control.RestoreAgent)},
		"/teams/":    {moving(c.control.RetireTeam), moving(c.control.RestoreTeam)},
	} {
		for i, name := range []string{"/retire", "/restore"} {
			out = append(out, route{method: "POST", path: place + "{id}" + name, act: func(v *pageRequest) (string, error) {
				id := v.r.PathValue("id")
				return place + id, moves[i](v.r.Context(), v.actor, id, v.form("reason"))
			}})
		}
	}
	return out
}

// retiring is the part of a page that retires or restores its record.
type retiring struct {
	Kind, ID, CSRF string
	Retired, May   bool
	Effect         string
}

var retireEffects = map[string]string{
	"model":   "No plans can be made from it, and earlier plans can’t run again.",
	"project": "It is disabled, and no plan or run can use it. It can’t be retired while an unfinished run uses it.",
	"agent":   "No new runs start, and unfinished runs stop before their next step. The agent’s processes are not stopped.",
	"team":    "No new runs start, and unfinished runs stop before their next step.",
}

func (f frame) Retiring(kind, id string, retired bool) retiring {
	operation := kind + "s.retire"
	if retired {
		operation = kind + "s.restore"
	}
	return retiring{Kind: kind, ID: id, CSRF: f.CSRF, Retired: retired, May: f.Can(operation), Effect: retireEffects[kind]}
}

// retiredState takes precedence over any other state.
var retiredState = state{"is-idle", "s-cancelled", "Retired"}

// retiredNotice is the notice of a retired project, agent or team.
func retiredNotice(kind string) statusNotice {
	return statusNotice{
		Class: "call--wait", Icon: "s-cancelled",
		Sentence: "This " + kind + "is retired: it can’t be used for new plans or runs.", Detail: "It is hidden from lists. An admin can restore it.",
	}
}

// retirees is a list's link that shows or hides retired records.
type retirees struct{ Word, Href string }

func (v *pageRequest) retirees() retirees {
	if v.query("retired") == "true" {
		return retirees{"Hide retired", v.withParam("retired", "")}
	}
	return retirees{"Show retired", v.withParam("retired", "true")}
}
