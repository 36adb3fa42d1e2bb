package control

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// maxNamedRuns is how many unfinished runs a project_in_use names.
const maxNamedRuns = 10

// inUse refuses an edit under unfinished runs, and names those in scope with
// what moves each.
func inUse(tx store.Tx, a Actor, id string) error {
	list, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{
		Where: []store.Filter{store.Equal("tenant_id", a.Tenant)}, Order: []store.Order{{Column: "since"}},
	})
	if err != nil {
		return err
	}
	if users := usersOf(a, id, list); len(users) > 0 {
		return countersign.Errorf(countersign.CodeProjectInUse, "unfinished runs use project %s: %s", id, strings.Join(users, ", "))
	}
	return nil
}

// usersOf names those of the runs that use the project, and tells an actor who is
// limited to projects no more of the others than that there are some.
func usersOf(a Actor, id string, list []records.Unfinished) (named []string) {
	more, others := 0, false
	for _, u := range list {
		switch {
		case !slices.Contains(u.Projects, id):
		case !a.Covers(u.Projects...):
			others = true
		case len(named) == maxNamedRuns:
			more++
		default:
			named = append(named, u.RunID+" ("+whatMoves(u)+")")
		}
	}
	if more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	if others {
		named = append(named, "others outside your projects")
	}
	return named
}

func whatMoves(u records.Unfinished) string {
	switch u.State {
	case records.Active:
		return "it is running"
	case records.Queued:
		return "it waits for a slot"
	default:
		return u.WaitingFor.Operation + " by an " + u.WaitingFor.Role
	}
}
