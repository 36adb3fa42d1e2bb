package people

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Tenants are the commands on tenants (contract 3).
type Tenants struct {
	List service.List[countersign.Tenant] `cmd:"" help:"List the tenants (realm administrators)." example:"tenants list"`
	Put  TenantsPut                       `cmd:"" help:"Create or rename a tenant (realm administrators)." example:"tenants put marlow --name Marlow"`
}

// NewTenants returns the commands, with what each asks for and prints.
func NewTenants() (c Tenants) {
	c.List = service.Lists((*client.Client).Tenants, tenantTable)
	return c
}

var tenantTable = service.Columns[countersign.Tenant]{
	Heading: []string{"id", "name", "revision", "created", "updated"},
	Row: func(x countersign.Tenant) []string {
		return []string{x.ID, x.Name, words.Number(x.Revision), words.Moment(x.CreatedAt), words.Moment(x.UpdatedAt)}
	},
}

// TenantsPut is the command `tenants put`.
type TenantsPut struct {
	ID       string `arg:"" help:"The tenant's id: a small letter, then small letters and digits."`
	Name     string `required:"" help:"The tenant's name."`
	Revision int64  `help:"Rename this revision, which must be the current one; without it a tenant is created." placeholder:"N"`
	service.Asking
}

// Run saves the tenant.
func (p *TenantsPut) Run(t *terminal.Terminal) error {
	w := countersign.TenantWrite{Name: p.Name, ExpectedRevision: p.Revision}
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.Tenant, error) {
		saved, err := c.SaveTenant(t.Context, p.ID, w)
		return saved, service.WithRevision(err)
	}, func(out io.Writer, x *countersign.Tenant) {
		fmt.Fprintf(out, "saved %s, revision %d: %s\n", x.ID, x.Revision, words.Plain(x.Name))
	})
}
