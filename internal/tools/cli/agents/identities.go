package agents

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Identities is the command `agents identities`.
type Identities struct {
	ID     string   `arg:"" help:"The agent's id."`
	Add    []string `sep:"none" help:"An identity that the agent has besides, as ISSUER#CLAIM=VALUE. The claim is sub, azp, client_id, act.sub, or an https:// name. Repeat it for several." placeholder:"ISSUER#CLAIM=VALUE"`
	Remove []string `sep:"none" help:"One that it has no longer, written likewise." placeholder:"ISSUER#CLAIM=VALUE"`
	Mode   string   `enum:",DRY_RUN,LIVE" default:"" help:"Limit those that are added to DRY_RUN or LIVE." placeholder:"MODE"`
	service.Asking
}

// Run shows the identities, with what is added and removed.
func (i *Identities) Run(t *terminal.Terminal) error {
	add, remove, err := i.asked()
	if err != nil {
		return err
	}
	return service.ShowRecord(t, i.Asking, func(c *client.Client) (*countersign.Agent, error) {
		a, err := c.Agent(t.Context, i.ID)
		if err != nil || len(add)+len(remove) == 0 {
			return &a.AgentRecord, err
		}
		w := countersign.IdentitiesWrite{Identities: append([]countersign.AgentIdentity{}, a.Identities...), ExpectedRevision: a.IdentitiesRevision}
		for _, one := range remove {
			at := slices.IndexFunc(w.Identities, func(has countersign.AgentIdentity) bool { return has.Identity() == one.Identity() })
			if at < 0 {
				return nil, terminal.UnusableError{Lines: []string{"--remove: the agent has no identity " + identityText(one)}}
			}
			w.Identities = slices.Delete(w.Identities, at, at+1)
		}
		w.Identities = append(w.Identities, add...)
		return c.SaveAgentIdentities(t.Context, i.ID, w)
	}, func(w io.Writer, a *countersign.Agent) {
		fmt.Fprintf(w, "agent %s, identities at revision %d\n", a.ID, a.IdentitiesRevision)
		for _, one := range a.Identities {
			fmt.Fprintf(w, "  %s\n", words.Plain(identityWords(one)))
		}
	})
}

func (i *Identities) asked() (add, remove []countersign.AgentIdentity, err error) {
	for _, text := range i.Add {
		one, err := identityOf("--add", text)
		if err != nil {
			return nil, nil, err
		}
		if i.Mode != "" {
			one.Modes = []string{i.Mode}
		}
		add = append(add, one)
	}
	for _, text := range i.Remove {
		one, err := identityOf("--remove", text)
		if err != nil {
			return nil, nil, err
		}
		remove = append(remove, one)
	}
	return add, remove, nil
}

func identityOf(flag, text string) (one countersign.AgentIdentity, err error) {
	issuer, rest, _ := strings.Cut(text, "#")
	claim, value, ok := strings.Cut(rest, "=")
	if !ok || issuer == "" || claim == "" || value == "" {
		return one, terminal.UnusableError{Lines: []string{fmt.Sprintf("%s: %q: write ISSUER#CLAIM=VALUE, such as https://id.example.com#azp=refund-clerk", flag, text)}}
	}
	return countersign.AgentIdentity{Issuer: issuer, Claim: claim, Value: value}, nil
}

func identityText(i countersign.AgentIdentity) string {
	return i.Issuer + "#" + i.Claim + "=" + i.Value
}

func identityWords(i countersign.AgentIdentity) string {
	words := identityText(i)
	if i.Modes != nil {
		words += ", " + strings.Join(i.Modes, " and ") + " only"
	}
	if i.Claim == "sub" {
		return words + ", a machine that acts for nobody"
	}
	return words + ", on behalf of each token's subject"
}
