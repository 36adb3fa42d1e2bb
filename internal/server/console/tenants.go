package console

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/safetext"
)

type tenantsData struct {
	realm
	Tenants []countersign.Tenant
	Pager   pager

	Credentials     []countersign.Credential
	CredentialCount int
}

// shownCredentials is how many credentials the page shows; the CLI lists all.
const shownCredentials = 200

func tenantsPage(v *pageRequest) (*page, error) {
	l := v.list()
	found, err := v.control.Tenants(v.r.Context(), v.actor, l)
	if err != nil {
		return nil, err
	}
	d := tenantsData{realm: realmOf(v, "tenants"), Tenants: found.Items, Pager: v.pager(l, len(found.Items), found.Total, found.NextOffset)}
	credentials, err := v.control.Credentials(v.r.Context(), v.actor, control.List{Limit: shownCredentials})
	if err != nil {
		return nil, err
	}
	d.Credentials, d.CredentialCount = credentials.Items, credentials.Total
	return accessPage(v, "tenants", "Access", d), nil
}

type tenantData struct {
	realm
	Stored                   countersign.Tenant // zero for a new tenant
	ID, Name, IDErr, NameErr string
	Revision                 int64
	Problem                  *problem
}

func tenantForm(v *pageRequest, d tenantData) *page {
	d.realm = realmOf(v, "tenants")
	way := []crumb{{Word: "Tenants", Href: "/access/tenants"}, {Word: "Make a tenant"}}
	title := "Make a tenant"
	if d.Stored.ID != "" {
		title = "Tenant " + d.Stored.ID
		way[1] = crumb{Word: d.Stored.ID, ID: true}
	}
	return accessPage(v, "tenant", title, d, way...)
}

func newTenantPage(v *pageRequest) (*page, error) {
	if _, err := v.control.Tenant(v.r.Context(), v.actor, v.actor.Tenant); err != nil {
		return nil, err // the visitor is no realm administrator
	}
	return tenantForm(v, tenantData{}), nil
}

func tenantPage(v *pageRequest) (*page, error) {
	t, err := v.control.Tenant(v.r.Context(), v.actor, v.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return tenantForm(v, tenantData{Stored: t, Name: t.Name, Revision: t.Revision}), nil
}

func makeTenant(v *pageRequest) (string, error) {
	d := tenantData{ID: v.form("id"), Name: v.form("name")}
	if !countersign.ValidTenantID(d.ID) {
		d.IDErr = "2 to 32 lower-case letters and digits, a letter first."
	}
	return putTenant(v, d, d.ID)
}

// renameTenant requires the revision that the form was made from, so that no newer name
// is lost.
func renameTenant(v *pageRequest) (string, error) {
	t, err := v.control.Tenant(v.r.Context(), v.actor, v.r.PathValue("id"))
	if err != nil {
		return "", err
	}
	revision, _ := strconv.ParseInt(v.form("revision"), 10, 64) // 0 if missing, which conflicts
	return putTenant(v, tenantData{Stored: t, Name: v.form("name"), Revision: revision}, t.ID)
}

func putTenant(v *pageRequest, d tenantData, id string) (string, error) {
	if safetext.Blank(d.Name) {
		d.NameErr = "Enter a name."
	}
	if d.IDErr != "" || d.NameErr != "" {
		return "", incomplete(tenantForm(v, d))
	}
	_, err := v.control.PutTenant(v.r.Context(), v.actor, id, countersign.TenantWrite{Name: d.Name, ExpectedRevision: d.Revision})
	if err != nil {
		return "", refusedForm(err, func(p *problem) *page {
			d.Problem, d.Revision = p, d.Stored.Revision // the next attempt overwrites the revision now shown
			return tenantForm(v, d)
		})
	}
	return "/access/tenants", nil
}
