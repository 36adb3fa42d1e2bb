package records

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Webhook is a stored webhook; how its deliveries go stands in WebhookProgress, so
// that the two are written apart.
type Webhook struct {
	countersign.Webhook
	TenantID string `json:"tenantId"`
}

// WebhookProgress is how far a webhook has come.
type WebhookProgress struct {
	Cursor        int64            `json:"cursor"` // the first record of the tenant's audit log that it has not looked at
	Pending       []PendingWebhook `json:"pending,omitempty"`
	Dropped       int64            `json:"dropped,omitempty"`
	LastSuccessAt time.Time        `json:"lastSuccessAt,omitzero"`
	HastenedAt    time.Time        `json:"hastenedAt,omitzero"` // when all were last sent before their time
	LastErrorAt   time.Time        `json:"lastErrorAt,omitzero"`
	LastError     string           `json:"lastError,omitempty"`
}

// PendingWebhook is a notification that is not known to have arrived. An attempt is
// counted before it is made, with the time when the next one would be due: so one
// that ends with its process is made again, and no other process makes it meanwhile.
type PendingWebhook struct {
	Seq      int64     `json:"seq"` // of the audit record that tells of it
	Attempts int       `json:"attempts"`
	NextAt   time.Time `json:"nextAt"`
	// Then is when the next attempt is due that counts, while one is due or under way that
	// doesn't: before its time, to a receiver that takes others again.
	Then time.Time `json:"then,omitzero"`
}

// Both are kept under Realm, all tenants' together: one reading finds all webhooks.
var (
	Webhooks           = store.Collection[Webhook]{Table: store.Meta}
	WebhookProgresses  = store.Collection[WebhookProgress]{Table: store.Meta}
	allWebhooks        = idRange("webhook/", "webhook0") // '0' follows '/'
	webhookProgressIDs = "webhook-progress/"
)

// WebhookID is the id of a tenant's webhook.
func WebhookID(tenant, id string) string { return "webhook/" + tenant + "/" + id }

// WebhookProgressID is the id of its progress.
func WebhookProgressID(tenant, id string) string { return webhookProgressIDs + tenant + "/" + id }

// EveryWebhook asks for every tenant's webhooks.
func EveryWebhook() store.Query { return store.Query{Where: allWebhooks} }

// WebhooksOf narrows a listing to a tenant's webhooks.
func WebhooksOf(tenant string) []store.Filter {
	return idRange("webhook/"+tenant+"/", "webhook/"+tenant+"0")
}

func idRange(first, last string) []store.Filter {
	return []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{first}}, {Column: "id", Op: store.AtMost, Values: []any{last}}}
}
