package projects

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Webhooks are the commands on webhooks (contract 10).
type Webhooks struct {
	List   service.List[countersign.Webhook] `cmd:"" help:"List the webhooks and the state of their deliveries (ADMIN)." example:"webhooks list"`
	Put    WebhooksPut                       `cmd:"" help:"Create or update a webhook (ADMIN)." example:"webhooks put ops --to https://hooks.example.com/countersign --secret-env OPS_WEBHOOK_SECRET --event approval.requested"`
	Delete service.Show[countersign.Webhook] `cmd:"" set:"whose=The webhook's" help:"Delete a webhook (ADMIN)." example:"webhooks delete ops"`
}

// NewWebhooks returns the commands, with what each asks for and prints.
func NewWebhooks() (c Webhooks) {
	c.List, c.Delete = service.Lists((*client.Client).Webhooks, webhookTable), service.Shows((*client.Client).DeleteWebhook, func(w io.Writer, x *countersign.Webhook) { fmt.Fprintf(w, "deleted %s\n", x.ID) })
	return c
}

var webhookTable = service.Columns[countersign.Webhook]{
	Heading: []string{"id", "to", "events", "projects", "enabled", "revision", "pending", "dropped", "last success", "last error"},
	Row: func(x countersign.Webhook) []string {
		return []string{x.ID, x.URL, strings.Join(x.Events, ", "), words.OrAll(x.ProjectIDs), words.Yes(x.Enabled), words.Number(x.Revision), words.Number(x.Pending), words.Number(x.Dropped), words.Moment(x.LastSuccessAt), words.First(x.LastError, "none")}
	},
}

// WebhooksPut is the command `webhooks put`.
type WebhooksPut struct {
	ID        string   `arg:"" help:"The webhook's id."`
	To        string   `required:"" help:"Where to; its origin must be on the server's list." placeholder:"URL"`
	SecretEnv string   `required:"" help:"The server's variable that holds the signing secret." placeholder:"NAME"`
	Event     []string `enum:"approval.requested,approval.lapsing,run.recovery_required,run.ended,live.stopped,live.going,audit_rewound,token.lapsing,change.proposed,change.approved,change.ended" help:"What to tell: approval.requested, approval.lapsing, run.recovery_required, run.ended, live.stopped, live.going, audit_rewound, token.lapsing, change.proposed, change.approved or change.ended. Repeat it for several; else all."`
	Project   []string `help:"Only of this project. Repeat it for several; else all." placeholder:"ID"`
	Disabled  bool     `help:"Tell nothing for now."`
	Revision  int64    `help:"Update this revision, which must be the current one; else create." placeholder:"N"`
	service.Asking
}

// Run saves the webhook.
func (p *WebhooksPut) Run(t *terminal.Terminal) error {
	enabled := !p.Disabled
	w := countersign.WebhookWrite{URL: p.To, SecretEnv: p.SecretEnv, Events: p.Event, ProjectIDs: p.Project, Enabled: &enabled, ExpectedRevision: p.Revision}
	if len(w.Events) == 0 {
		w.Events = countersign.WebhookEvents
	}
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.Webhook, error) {
		saved, err := c.SaveWebhook(t.Context, p.ID, w)
		return saved, service.WithRevision(err)
	}, func(out io.Writer, x *countersign.Webhook) {
		fmt.Fprintf(out, "saved %s, revision %d\n", x.ID, x.Revision)
		if x.SecretIsMissing {
			fmt.Fprintf(t.Errs, "The server has no variable %s: nothing is sent before it does.\n", x.SecretEnv)
		}
	})
}
