package access

import "github.com/countersign/countersign"

// A session that began with a sign-in link proves no more than that somebody had the link: it
// may be its maker's. What it leaves behind must not outlive that doubt.

// Leaving says what of a write in such a session stays once the session has ended.
type Leaving int

const (
	// Told leaves a change that counts as nobody for four eyes; its audit record names the
	// link's makers beside the user.
	Told Leaving = iota + 1
	// Carried leaves something that acts or asks later, and counts as the link's makers, too.
	Carried
	// Refused would let the link's maker be taken for another person.
	Refused
)

// byLink is the one place that decides it for each operation that is recorded. One that is
// missing is refused.
var byLink = map[Operation]Leaving{
	CreateToken: Carried, CreateLink: Carried, AddPasskey: Carried, // by the lineage of each
	StartProjectRun: Carried, StartRun: Carried, StartAgentRun: Carried, StartTeamRun: Carried, // by the run's requester
	DecideApproval: Carried,                      // by the decider
	DecideChange:   Carried, MakeChange: Carried, // by the decider, and what is made
	WriteIdentities: Carried, // by the makers of each identity

	ConfirmToken: Refused, AcceptInvitation: Refused, DeclineInvitation: Refused, ConfirmChat: Refused, RemoveChat: Refused, WriteDelegation: Refused,

	ReconcileRun: Told, ProbeRun: Told, SettleRun: Told, LookAgain: Told, CancelRun: Told,
	WriteModel: Told, SuspendModel: Told, ResumeModel: Told, RetireModel: Told, RestoreModel: Told, CompilePlan: Told, CreatePlan: Told,
	WriteProject: Told, CheckHealth: Told, ProveReceiver: Told, WriteAnswerKeys: Told, ToggleProject: Told, RetireProject: Told, RestoreProject: Told,
	SyncAgents: Told, AdmitAgent: Told, SuspendAgent: Told, RetireAgent: Told, RestoreAgent: Told,
	WriteTeam: Told, SuspendTeam: Told, ResumeTeam: Told, RetireTeam: Told, RestoreTeam: Told,
	WriteTenant: Told, WriteUser: Told, DeleteUser: Told, RemovePasskey: Told, RevokeToken: Told, RenewToken: Told,
	WriteWebhook: Told, DeleteWebhook: Told, FreeCredential: Told, BindCredential: Told,
	StopTenant: Told, GoTenant: Told, WriteSettings: Told, WriteGroup: Told, DeleteGroup: Told, DeleteDelegation: Told, WithdrawChange: Told,
	HoldRun: Told, RedactRun: Told, // who redacts counts as the link's makers, too
	SendHeartbeat: Told, SignIn: Told, SignOut: Told,
}

// Proven is nil unless the principal is a session that began with a sign-in link, or a token
// that goes back to one, and the operation would leave behind what proves more than that.
func Proven(p Principal, op Operation) error {
	makers := p.Requester().byLinkOf()
	if len(makers) == 0 {
		return nil
	}
	if left := byLink[op]; left == Told || left == Carried {
		return nil
	}
	if !p.Requester().ByLink() {
		return countersign.Errorf(countersign.CodeRoleRequired, "this token goes back to a session that began with a sign-in link of %s, which doesn't prove who had it; sign in another way, and do it then", makers[0])
	}
	return countersign.Errorf(countersign.CodeRoleRequired, "this session began with a sign-in link of %s, which doesn't prove that you are %s; sign in another way, and do it then", p.Lineage[0], p.Email)
}
