package access

import (
	"regexp"
	"strings"

	"github.com/countersign/countersign"
)

// about says what each operation is about, as kind/id, with the members of the request that
// name it in braces. A refusal that comes before the use case, by role, has the subject that
// the use case records. What makes something new is about what it is made of, or a kind alone,
// since nothing with an id exists when it is refused.
var about = map[Operation]string{
	WriteModel: "model/{id}", SuspendModel: "model/{id}", ResumeModel: "model/{id}", RetireModel: "model/{id}", RestoreModel: "model/{id}",
	CompilePlan: "model/{id}", CreatePlan: "plan", StartRun: "plan",
	WriteProject: "project/{id}", CheckHealth: "project/{id}", ProveReceiver: "project/{id}", WriteAnswerKeys: "project/{id}", ToggleProject: "project/{id}", RetireProject: "project/{id}", RestoreProject: "project/{id}",
	StartProjectRun: "project/{id}", SyncAgents: "project/{id}",
	CancelRun: "run/{id}", ReconcileRun: "run/{id}", ProbeRun: "run/{id}", SettleRun: "run/{id}", RedactRun: "run/{id}", HoldRun: "run/{id}", DecideApproval: "approval/{id}", LookAgain: "approval/{id}", // recorded as its run
	AdmitAgent: "agent/{id}", SuspendAgent: "agent/{id}", RetireAgent: "agent/{id}", RestoreAgent: "agent/{id}", WriteIdentities: "agent/{id}", StartAgentRun: "agent/{id}", SendHeartbeat: "agent/{id}", ReadAgents: "agent/{id}",
	WriteTeam: "team/{id}", SuspendTeam: "team/{id}", ResumeTeam: "team/{id}", RetireTeam: "team/{id}", RestoreTeam: "team/{id}", StartTeamRun: "team/{id}",
	WriteTenant: "tenant/{id}", StopTenant: "tenant/{own}", GoTenant: "tenant/{own}", WriteSettings: "tenant/{own}",
	WriteUser: "user/{email}", DeleteUser: "user/{email}", CreateLink: "user/{email}", AddPasskey: "user/{self}", RemovePasskey: "user/{self}",
	AcceptInvitation: "user/{self}", DeclineInvitation: "user/{self}", ConfirmChat: "user/{self}", RemoveChat: "user/{self}",
	CreateToken: "token", RevokeToken: "token/{id}", ConfirmToken: "token/{id}", RenewToken: "token/{bearer}",
	WriteWebhook: "webhook/{id}", DeleteWebhook: "webhook/{id}", FreeCredential: "credential/{name}",
	WriteGroup: "group/{id}", DeleteGroup: "group/{id}", WriteDelegation: "delegation/{email}", DeleteDelegation: "delegation/{email}",
	DecideChange: "change/{id}", MakeChange: "change/{id}", WithdrawChange: "change/{id}",
}

var placeInAbout = regexp.MustCompile(`^(.*)/\{(.*)\}$`)

// About is what a proposed request is about: what would be new has no id yet.
func About(op Operation, subject string) string {
	if kind := about[op]; !strings.Contains(kind, "/") {
		return kind
	}
	return subject
}

// Subject is what a request for an operation is about; named answers the members of the request
// by name. It is the kind alone where the request names none that could be one.
func Subject(p Principal, op Operation, named func(name string) string) string {
	found := placeInAbout.FindStringSubmatch(about[op])
	if found == nil {
		return about[op]
	}
	kind, id := found[1], ""
	switch found[2] {
	case "own":
		id = p.Tenant
	case "self":
		id = p.Email
	case "bearer":
		if token, is := strings.CutPrefix(p.ID, "token:"); is {
			id = token
		}
	case "email":
		if email, err := CanonicalEmail(named("email")); err == nil {
			id = email
		}
	default:
		if given := named(found[2]); countersign.ValidID(given) {
			id = given
		}
	}
	if id == "" {
		return kind
	}
	return kind + "/" + id
}
