// Package control holds the use cases, one method for each operation of the API. A use
// case asks access.Allow, checks its input, makes the change in one transaction with its
// audit record, and then wakes the engine. What serves requests reaches the store and
// runs only through this package.
//
// The use cases of one noun are a room below this folder. This package puts the rooms together:
// it decides nothing.
//
// It imports platform, rules, storage, evidence and runtime. It never knows HTTP, which
// engine stores its records, or how a call is sent.
package control

import (
	"context"
	"log/slog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/agents"
	"github.com/countersign/countersign/internal/control/approvals"
	"github.com/countersign/countersign/internal/control/changes"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/evidence"
	"github.com/countersign/countersign/internal/control/models"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/people"
	"github.com/countersign/countersign/internal/control/plans"
	"github.com/countersign/countersign/internal/control/projects"
	"github.com/countersign/countersign/internal/control/runs"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/control/signin"
	"github.com/countersign/countersign/internal/control/storewide"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
)

// Service is the use cases of all rooms.
type Service struct {
	core *core.Core

	*sessions.SessionService
	*people.UserService
	*people.TokenService
	*people.AuthenticationService
	*people.GroupService
	*people.DelegationService
	*people.TenantService
	*people.ChatService
	*signin.SignInService
	*signin.PasskeyService
	*projects.ProjectService
	*projects.AnswerKeyService
	*projects.BudgetService
	*projects.WhatIfService
	*projects.EditService
	*projects.CredentialService
	*projects.WebhookService
	*storewide.StoreService
	*models.ModelService
	*plans.PlanService
	*agents.AgentService
	*agents.SyncService
	*agents.TeamService
	*agents.HeartbeatService
	*runs.RunService
	*runs.StopService
	*runs.ProbeService
	*runs.StartService
	*runs.CallService
	*runs.SearchService
	*runs.RedactionService
	*approvals.ApprovalService
	*approvals.ReviewService
	*approvals.LookService
	*approvals.DeskService
	*evidence.AuditService
	*evidence.ReceiptService
	*evidence.MetricService
	*changes.ChangeService
	*changes.DecisionService
	*changes.MakeService
}

// New returns the use cases.
func New(cfg core.Config, st store.Store, l *runrepo.Repository, d runs.Driver, hub *updates.Hub, pr core.Prober, log *slog.Logger) *Service {
	c := core.New(cfg, st, l, log)
	s := &Service{core: c, SessionService: sessions.New(c)}
	s.TokenService, s.AuthenticationService = people.NewTokens(c), people.NewAuthentication(c)
	s.GroupService, s.DelegationService, s.ChatService = people.NewGroups(c), people.NewDelegations(c), people.NewChats(c, s.SessionService)
	s.UserService = people.NewUsers(c, s.SessionService, s.TokenService, s.GroupService, s.DelegationService, s.ChatService)
	s.SignInService = signin.NewSignIn(c, s.SessionService, s.UserService, s.GroupService)
	s.PasskeyService = signin.NewPasskeys(c, s.SessionService, s.SignInService)
	s.TenantService = people.NewTenants(c, s.Party)

	s.CredentialService = projects.NewCredentials(c)
	s.ProjectService, s.WebhookService = projects.NewProjects(c, s.CredentialService, pr), projects.NewWebhooks(c, s.CredentialService)
	s.AnswerKeyService, s.BudgetService = projects.NewAnswerKeys(c, s.ProjectService), projects.NewBudgets(c, s.ProjectService)
	s.EditService = projects.NewEdits(c, s.ProjectService)
	s.StoreService = storewide.NewStores(c, s.ProjectService)

	s.ModelService, s.PlanService = models.NewModels(c), plans.NewPlans(c)
	s.AgentService, s.TeamService, s.HeartbeatService = agents.NewAgents(c), agents.NewTeams(c, s.PlanService), agents.NewHeartbeats(c)
	s.SyncService = agents.NewSyncs(c, s.AgentService)

	s.SearchService = runs.NewSearch(c)
	s.RunService = runs.NewRuns(c, names.New(c), s.SearchService, d, hub)
	s.StopService, s.ProbeService, s.StartService = runs.NewStops(c, s.RunService), runs.NewProbes(c, s.RunService, pr), runs.NewStarts(c, s.RunService, s.PlanService)
	s.CallService, s.RedactionService = runs.NewCalls(c, s.StartService), runs.NewRedactions(c, s.RunService)
	s.ApprovalService = approvals.NewApprovals(c, s.RunService, s.Party)
	s.LookService = approvals.NewLooks(c, s.ApprovalService, d)
	s.ReviewService = approvals.NewReviews(c, s.ApprovalService)

	s.AuditService, s.ReceiptService, s.MetricService = evidence.NewAudits(c), evidence.NewReceipts(c, s.RunService, s.ApprovalService), evidence.NewMetrics(c)
	s.ChangeService, s.DecisionService, s.MakeService = changes.New(c, s.ApprovalService.Asserted, s.makers())
	s.WhatIfService = projects.NewWhatIfs(c, s.ChangeService.Asked)
	s.DeskService = approvals.NewDesks(c, s.ApprovalService, s.DecisionService.WaitingChanges)
	return s
}

// makers make again what was proposed: one for each operation that access.MayBeProposed.
func (s *Service) makers() changes.Makers {
	return changes.Makers{
		access.WriteProject: changes.Again(s.PutProject), access.WriteAnswerKeys: changes.Again(s.PutAnswerKeys),
		access.AdmitAgent: changes.Again(s.AdmitAgent), access.WriteIdentities: changes.Again(s.PutIdentities),
		access.WriteUser: changes.Again(s.PutUser), access.WriteGroup: changes.Again(s.PutGroup), access.WriteDelegation: changes.Again(s.PutDelegation),
		access.WriteSettings: changes.Unnamed(s.PutSettings), access.CreateToken: changes.Unnamed(s.CreateToken),
		access.CreateLink: changes.Again(s.linkWithSecret),
		access.HoldRun:    changes.Again(s.HoldRun), access.RedactRun: changes.Again(s.redactFor),
	}
}

// redactFor is RedactRun with its reason as a request has it.
func (s *Service) redactFor(ctx context.Context, a core.Actor, id string, w countersign.Reason) (countersign.Run, error) {
	return s.RedactRun(ctx, a, id, w.Reason)
}

// linkWithSecret is CreateLink with the secret in the place of the address, which whoever serves pages knows.
func (s *Service) linkWithSecret(ctx context.Context, a core.Actor, email string, w countersign.SignInLinkWrite) (countersign.SignInLink, error) {
	out, secret, err := s.CreateLink(ctx, a, email, w)
	out.URL = secret
	return out, err
}

// Close writes the refusals that were counted, and waits for background writes.
func (s *Service) Close() { s.core.Close() }

// Authorize decides whether the actor may use the operation at all, before anything of the
// request is read. It records refusals of writes. subject is what the request is about, as
// kind/id.
func (s *Service) Authorize(ctx context.Context, a core.Actor, op access.Operation, subject string) error {
	return s.core.Authorize(ctx, a, op, subject)
}

// Refuse records a refused request of a known principal, if refusals of the operation are
// recorded. It returns the error to answer with: `unavailable` instead of the refusal if the
// record can't be written.
func (s *Service) Refuse(ctx context.Context, a core.Actor, op access.Operation, subject string, err error) error {
	return s.core.Refuse(ctx, a, op, subject, err)
}
