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
	"github.com/countersign/countersign/internal/storage/unreadable"
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

// Uses lists what uses variables in all tenants, the oldest first. What can't be read is handed
// to damaged, whose error ends the reading.
func Uses(tx store.Tx, damaged Damaged) ([]Use, error) {
	uses, err := hooks(tx, damaged)
	if err != nil {
		return nil, err
	}
	tenants, err := records.TenantIDs(tx)
	if err != nil {
		return nil, err
	}
	for _, id := range tenants {
		found, err := projects(tx, id, damaged)
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

// Damaged is told of a record that can't be read, and of no error for one that can. It is
// (*unreadable.Records).Pass, or Strict.
type Damaged func(of unreadable.Record, err error) error

// Strict ends the reading at the first record that can't be read.
func Strict(_ unreadable.Record, err error) error { return err }

func projects(tx store.Tx, tenant string, damaged Damaged) (uses []Use, err error) {
	rows, err := tx.List(store.Projects, tenant, store.Query{})
	for _, row := range rows {
		found, err := usesOfProject(tx, tenant, row)
		if err := damaged(unreadable.Record{Tenant: tenant, Kind: "project", ID: row.ID}, err); err != nil {
			return nil, err
		}
		uses = append(uses, found...)
	}
	return uses, err
}

func usesOfProject(tx store.Tx, tenant string, row store.Row) (uses []Use, err error) {
	var h records.ProjectHead
	if err := records.Decode(row, &h); err != nil {
		return nil, err
	}
	c, _, err := records.ProjectConnections.Get(tx, tenant, records.RevisionID(h.ID, h.Revision))
	if err != nil {
		return nil, err
	}
	p := countersign.Project{ID: h.ID, BaseURL: c.BaseURL, Auth: c.Auth, AuthSecretEnv: c.AuthSecretEnv}
	for _, u := range project.Uses(tenant, &p) {
		uses = append(uses, Use{Use: u, Project: h.ID, Enabled: h.Enabled, Since: h.CreatedAt})
	}
	return uses, nil
}

func hooks(tx store.Tx, damaged Damaged) (uses []Use, err error) {
	rows, err := tx.List(store.Meta, store.Realm, records.EveryWebhook())
	for _, row := range rows {
		var w records.Webhook
		err := records.Decode(row, &w)
		if err := damaged(unreadable.Record{Kind: "webhook", ID: row.ID}, err); err != nil {
			return nil, err
		}
		if err == nil {
			uses = append(uses, Use{Use: OfWebhook(w.TenantID, w.URL, w.SecretEnv), Webhook: w.ID, Enabled: w.Enabled, Since: w.CreatedAt})
		}
	}
	return uses, err
}

// OfWebhook is what a webhook uses: its secret signs, though not as a project's does.
func OfWebhook(tenant, address, secretEnv string) credential.Use {
	origin, _, _ := request.SplitAddress(address)
	return credential.Use{Tenant: tenant, Origin: origin, Kind: countersign.AuthHMAC, Name: secretEnv}
}
