package projects

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// knownGroups refuses rules that name a group that doesn't exist.
func knownGroups(tx store.Tx, tenant string, p *countersign.Project) error {
	var problems []countersign.Problem
	ids, paths := gate.Groups(p)
	for i, id := range ids {
		_, _, err := records.Groups.Get(tx, tenant, records.GroupID(id))
		if errors.Is(err, store.ErrNotFound) {
			problems = append(problems, countersign.Problem{Path: paths[i], Message: "there is no group " + id + "; create it first"})
			continue
		}
		if err != nil {
			return err
		}
	}
	return core.Wrong(problems)
}
