package telemetry

import "time"

// Kind is the result of a step or of a request that it sent.
type Kind int

// The kinds of fact. A metric for each shows the difference between "it answered 200" and
// "it did what was asked".
const (
	Sent       Kind = iota // a request left this machine and ended
	Answered               // a complete, readable 2xx answer came
	Verified               // the output met the step's expectation
	Unverified             // the step has no expectation
	Wrong                  // the output is missing or does not meet the expectation
	Refused                // the receiver refused it
	NotSent                // the request never left this machine
	Uncertain              // it is not known whether the side effect happened
	ReconciledDone
	ReconciledNotDone
	Abandoned
	Decided // a person approved or rejected the step; Took is the waiting time
	Settled // an unknown outcome became known; By says by whom, Took how long nobody knew
)

// By whom an unknown outcome was settled.
const (
	ByReviewer     = "reviewer"      // who found out what happened
	ByAPI          = "api"           // its signed word, by which the service went by itself
	ByAPIConfirmed = "api_confirmed" // its signed word, which a reviewer confirmed
)

// Fact is a committed fact of a capability.
type Fact struct {
	Kind       Kind
	ProjectID  string
	Capability string
	Timed      bool          // of Sent: an answer came, so that Took is valid even if it is 0
	Took       time.Duration // of Sent, where an answer came, Decided and Settled
	By         string        // of Settled
}

// counted has the metric of each kind.
var counted = map[Kind]struct{ name, resolution, help string }{
	Sent:              {"countersign_capability_sent_total", "", "Requests that left for the capability, attempts each counted."},
	Answered:          {"countersign_capability_answered_2xx_total", "", "Requests answered with a whole and readable 2xx."},
	Verified:          {"countersign_capability_verified_total", "", "2xx answers whose output met the step's expectation."},
	Unverified:        {"countersign_capability_unverified_total", "", "2xx answers of which the step expected nothing."},
	Wrong:             {"countersign_capability_wrong_total", "", "2xx answers without the output, or that did not meet the expectation."},
	Refused:           {"countersign_capability_refused_total", "", "Requests that the receiver refused with a 4xx."},
	NotSent:           {"countersign_capability_not_sent_total", "", "Requests that never left this machine."},
	Uncertain:         {"countersign_capability_uncertain_total", "", "Side effects of which nobody knew whether they had happened."},
	ReconciledDone:    {"countersign_capability_reconciled_total", "done", reconciledHelp},
	ReconciledNotDone: {"countersign_capability_reconciled_total", "not_done", reconciledHelp},
	Abandoned:         {"countersign_capability_reconciled_total", "abandoned", reconciledHelp},
}

const reconciledHelp = "Uncertain side effects that a person resolved: done, not done, or abandoned as never to be known."

// Buckets, in seconds. People decide within seconds or days, and an approval expires after
// a day; project APIs and this service answer within milliseconds or a minute.
var (
	waitBuckets    = []float64{5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 57600, 86400}
	callBuckets    = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
)
