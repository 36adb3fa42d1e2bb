package people

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

// Tokens are the commands on bearer tokens (contract 3).
type Tokens struct {
	List   TokensList   `cmd:"" help:"List the tokens, never with their secrets (ADMIN)." example:"tokens list"`
	Create TokensCreate `cmd:"" help:"Make a token; it is shown once (ADMIN)." example:"tokens create --name ci --role OPERATOR --project default-shop --days 30"`
	Renew  TokensRenew  `cmd:"" help:"Make a reading token anew, with itself: for 90 days, once. The one before is good for 24 hours more." example:"tokens renew --out metrics.token"`
	Revoke TokensRevoke `cmd:"" help:"Revoke a token at once (ADMIN)." example:"tokens revoke tok-1"`
}

// OfTenant is the flag of commands that a realm administrator may use on any tenant.
type OfTenant struct {
	Tenant string `help:"Another tenant than your own; realm administrators only." placeholder:"ID"`
}

// TokensList is the command `tokens list`.
type TokensList struct {
	OfTenant
	service.Listing
}

var tokenTable = service.Columns[countersign.Token]{
	Heading: []string{"id", "name", "roles", "reads", "projects", "agents", "modes", "user", "made by", "expires", "last used", "revoked"},
	Row: func(k countersign.Token) []string {
		return []string{k.ID, k.Name, words.Joined(k.Roles), words.Joined(k.Reads), projectsOf(k), strings.Join(k.AgentIDs, ", "), tokenModes(k), k.UserEmail, words.Called(k.CreatedBy, k.CreatedByName), words.Moment(k.ExpiresAt), words.Moment(k.LastUsedAt), words.Moment(k.RevokedAt)}
	},
}

// projectsOf is the projects of a token, "" for an agent token, whose agents determine them, and for
// one that only reads.
func projectsOf(k countersign.Token) string {
	if k.AgentIDs != nil || k.Reads != nil {
		return ""
	}
	return words.OrAll(k.ProjectIDs)
}

func tokenModes(k countersign.Token) string {
	if k.Reads != nil {
		return ""
	}
	return words.OrAll(k.Modes)
}

// Run lists the tokens.
func (l *TokensList) Run(t *terminal.Terminal) error {
	return service.ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[countersign.Token], error) {
		return c.Tokens(t.Context, client.TenantFilter{Paging: p, TenantID: l.Tenant})
	}, tokenTable)
}

// TokensCreate is the command `tokens create`.
type TokensCreate struct {
	Name    string   `required:"" help:"What it is for."`
	Agent   []string `required:"" xor:"reach,rights" help:"Only what this agent does: its runs and its heartbeats, with the role OPERATOR. Repeat it for several." placeholder:"ID"`
	Read    []string `required:"" xor:"rights" enum:"metrics,audit,realm" help:"Only read, instead of a role: metrics, audit, or both; realm besides them, by a realm administrator, for those of the realm. It ends with the role ADMIN of whoever makes it." placeholder:"WHAT,…"`
	Role    []string `required:"" xor:"rights" enum:"ADMIN,OPERATOR,APPROVER,VIEWER" help:"What it may do: ADMIN, OPERATOR, APPROVER or VIEWER. Repeat it for several."`
	Project []string `xor:"reach" help:"Only this project. Repeat it for several; else all." placeholder:"ID"`
	Mode    []string `enum:"DRY_RUN,LIVE" help:"Only runs of this mode, DRY_RUN or LIVE; else both."`
	Days    int64    `help:"How long it is good, 1 to 90; else 90." placeholder:"N"`
	User    string   `help:"The user who stands behind it; nobody decides their own runs, by whichever token." placeholder:"EMAIL"`
	OfTenant
	service.Asking
}

// Run makes the token.
func (n *TokensCreate) Run(t *terminal.Terminal) error {
	if n.Agent != nil {
		n.Role = []string{string(countersign.RoleOperator)}
	}
	w := countersign.TokenWrite{Name: n.Name, Roles: roles(n.Role), Reads: readings(n.Read), ProjectIDs: n.Project, AgentIDs: n.Agent, Modes: n.Mode, ExpiresInDays: n.Days, UserEmail: n.User, TenantID: n.Tenant}
	return service.ShowRecord(t, n.Asking, func(c *client.Client) (*countersign.NewToken, error) { return c.CreateToken(t.Context, w) },
		func(out io.Writer, k *countersign.NewToken) {
			tokenFacts(out, k)
			fmt.Fprintln(t.Errs, "It is shown only once: save it now.")
		})
}

func tokenFacts(out io.Writer, k *countersign.NewToken) {
	terminal.Facts(out, [2]string{"token", k.Secret}, [2]string{"id", k.ID}, [2]string{"roles", words.Joined(k.Roles)}, [2]string{"reads", words.Joined(k.Reads)}, reachOf(k.TokenRecord), [2]string{"expires", words.Moment(k.ExpiresAt)})
}

func reachOf(k countersign.Token) [2]string {
	if k.AgentIDs != nil {
		return [2]string{"agents", strings.Join(k.AgentIDs, ", ")}
	}
	return [2]string{"projects", projectsOf(k)}
}

func roles(words []string) []countersign.Role {
	if words == nil {
		return nil
	}
	out := make([]countersign.Role, len(words))
	for i, w := range words {
		out[i] = countersign.Role(w)
	}
	return out
}

// TokensRevoke is the command `tokens revoke`.
type TokensRevoke struct {
	ID string `arg:"" help:"The token's id."`
	OfTenant
	service.Asking
}

// Run revokes the token.
func (r *TokensRevoke) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, r.Asking, func(c *client.Client) (*countersign.Token, error) { return c.RevokeToken(t.Context, r.ID, r.Tenant) },
		func(w io.Writer, k *countersign.Token) {
			fmt.Fprintf(w, "revoked %s, %s\n", k.ID, words.Plain(k.Name))
		})
}
