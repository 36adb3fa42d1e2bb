package countersign

import "time"

// RunHold keeps a run from being redacted and archived, until it is ended (contract 12.7).
type RunHold struct {
	By     string    `json:"by"`
	ByName string    `json:"byName,omitempty" doc:"a token's name or a user's"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// HoldWrite is the body of PUT /runs/{id}/hold.
type HoldWrite struct {
	Hold   bool   `json:"hold" doc:"false ends it"`
	Reason string `json:"reason" doc:"never blank"`
}

// Redaction says that what a run held was removed: inputs, requests, answers, outputs, texts.
// Ids, principals, times, statuses, codes, names, decisions and digests stay. Why it was done is
// in the audit log.
type Redaction struct {
	By     string    `json:"by"`
	ByName string    `json:"byName,omitempty" doc:"a token's name or a user's"`
	At     time.Time `json:"at"`
}

// RedactedText stands where a text was that must be one.
const RedactedText = "redacted"

// RedactedValue stands for each value that was removed and whose name stays. It reads as what is
// masked.
var RedactedValue = String("•••")
