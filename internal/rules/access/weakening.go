package access

// Guard says what an operation may do to what holds calls back, and so whether a request for it
// may have to be proposed where a tenant has `weakening` set (contract 12.7).
type Guard int

const (
	// Tightens lets nothing out that was held back, whatever is asked for.
	Tightens Guard = iota + 1
	// Proposed may weaken. A request that does is then proposed, and made again by the last approval.
	Proposed
	// ProposedSecret is Proposed for what answers a secret: its proposer makes it once it is approved.
	ProposedSecret
	// Answered weakens by what was proposed before: an invitation that is accepted.
	Answered
)

// guards is the one place that says it for each write. One that is missing is taken for
// Tightens, and an audit record of it that weakens is refused: see core.AuditIn.
var guards = map[Operation]Guard{
	WriteProject: Proposed, WriteAnswerKeys: Proposed,
	AdmitAgent: Proposed, WriteIdentities: Proposed,
	WriteUser: Proposed, WriteGroup: Proposed, WriteDelegation: Proposed, WriteSettings: Proposed,
	RedactRun: Proposed, HoldRun: Proposed, // a hold that is ended
	CreateToken: ProposedSecret, CreateLink: ProposedSecret,
	AcceptInvitation: Answered,

	WriteModel: Tightens, SuspendModel: Tightens, ResumeModel: Tightens, RetireModel: Tightens, RestoreModel: Tightens,
	CompilePlan: Tightens, CreatePlan: Tightens,
	CheckHealth: Tightens, ProveReceiver: Tightens, ToggleProject: Tightens, RetireProject: Tightens, RestoreProject: Tightens, // what a revision lets out was asked about when it was made
	StartProjectRun: Tightens, StartRun: Tightens, CancelRun: Tightens, ReconcileRun: Tightens, ProbeRun: Tightens, SettleRun: Tightens, DecideApproval: Tightens, LookAgain: Tightens,
	SyncAgents: Tightens, SuspendAgent: Tightens, RetireAgent: Tightens, RestoreAgent: Tightens, StartAgentRun: Tightens,
	WriteTeam: Tightens, SuspendTeam: Tightens, ResumeTeam: Tightens, RetireTeam: Tightens, RestoreTeam: Tightens, StartTeamRun: Tightens,
	WriteTenant: Tightens, DeleteUser: Tightens, AddPasskey: Tightens, RemovePasskey: Tightens, RevokeToken: Tightens, RenewToken: Tightens, ConfirmToken: Tightens,
	WriteWebhook: Tightens, DeleteWebhook: Tightens, FreeCredential: Tightens,
	StopTenant: Tightens, GoTenant: Tightens, // a stop isn't a gate: who lifts it lets nothing out that nobody approved
	DeleteGroup: Tightens, DeleteDelegation: Tightens,
	DeclineInvitation: Tightens, ConfirmChat: Tightens, RemoveChat: Tightens,
	DecideChange: Tightens, MakeChange: Tightens, WithdrawChange: Tightens, // they make what was proposed
}

// GuardOf says whether a request for the operation may have to be proposed.
func GuardOf(op Operation) Guard { return guards[op] }

// MayBeProposed reports an operation whose requests may have to be proposed.
func MayBeProposed(op Operation) bool { return guards[op] == Proposed || guards[op] == ProposedSecret }
