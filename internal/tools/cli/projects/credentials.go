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

// Credentials are the commands on the owners of credential variables (contract 11).
type Credentials struct {
	List service.List[countersign.Credential] `cmd:"" help:"List the credential variables with the tenant that each belongs to (realm administrators)." example:"credentials list"`
	Free CredentialsFree                      `cmd:"" help:"Free a credential variable: nothing is sent with it until a tenant registers it again (realm administrators)." example:"credentials free SHOP_SECRET --reason 'the shop moves to marlow'"`
}

// NewCredentials returns the commands, with what each asks for and prints.
func NewCredentials() (c Credentials) {
	c.List = service.Lists((*client.Client).Credentials, credentialTable)
	return c
}

var credentialTable = service.Columns[countersign.Credential]{
	Heading: []string{"name", "tenant", "origin", "kinds", "projects", "webhooks", "since"},
	Row: func(x countersign.Credential) []string {
		return []string{x.Name, x.TenantID, words.First(x.Origin, "any"), strings.Join(x.Kinds, ", "), strings.Join(x.Projects, ", "), strings.Join(x.Webhooks, ", "), words.Moment(x.Since)}
	},
}

// CredentialsFree is the command `credentials free`.
type CredentialsFree struct {
	Name   string `arg:"" help:"The variable's name."`
	Reason string `required:"" help:"Why; it stands in the realm's audit log." placeholder:"TEXT"`
	service.Asking
}

// Run frees the credential.
func (f *CredentialsFree) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, f.Asking, func(c *client.Client) (*countersign.Credential, error) {
		return c.FreeCredential(t.Context, f.Name, f.Reason)
	},
		func(w io.Writer, x *countersign.Credential) {
			fmt.Fprintf(w, "freed %s, which was %s's; the next tenant to register it gets it\n", x.Name, x.TenantID)
			if len(x.Projects)+len(x.Webhooks) > 0 {
				fmt.Fprintf(t.Errs, "Nothing is sent any more for %s.\n", strings.Join(append(append([]string{}, x.Projects...), x.Webhooks...), ", "))
			}
		})
}
