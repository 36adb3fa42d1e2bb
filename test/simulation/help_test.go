package simulation

import (
	"fmt"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// helpAlong makes all pending decisions: it decides approvals and reconciles uncertain steps. It returns false if there were none.
func (s *sim) helpAlong() (needed bool) {
	for _, tenant := range tenants {
		p := s.look(tenant)
		for _, r := range p.runs {
			if !r.Status.IsTerminal() {
				needed = true
				s.help(tenant, &r)
			}
		}
	}
	return needed
}

func (s *sim) help(tenant string, r *records.Run) {
	if r.WaitingFor == nil || r.WaitingFor.Kind == countersign.WaitSlot {
		return
	}
	a := s.reconcile(tenant, *r, countersign.Abandon)
	if r.WaitingFor.Kind == countersign.WaitApproval {
		a = s.approve(tenant, *r)
	}
	s.requests++
	actor := control.Actor{Principal: a.who.Principal, RequestID: fmt.Sprintf("req-%06d", s.requests)}
	var wg sync.WaitGroup
	wg.Go(func() {
		err := a.do(actor)
		s.note(a, actor, err)
		if code := countersign.ErrorCode(err); err != nil && code != countersign.CodeApprovalExpired && code != countersign.CodeStateConflict {
			s.fail("S1: run %s says that %s by %s moves it; that was answered %v", r.ID, r.WaitingFor.Operation, r.WaitingFor.Role, err)
		}
	})
	wg.Wait()
}

// approve lets a reviewer approve what a run waits for.
func (s *sim) approve(tenant string, r records.Run) act {
	return act{s.reviewer(tenant, &r), "approve " + r.ApprovalID, func(a control.Actor) error {
		_, err := s.process.control.Decide(background(), a, r.ApprovalID, countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "to end it"})
		return err
	}, "approvals.decide", ""}
}

// reconcile lets a reviewer say what became of a run's uncertain step.
func (s *sim) reconcile(tenant string, r records.Run, resolution string) act {
	return act{s.reviewer(tenant, &r), "reconcile " + r.ID + ": " + resolution, func(a control.Actor) error {
		_, err := s.process.control.ReconcileRun(background(), a, r.ID, countersign.Reconcile{Resolution: resolution, Evidence: "the end"})
		return err
	}, "runs.reconcile", ""}
}

// reviewer is a person who may decide this run.
func (s *sim) reviewer(tenant string, r *records.Run) person {
	gave := map[string]bool{r.RequestedBy: true}
	for _, a := range s.look(tenant).approvals {
		for _, d := range a.Decisions {
			gave[d.By] = gave[d.By] || a.ID == r.ApprovalID && !d.Left && r.Status == countersign.RunWaitingApproval
		}
	}
	for _, p := range s.people[tenant] {
		if deciders[p.name] != nil && !gave[p.ID] {
			return p
		}
	}
	return s.people[tenant][8]
}

// furnish gives each tenant two projects, two models, agents of the first project, and a team of them.
func (s *sim) furnish() {
	for _, tenant := range tenants {
		admin, operator := s.people[tenant][0], s.people[tenant][1]
		for _, name := range []string{"one", "two"} {
			id, w := tenant+"-"+name, s.project()
			s.play([]act{{admin, "put project " + id, func(a control.Actor) error {
				_, err := s.process.control.PutProject(background(), a, id, w)
				return err
			}, "projects.write", ""}})
			s.play([]act{{admin, "enable project " + id, func(a control.Actor) error {
				if _, err := s.process.control.CheckHealth(background(), a, id); err != nil {
					return err
				}
				_, err := s.process.control.EnableProject(background(), a, id, countersign.Toggle{ExpectedRevision: 1})
				return err
			}, "", ""}})
		}
		for _, id := range []string{"refund", "other"} {
			m := s.model(id)
			s.play([]act{{operator, "put model " + id, func(a control.Actor) error {
				_, err := s.process.control.PutModel(background(), a, id, countersign.ModelWrite{Document: m})
				return err
			}, "models.write", ""}})
		}
		s.enlist(tenant, admin, operator)
		s.hire(tenant)
	}
	s.check()
}

func (s *sim) enlist(tenant string, admin, operator person) {
	m := countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: []countersign.ManifestAgent{}}
	for _, name := range []string{"reader", "shipper"} {
		m.Agents = append(m.Agents, countersign.ManifestAgent{ExternalAgentID: name, SourceRevision: 1, Name: name, Role: "clerk", Goal: "help", Capabilities: []string{"look", "list", "pay", "exact"}, ModelID: "refund"})
	}
	s.play([]act{{operator, "sync the first agents", func(a control.Actor) error {
		_, err := s.process.control.SyncAgents(background(), a, tenant+"-one", m)
		return err
	}, "", ""}})
	for _, h := range s.look(tenant).agents {
		s.play([]act{{admin, "admit " + h.ID, func(a control.Actor) error {
			_, err := s.process.control.AdmitAgent(background(), a, h.ID, countersign.Admission{Reason: "known"})
			return err
		}, "agents.admit", ""}})
	}
	p := s.look(tenant)
	if a, ok := drawTeam(s, tenant, &p); ok {
		a.who = operator
		s.play([]act{a})
	}
}

// projectsOf are the project revisions from which a plan was made.
func (s *sim) projectsOf(made *records.Plan) (list []countersign.Project) {
	err := s.disk.rows.View(background(), func(tx store.Tx) error {
		list = nil
		for _, tenant := range tenants {
			for _, ref := range made.Projects {
				if p, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(ref.ID, ref.Revision)); err == nil {
					list = append(list, *p)
				}
			}
		}
		return nil
	})
	if err != nil {
		s.fail("the store can't be read: %v", err)
	}
	return list
}
