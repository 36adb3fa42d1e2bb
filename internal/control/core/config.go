package core

import (
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Config holds the settings of the use cases and what they depend on.
type Config struct {
	Allowed    project.Allowed
	Eyes       access.Eyes
	SignIn     access.SignInBy
	MaxActive  int
	Quotas     quota.Bounds
	Version    string
	NewID      func(prefix string) string
	NewSecret  func() [32]byte
	Now        func() time.Time
	RedactFrom time.Duration   // since its end, from when a run may be redacted
	Post       Postbox         // nil: sign-in codes go to the log
	Shared     bool            // other processes use the store too
	Life       context.Context // its end drops mails that are not sent yet; nil: it never ends
	Metrics    *telemetry.Metrics
	Readers    int                                              // Views that the store runs at once; 0: four
	Unreadable *unreadable.Records                              // what work over all tenants passes over
	Witnesses  []checkpoint.Key                                 // who cosigns the audit logs
	Issuers    Issuers                                          // nil: no token of an identity provider is taken
	Ending     func(tenant string) (ending int, next time.Time) // tokens that end soon, and when the first one ends; of all tenants for the realm; nil: nobody looks
}

// Issuers judges tokens of the identity providers that the operator has listed.
type Issuers interface {
	// Verify says what a token says that is shown at a door, "" for the API; a *issuer.RefusedError
	// for one that isn't good there.
	Verify(ctx context.Context, token, door string) (issuer.Token, error)
}

// Postbox sends a mail to one address. It may take long: no request waits for it.
type Postbox interface {
	Send(ctx context.Context, to, subject, text string) error
}

// Prober sends the two kinds of request that belong to no step: health checks
// and a reviewer's probes.
type Prober interface {
	Health(ctx context.Context, tenant string, boundTo map[string]string, p *countersign.Project) countersign.HealthCheck
	Call(ctx context.Context, c request.Call) request.Outcome
}

// computedAtOnce is how many simulations and validations run at once, of one tenant one less.
const computedAtOnce = 2

// leastReaders is how many Views each store runs at once.
const leastReaders = 4
