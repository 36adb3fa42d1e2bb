package countersign

import "time"

// Outcomes of an audited action.
const (
	AuditDone    = "done"
	AuditRefused = "refused"
)

// AuditRecord is one entry of a tenant's Merkle log (contract 9). Before and
// After are revisions or states, never secrets.
type AuditRecord struct {
	Seq       int64     `json:"seq" doc:"0 for the first; the order of the log"`
	At        time.Time `json:"at"`
	Actor     string    `json:"actor"`
	ActorName string    `json:"actorName,omitempty" since:"3" doc:"in lists: a token's name, a user's or an agent's; no part of the sealed record"`
	Action    string    `json:"action"`
	Subject   string    `json:"subject" doc:"kind/id"`
	Step      string    `json:"step,omitempty" doc:"the step of the run that it is about"`
	Outcome   string    `json:"outcome" doc:"done, or refused: code"`
	Before    string    `json:"before"`
	After     string    `json:"after"`
	Reason    string    `json:"reason,omitempty" doc:"the reason or evidence given"`
	Weakens   bool      `json:"weakens,omitempty" doc:"it lets out what was held back before: an approval lowered, a budget removed or widened, an origin or a probe changed, APPROVER granted"`
	Digest    string    `json:"digest,omitempty" doc:"request digest of what was approved or sent"`
	RequestID string    `json:"requestId"`

	StateDigest string `json:"stateDigest,omitempty" since:"3" doc:"digest of the state that was read, decided on, or sent by"`

	DecisionAssertion string               `json:"decisionAssertion,omitempty" enum:"PASSKEY" doc:"of an approval that was asked for: each approval of it must be signed with a passkey"`
	Assertion         *Assertion           `json:"assertion,omitempty" doc:"of a decision that was signed with a passkey"`
	Passkey           *PasskeyRegistration `json:"passkey,omitempty" doc:"of a passkey that was registered"`

	AnswerKeys []string `json:"answerKeys,omitempty" nullable:"false" since:"3" doc:"of a project: the answer keys that it has from then on; of a step that is sent: those by one of which its answer must be signed"`

	ActorMakers []string `json:"actorMakers,omitempty" nullable:"false" since:"3" doc:"who made the sign-in link that the actor's session began with, nearest first: it may have been theirs"`

	Identity   *Identity   `json:"identity,omitempty" since:"3" doc:"by which the actor signed in, of an agent that does so at an identity provider"`
	OnBehalfOf *OnBehalfOf `json:"onBehalfOf,omitempty" since:"3" doc:"for whom that agent acted, by its issuer's word"`

	Cosigned string `json:"cosigned,omitempty" since:"3" doc:"of a new epoch of the log: the last checkpoint of the one before that witnesses have cosigned"`

	Via       string `json:"via,omitempty" doc:"the chat service in which a person asked for it; absent for the API and the console"`
	Count     int64  `json:"count,omitempty" minimum:"1" doc:"so many refusals of this principal and operation with this code, within a minute after one that has its own record; the subject and requestId are of the last, the subject kind/* where they were about several"`
	Salt      string `json:"salt,omitempty" doc:"random, so that the record can't be found out by its hash"`
	ClockBack bool   `json:"clockBack,omitempty" doc:"the system clock stood before that of the record before, by more than the record waited to be written"`
	Hash      string `json:"hash,omitempty" doc:"RFC 6962 leaf hash of the record without this field and actorName, lowercase hex"`
}

// AuditVerification is the answer of GET /audit/verify.
type AuditVerification struct {
	Intact      bool   `json:"intact"`
	Records     int64  `json:"records" doc:"records that the head counts"`
	Head        string `json:"head" doc:"RFC 6962 tree hash, lowercase hex"`
	FirstBroken *int64 `json:"firstBroken,omitempty" doc:"sequence number of the first record that does not fit"`

	Cosigned *AuditCheckpoint `json:"cosigned,omitempty" since:"3" doc:"the newest head that witnesses have cosigned; absent before the first"`
}

// AuditCheckpoint is a head of an audit log that witnesses have cosigned: C2SP tlog-checkpoint and
// tlog-cosignature.
type AuditCheckpoint struct {
	Epoch        int64              `json:"epoch" doc:"of the log: 0 is the first; another is another log to whoever verifies it"`
	Origin       string             `json:"origin" doc:"names the log"`
	Records      int64              `json:"records" doc:"records that the head counts"`
	Head         string             `json:"head" doc:"RFC 6962 tree hash, lowercase hex"`
	LogKey       string             `json:"logKey" doc:"the vkey by which the checkpoint is signed"`
	Checkpoint   string             `json:"checkpoint" doc:"the signed note, with the signature of the log and the cosignatures"`
	Cosignatures []AuditCosignature `json:"cosignatures" nullable:"false"`
}

// AuditCosignature is a witness's word that the log went on from what it had cosigned before.
type AuditCosignature struct {
	Witness string    `json:"witness" doc:"its vkey, as the settings have it"`
	At      time.Time `json:"at"`
}

// AuditExport is the last line of GET /audit/export, under the name "export": what
// the file is of, so that it can be checked without the service. A file without it
// broke off.
type AuditExport struct {
	TenantID string    `json:"tenantId" doc:"whose log it is; empty for the realm's"`
	At       time.Time `json:"at"`
	Records  int64     `json:"records" doc:"lines before this one"`
	Filtered bool      `json:"filtered" doc:"some records were not asked for"`
	After    *int64    `json:"after,omitempty" doc:"only records behind this sequence number were asked for"`
	Size     int64     `json:"size" doc:"records of the whole log"`
	Head     string    `json:"head" doc:"its RFC 6962 tree hash, lowercase hex"`

	Cosigned *AuditCheckpoint `json:"cosigned,omitempty" since:"3" doc:"the newest head that witnesses have cosigned; absent before the first"`
}

// AuditExportEnd is the last line itself.
type AuditExportEnd struct {
	Export *AuditExport `json:"export"`
}
