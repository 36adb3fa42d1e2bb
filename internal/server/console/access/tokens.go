package access

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

type tokenRow struct {
	countersign.Token
	State  text.State
	Usable bool // neither revoked nor expired
}

func tokenRowOf(t countersign.Token, now time.Time) tokenRow {
	return tokenRow{t, tokenState(t, now), t.RevokedAt.IsZero() && now.Before(t.ExpiresAt)}
}

type tokensData struct {
	realm
	Tokens []tokenRow
	Pager  web.Pager
}

func tokensPage(v *web.Request) (*web.Page, error) {
	l := v.List()
	found, err := v.Control.Tokens(v.R.Context(), v.Actor, l, tenantAsked(v))
	if err != nil {
		return nil, err
	}
	d := tokensData{realm: realmOf(v, "tokens"), Pager: v.Pager(l, len(found.Items), found.Total, found.NextOffset)}
	for _, t := range found.Items {
		d.Tokens = append(d.Tokens, tokenRowOf(t, v.Now))
	}
	return accessPage("tokens", "Access", d), nil
}

func tokenState(t countersign.Token, now time.Time) text.State {
	switch left := t.ExpiresAt.Sub(now); {
	case !t.RevokedAt.IsZero():
		return text.State{Class: "is-idle", Icon: "s-cancelled", Word: "Revoked"}
	case left <= 0:
		return text.State{Class: "is-idle", Icon: "s-stale", Word: "Expired"}
	case t.RenewedAs != "":
		return text.State{Class: "is-idle", Icon: "s-stale", Word: "Renewed"}
	case web.EndsSoon(t, now):
		return text.State{Class: "is-wait", Icon: "s-warn", Word: "Expires soon"}
	}
	return text.State{Class: "is-ok", Icon: "s-completed", Word: "Valid"}
}

type tokenData struct {
	realm
	grant
	Name, Days, UserEmail      string
	Agents                     string // for an agent token: agent IDs separated by spaces
	Reading                    bool   // a reading token is made
	Readings                   []form.Choice
	ReadsErr                   string
	Modes                      []form.Choice
	NameErr, DaysErr, ModesErr string
	Problem                    *web.Problem
	Made                       countersign.NewToken
	Token                      tokenRow
}

// defaultDays is the preset lifetime; the longest is 90.
const defaultDays = "30"

func newTokenPage(v *web.Request) (*web.Page, error) {
	if v.Query("reads") != "" {
		return tokenForm(v, tokenData{Reading: true, Readings: readingChoices(v, nil), Days: strconv.Itoa(countersign.MaxTokenDays)}), nil
	}
	return tokenForm(v, tokenData{Agents: v.Query("agent"), Days: defaultDays, Modes: modeChoices(nil), grant: grantForm(v, tenantAsked(v), nil, "", nil)}), nil
}

func modeChoices(on []string) []form.Choice {
	out := []form.Choice{
		{Value: countersign.ModeDryRun, Word: "DRY_RUN", Note: "Rehearses: nothing is sent."},
		{Value: countersign.ModeLive, Word: "LIVE", Note: "Sends, after approval where policy asks for it."},
	}
	for i := range out {
		out[i].Chosen = slices.Contains(on, out[i].Value)
	}
	return out
}

func tokenForm(v *web.Request, d tokenData) *web.Page {
	d.realm = realmOf(v, "tokens")
	return accessPage("token", "Make a token", d, web.Crumb{Word: "Tokens", Href: "/access/tokens" + d.Query}, web.Crumb{Word: "Make a token"})
}

// makeToken shows the secret in the response to the POST only: an address would end up
// in histories and logs.
func makeToken(v *web.Request) (string, error) {
	if v.Form("reading") != "" {
		return makeReadingToken(v)
	}
	g, roles, projects := granted(v)
	modes := v.R.PostForm["modes"]
	var agents []string
	if v.Form("agents") != "" { // agent tokens have fixed roles and projects
		agents = strings.Fields(v.Form("agents"))
		g.RolesErr, g.ReachErr, roles, projects = "", "", []countersign.Role{countersign.RoleOperator}, nil
	}
	d := tokenData{grant: g, Agents: v.Form("agents"), Name: v.Form("name"), Days: v.Form("days"), UserEmail: v.Form("userEmail"), Modes: modeChoices(modes)}
	days := d.named()
	if len(modes) == 0 {
		d.ModesErr = "Choose at least one mode."
	}
	if g.wrong() || d.DaysErr != "" || d.NameErr != "" || d.ModesErr != "" {
		return "", web.Incomplete(tokenForm(v, d))
	}
	if err := validRoles(roles); err != nil {
		return "", err
	}
	return createToken(v, d, countersign.TokenWrite{Name: d.Name, Roles: roles, ProjectIDs: projects, AgentIDs: agents, ExpiresInDays: days, UserEmail: d.UserEmail, Modes: modesOf(d.Modes), TenantID: tenantAsked(v)})
}

// named checks what each token has: a name, and how long it is good.
func (d *tokenData) named() (days int64) {
	days, err := strconv.ParseInt(d.Days, 10, 64)
	if err != nil || days < 1 || days > countersign.MaxTokenDays {
		d.DaysErr = "Enter a whole number from 1 to " + strconv.Itoa(countersign.MaxTokenDays) + "."
	}
	if safetext.Blank(d.Name) {
		d.NameErr = "Say what the token is for."
	}
	return days
}

func createToken(v *web.Request, d tokenData, w countersign.TokenWrite) (string, error) {
	made, err := v.Control.CreateToken(v.R.Context(), v.Actor, w)
	if err != nil {
		return "", web.RefusedForm(err, func(p *web.Problem) *web.Page { d.Problem = p; return tokenForm(v, d) })
	}
	d.realm, d.Made = realmOf(v, "tokens"), made
	out := accessPage("token-made", "Token "+made.Name, d, web.Crumb{Word: "Tokens", Href: "/access/tokens" + d.Query}, web.Crumb{Word: made.ID, ID: true})
	out.Status = http.StatusCreated
	return "", out
}

// modesOf is nil for all modes, as in the API.
func modesOf(choices []form.Choice) []string {
	var out []string
	for _, c := range choices {
		if c.Chosen {
			out = append(out, c.Value)
		}
	}
	if len(out) == len(choices) {
		return nil
	}
	return out
}

func revokeTokenPage(v *web.Request) (*web.Page, error) {
	t, err := v.Control.Token(v.R.Context(), v.Actor, v.R.PathValue("id"), tenantAsked(v))
	if err != nil {
		return nil, err
	}
	d := tokenData{realm: realmOf(v, "tokens"), Token: tokenRowOf(control.Named(v.R.Context(), v.Control, v.Actor, t), v.Now)}
	return accessPage("token-revoke", "Revoke "+t.Name, d, web.Crumb{Word: "Tokens", Href: "/access/tokens" + d.Query}, web.Crumb{Word: t.ID, ID: true}), nil
}

func revokeToken(v *web.Request) (string, error) {
	if _, err := v.Control.RevokeToken(v.R.Context(), v.Actor, v.R.PathValue("id"), tenantAsked(v)); err != nil {
		return "", err
	}
	return "/access/tokens" + realmOf(v, "").Query, nil
}
