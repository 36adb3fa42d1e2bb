package agents

import (
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// By which tokens of identity providers a caller is an agent: a section of the agent's page.

type identitiesData struct {
	Listed   []countersign.AgentIdentity
	Revision int64
	May      bool // change them
	Issuer   form.Field
	Claim    form.Field
	Value    form.Field
	Modes    form.Field
}

// identitiesOf are those of an agent, and the form that adds one.
func identitiesOf(v *web.Request, a countersign.Agent, err error) identitiesData {
	s := form.Of(v, err, "identities["+strconv.Itoa(len(a.Identities))+"]")
	d := identitiesData{Listed: a.Identities, Revision: a.IdentitiesRevision, May: !a.Retired && v.Can(access.WriteIdentities)}
	d.Issuer = form.Must(s.Mono("issuer", "Issuer", "As its tokens have it in iss, character for character, such as https://id.example.com", ""))
	d.Claim = form.Must(s.Mono("claim", "Claim", "sub for a machine that acts for nobody. With any other, the token’s sub is the person for whom the agent acts.", ""))
	d.Claim.Offered = []form.Choice{{Value: "azp"}, {Value: "client_id"}, {Value: "act.sub"}, {Value: "sub"}}
	d.Value = form.Must(s.Mono("value", "Value", "", ""))
	d.Modes = s.Choose("select", "modes", "Modes", "", "", form.Choice{Value: "", Word: "DRY_RUN and LIVE"}, form.Choice{Value: countersign.ModeDryRun, Word: "DRY_RUN"}, form.Choice{Value: countersign.ModeLive, Word: "LIVE"})
	d.Modes.Needed = true // one of them is chosen
	return d
}

// changeIdentities adds the identity that was typed, or takes one away.
func changeIdentities(v *web.Request) (string, error) {
	if err := v.May(access.WriteIdentities); err != nil {
		return "", err
	}
	id := v.R.PathValue("id")
	a, err := v.Control.Agent(v.R.Context(), v.Actor, id)
	if err != nil {
		return "", err
	}
	w := countersign.IdentitiesWrite{Identities: slices.Clone(a.Identities)}
	w.ExpectedRevision, _ = strconv.ParseInt(v.Form("identitiesRevision"), 10, 64) // of the page that was shown; another form's has a number of its own
	if at, err := strconv.Atoi(v.Form("remove")); err == nil && at >= 0 && at < len(w.Identities) {
		w.Identities = slices.Delete(w.Identities, at, at+1)
	} else {
		typed := countersign.AgentIdentity{Issuer: v.Form("issuer"), Claim: v.Form("claim"), Value: v.Form("value")}
		if mode := v.Form("modes"); mode != "" {
			typed.Modes = []string{mode}
		}
		w.Identities = append(w.Identities, typed)
	}
	if _, err := v.Control.PutIdentities(v.R.Context(), v.Actor, id, w); err != nil {
		return "", v.FormAgain(err, agentAgain)
	}
	return "/agents/" + id + "#identities", nil
}
