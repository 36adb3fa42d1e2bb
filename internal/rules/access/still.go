package access

import (
	"slices"

	"github.com/countersign/countersign"
)

// Still is nil when a principal has now whatever it had when its request was admitted. A request
// lasts: who lost something meanwhile is refused, and told to send it again, since everything that
// was decided for it was decided by what it had.
func Still(then, now Principal) error {
	switch {
	case !contains(now.Roles, then.Roles), then.Realm && !now.Realm, then.Person != "" && now.Person != then.Person,
		then.Reads != nil && (now.Reads == nil || !contains(now.Reads, then.Reads)),
		!covers(now.Agents, then.Agents), !covers(now.Modes, then.Modes):
		return countersign.Errorf(countersign.CodeRoleRequired, "your roles were changed while this request was under way; nothing was done, send it again if you may still ask for it")
	case !covers(now.Projects, then.Projects):
		return countersign.Errorf(countersign.CodeProjectScope, "the projects that you may see were changed while this request was under way; nothing was done, send it again if you may still ask for it")
	}
	return nil
}

func contains[T comparable](all, some []T) bool {
	return !slices.ContainsFunc(some, func(x T) bool { return !slices.Contains(all, x) })
}

// covers is contains for a list of limits, where nil is everything.
func covers(all, some []string) bool {
	return all == nil || some != nil && contains(all, some)
}
