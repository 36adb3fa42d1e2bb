package projects

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// AnswerKeyService is the use case of the keys by which receivers sign.
type AnswerKeyService struct {
	*core.Core
	projects *ProjectService
}

// NewAnswerKeys returns the use case.
func NewAnswerKeys(c *core.Core, projects *ProjectService) *AnswerKeyService {
	return &AnswerKeyService{Core: c, projects: projects}
}

// PutAnswerKeys changes the keys by which a project's receiver signs its answers. They are no part
// of a revision: a receiver changes its key while runs wait for it, and no plan drifts by that.
func (s *AnswerKeyService) PutAnswerKeys(ctx context.Context, a core.Actor, id string, w countersign.AnswerKeysWrite) (p countersign.Project, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return p, err
	}
	a = a.Asking(id, w)
	err = s.Update(ctx, a, access.WriteAnswerKeys, "project/"+id, func(tx store.Tx) error {
		head, version, err := reach.Project(tx, a, id)
		if err != nil {
			return err
		}
		if p, err = s.projects.shownProject(tx, a.Tenant, *head); err != nil {
			return err
		}
		if err := project.CheckAnswerKeysOf(&p, w.AnswerKeys); err != nil {
			return err
		}
		if slices.Equal(head.AnswerKeys, w.AnswerKeys) {
			return nil
		}
		c := core.Change{Before: answerKeysText(head.AnswerKeys), After: answerKeysText(w.AnswerKeys), Weakens: project.WeakerKeys(head.AnswerKeys, w.AnswerKeys), AnswerKeys: w.AnswerKeys, Revision: head.Revision}
		c.Was, c.Now = core.Member("answerKeys", head.AnswerKeys), core.Member("answerKeys", w.AnswerKeys)
		head.AnswerKeys, head.UpdatedAt = w.AnswerKeys, s.Config.Now()
		if _, err := records.Projects.Put(tx, a.Tenant, id, head, version); err != nil {
			return err
		}
		p.AnswerKeys, p.UpdatedAt = head.AnswerKeys, head.UpdatedAt
		return s.Audit(tx, a, access.WriteAnswerKeys, "project/"+id, c)
	})
	return p, err
}

func answerKeysText(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, " ")
}
