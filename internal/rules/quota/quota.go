// Package quota defines the limits of a tenant and the error for exceeding them.
package quota

import (
	"cmp"

	"github.com/countersign/countersign"
)

// Bounds are the limits; 0 stands for the default of each.
type Bounds struct {
	Instances  int // of an agent
	Approvals  int // of a tenant, PENDING
	Asking     int // LIVE runs of an agent that wait for an approval
	Webhooks   int // of a tenant
	Probes     int // of a run
	ModelBytes int // of a tenant's models and their revisions, as they are stored
}

// OrDefaults replaces zeros with the defaults.
func (b Bounds) OrDefaults() Bounds {
	return Bounds{
		Instances: cmp.Or(b.Instances, countersign.MaxInstances), Approvals: cmp.Or(b.Approvals, countersign.MaxPendingApprovals),
		Asking:   cmp.Or(b.Asking, countersign.MaxAskingRuns),
		Webhooks: cmp.Or(b.Webhooks, countersign.MaxWebhooks), Probes: cmp.Or(b.Probes, countersign.MaxProbes),
		ModelBytes: cmp.Or(b.ModelBytes, countersign.MaxModelBytes),
	}
}

// Exceeded is the error for exceeding a limit: whose limit, of what, and what to do
// instead.
func Exceeded(who string, most int, what, instead string) error {
	return countersign.Errorf(countersign.CodeQuotaExceeded, "%s: %s may have %d at most; %s", what, who, most, instead)
}
