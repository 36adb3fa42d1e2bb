package access

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/web"
)

type tenantsData struct {
	realm
	Tenants []countersign.Tenant
	Pager   web.Pager

	Credentials     []countersign.Credential
	CredentialCount int
}

// shownCredentials is how many credentials the page shows; the CLI lists all.
const shownCredentials = 200

func tenantsPage(v *web.Request) (*web.Page, error) {
	l := v.List()
	found, err := v.Control.Tenants(v.R.Context(), v.Actor, l)
	if err != nil {
		return nil, err
	}
	d := tenantsData{realm: realmOf(v, "tenants"), Tenants: found.Items, Pager: v.Pager(l, len(found.Items), found.Total, found.NextOffset)}
	credentials, err := v.Control.Credentials(v.R.Context(), v.Actor, control.List{Limit: shownCredentials})
	if err != nil {
		return nil, err
	}
	d.Credentials, d.CredentialCount = credentials.Items, credentials.Total
	return accessPage("tenants", "Access", d), nil
}

type tenantData struct {
	realm
	Stored                   countersign.Tenant // zero for a new tenant
	ID, Name, IDErr, NameErr string
	Revision                 int64
	Problem                  *web.Problem
}

func tenantForm(v *web.Request, d tenantData) *web.Page {
	d.realm = realmOf(v, "tenants")
	way := []web.Crumb{{Word: "Tenants", Href: "/access/tenants"}, {Word: "Make a tenant"}}
	title := "Make a tenant"
	if d.Stored.ID != "" {
		title = "Tenant " + d.Stored.ID
		way[1] = web.Crumb{Word: d.Stored.ID, ID: true}
	}
	return accessPage("tenant", title, d, way...)
}

func newTenantPage(v *web.Request) (*web.Page, error) {
	if _, err := v.Control.Tenant(v.R.Context(), v.Actor, v.Actor.Tenant); err != nil {
		return nil, err // the visitor is no realm administrator
	}
	return tenantForm(v, tenantData{}), nil
}

func tenantPage(v *web.Request) (*web.Page, error) {
	t, err := v.Control.Tenant(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return tenantForm(v, tenantData{Stored: t, Name: t.Name, Revision: t.Revision}), nil
}

func makeTenant(v *web.Request) (string, error) {
	d := tenantData{ID: v.Form("id"), Name: v.Form("name")}
	if !countersign.ValidTenantID(d.ID) {
		d.IDErr = "2 to 32 lower-case letters and digits, a letter first."
	}
	return putTenant(v, d, d.ID)
}

// renameTenant requires the revision that the form was made from, so that no newer name
// is lost.
func renameTenant(v *web.Request) (string, error) {
	t, err := v.Control.Tenant(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return "", err
	}
	revision, _ := strconv.ParseInt(v.Form("revision"), 10, 64) // 0 if missing, which conflicts
	return putTenant(v, tenantData{Stored: t, Name: v.Form("name"), Revision: revision}, t.ID)
}

func putTenant(v *web.Request, d tenantData, id string) (string, error) {
	if safetext.Blank(d.Name) {
		d.NameErr = "Enter a name."
	}
	if d.IDErr != "" || d.NameErr != "" {
		return "", web.Incomplete(tenantForm(v, d))
	}
	_, err := v.Control.PutTenant(v.R.Context(), v.Actor, id, countersign.TenantWrite{Name: d.Name, ExpectedRevision: d.Revision})
	if err != nil {
		return "", web.RefusedForm(err, func(p *web.Problem) *web.Page {
			d.Problem, d.Revision = p, d.Stored.Revision // the next attempt overwrites the revision now shown
			return tenantForm(v, d)
		})
	}
	return "/access/tenants", nil
}
