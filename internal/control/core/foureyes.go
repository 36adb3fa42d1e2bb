package core

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// judgement is an operation that a person wants to do on a run that waits for a person.
type judgement struct {
	op        access.Operation // access.DecideApproval, access.ReconcileRun, access.ProbeRun
	mode      string           // of the run
	requester access.Requester
	projects  []string
}

// AboutRun is what somebody wants to do on a run.
func AboutRun(op access.Operation, r *records.Run) judgement {
	return judgement{op: op, mode: r.Mode, requester: r.Requester, projects: r.Projects}
}

// AboutApproval is the decision of an approval.
func AboutApproval(r *records.Approval) judgement {
	return judgement{op: access.DecideApproval, mode: countersign.ModeLive, requester: r.Requester, projects: []string{r.ProjectID}}
}

// MayJudge returns nil if the actor may decide, probe or reconcile: its token allows the
// run's mode, the user that the token stands for may do so, and the four-eyes rule holds.
func (s *Rights) MayJudge(tx store.Tx, a Actor, j judgement) error {
	if err := access.Mode(a.Principal, j.mode); err != nil {
		return err
	}
	r, err := runrepo.Makers(tx, a.Tenant, j.requester)
	if err != nil {
		return err
	}
	p := a.Principal
	if s.Config.Eyes == access.EyesOfPeople {
		if p, err = asPerson(tx, p, j); err != nil {
			return err
		}
	}
	if r.Stranger && p.Person != "" {
		if p.SignedInBy, err = records.SignedInBy(tx, p.Person); err != nil {
			return err
		}
	}
	return s.Config.Eyes.MayJudge(p, r)
}

// asPerson returns the principal to judge by if only people decide: a token stands for
// nobody once its user is gone, and may decide only what its user may at this moment.
func asPerson(tx store.Tx, p access.Principal, j judgement) (access.Principal, error) {
	if p.Session != "" || p.Email == "" {
		return p, nil
	}
	u, err := UserOf(tx, p.Tenant, p.Email)
	switch {
	case countersign.ErrorCode(err) == countersign.CodeNotFound:
		p.Person, p.Email = "", ""
		return p, nil
	case err != nil || p.Person == "":
		return p, err
	}
	return p, access.MayThemselves(PrincipalOfUser(u), j.op, j.projects...)
}

// MayJudgeRun is MayJudge for a run.
func (s *Rights) MayJudgeRun(a Actor, op access.Operation) func(store.Tx, *records.Run) error {
	return func(tx store.Tx, rec *records.Run) error { return s.MayJudge(tx, a, AboutRun(op, rec)) }
}

// BarredFrom returns why the actor may not do it: its role, its modes, the user it stands for,
// or that it requested the run; nil if it may. An error of the store counts as a reason.
func (s *Rights) BarredFrom(tx store.Tx, a Actor, j judgement) error {
	if err := access.Allow(a.Principal, j.op); err != nil {
		return err
	}
	return s.MayJudge(tx, a, j)
}
