package countersign

// Words of statuses for people: the console, the command line and messages say them in the same words.

var runWords = map[RunStatus]string{
	RunReady: "Ready", RunRunning: "Running", RunWaitingApproval: "Waiting for approval", RunRecoveryRequired: "Recovery required",
	RunCompleted: "Completed", RunFailed: "Failed", RunCancelled: "Cancelled",
}

// Words is a run's status in words.
func (s RunStatus) Words() string { return runWords[s] }

// StepStatuses lists every status of a step, those in which it waits or works first.
var StepStatuses = []StepStatus{StepPending, StepWaitingApproval, StepRunning, StepCompleted, StepSimulated, StepFailed, StepRecoveryRequired, StepAbandoned, StepCancelled, StepSkipped}

var stepWords = map[StepStatus]string{
	StepPending: "Pending", StepWaitingApproval: "Waiting for approval", StepRunning: "Running", StepCompleted: "Completed", StepSimulated: "Simulated",
	StepFailed: "Failed", StepRecoveryRequired: "Recovery required", StepAbandoned: "Abandoned", StepCancelled: "Cancelled", StepSkipped: "Skipped",
}

// Words is a step's status in words.
func (s StepStatus) Words() string { return stepWords[s] }

// ApprovalStatuses lists every status of an approval.
var ApprovalStatuses = []ApprovalStatus{ApprovalPending, ApprovalApproved, ApprovalRejected}

var approvalWords = map[ApprovalStatus]string{ApprovalPending: "Waiting for approval", ApprovalApproved: "Approved", ApprovalRejected: "Rejected"}

// Words is an approval's status in words.
func (s ApprovalStatus) Words() string { return approvalWords[s] }
