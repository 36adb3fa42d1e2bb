package credowner

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Use is a project or a webhook that uses a variable as it stands now.
type Use struct {
	credential.Use
	Project string // "" for a webhook
	Webhook string
	Enabled bool
	Since   time.Time // when the project or webhook was made
}

// Subject names it as the audit log does.
func (u Use) Subject() string {
	if u.Webhook != "" {
		return "webhook/" + u.Webhook
	}
	return "project/" + u.Project
}

// Uses lists what uses variables in all tenants, the oldest first.
func Uses(tx store.Tx) ([]Use, error) {
	uses, err := hooks(tx)
	if err != nil {
		return nil, err
	}
	tenants, err := records.Tenants.List(tx, store.Realm, store.Query{})
	if err != nil {
		return nil, err
	}
	for _, t := range tenants {
		found, err := projects(tx, t.ID)
		if err != nil {
			return nil, err
		}
		uses = append(uses, found...)
	}
	slices.SortStableFunc(uses, func(a, b Use) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Subject(), b.Subject()))
	})
	return uses, nil
}

func projects(tx store.Tx, tenant string) (uses []Use, err error) {
	heads, err := records.Projects.List(tx, tenant, store.Query{})
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		c, _, err := records.ProjectConnections.Get(tx, tenant, records.RevisionID(h.ID, h.Revision))
		if err != nil {
			return nil, err
		}
		p := countersign.Project{ID: h.ID, BaseURL: c.BaseURL, Auth: c.Auth, AuthSecretEnv: c.AuthSecretEnv}
		for _, u := range project.Uses(tenant, &p) {
			uses = append(uses, Use{Use: u, Project: h.ID, Enabled: h.Enabled, Since: h.CreatedAt})
		}
	}
	return uses, nil
}

func hooks(tx store.Tx) (uses []Use, err error) {
	list, err := records.AllWebhooks(tx)
	for _, w := range list {
		uses = append(uses, Use{Use: OfWebhook(w.TenantID, w.URL, w.SecretEnv), Webhook: w.ID, Enabled: w.Enabled, Since: w.CreatedAt})
	}
	return uses, err
}

// OfWebhook is what a webhook uses: its secret signs, though not as a project's does.
func OfWebhook(tenant, address, secretEnv string) credential.Use {
	origin, _, _ := request.SplitAddress(address)
	return credential.Use{Tenant: tenant, Origin: origin, Kind: countersign.AuthHMAC, Name: secretEnv}
}
