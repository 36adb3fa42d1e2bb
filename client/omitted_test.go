package client_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/client"
)

const omitted = `{"$omitted":{"bytes":20002,"sha256":"` + "0f" + `"}}`

// TestAListIsReadThoughTextsInItAreOmitted: whoever may write one long name would
// otherwise take the list away from everybody who reads it by this client.
func TestAListIsReadThoughTextsInItAreOmitted(t *testing.T) {
	ctx := t.Context()
	page := func(items string) http.HandlerFunc {
		return says(200, "", `{"items":[`+strings.ReplaceAll(items, "OMITTED", omitted)+`],"total":2,"nextOffset":null}`)
	}
	for name, c := range map[string]struct {
		items string
		read  func(*client.Client) (string, error)
		want  string
	}{
		"runs": {`{"id":"r1","reason":OMITTED,"steps":[{"id":"s1","name":OMITTED,"input":{"a":1.50,"b":"<x>"}},{"id":"s2","name":"n","input":OMITTED}]},{"id":"r2","steps":[]}`,
			func(c *client.Client) (string, error) {
				p, err := c.Runs(ctx, client.RunFilter{})
				if err != nil {
					return "", err
				}
				r := p.Items[0]
				input := r.Steps[0].Input
				return r.ID + r.Reason + r.Steps[0].ID + r.Steps[0].Name + input["a"].Raw() + input["b"].Raw() + r.Steps[1].Name + r.Steps[1].Input["$omitted"].Raw() + p.Items[1].ID, nil
			}, `r1s11.50"<x>"n{"bytes":20002,"sha256":"0f"}r2`},
		"projects": {`{"id":"p1","name":OMITTED,"capabilities":[{"name":"c","title":OMITTED,"approvalRules":OMITTED,"budgets":OMITTED,"sensitive":OMITTED,"method":"POST"}]}`,
			func(c *client.Client) (string, error) {
				p, err := c.Projects(ctx, client.Paging{})
				if err != nil {
					return "", err
				}
				return p.Items[0].ID + p.Items[0].Capabilities[0].Name + p.Items[0].Capabilities[0].Method, nil
			}, "p1cPOST"},
		"audit": {`{"seq":7,"reason":OMITTED},{"seq":8,"reason":"why"}`,
			func(c *client.Client) (string, error) {
				p, err := c.AuditRecords(ctx, client.AuditFilter{})
				if err != nil {
					return "", err
				}
				return p.Items[0].Reason + p.Items[1].Reason, nil
			}, "why"},
	} {
		t.Run(name, func(t *testing.T) {
			sdk, _ := scripted(t, page(c.items))
			if got, err := c.read(sdk); err != nil || got != c.want {
				t.Errorf("%q, %v; expected %q", got, err, c.want)
			}
		})
	}
}

// TestAnAnswerOfAnotherShapeIsStillRefused: only omitted values are left out.
func TestAnAnswerOfAnotherShapeIsStillRefused(t *testing.T) {
	sdk, _ := scripted(t, says(200, "", `{"items":[{"id":"g","name":`+omitted+`,"members":{"a":1}}],"total":1,"nextOffset":null}`))
	if p, err := sdk.Groups(t.Context(), client.Paging{}); err == nil {
		t.Errorf("%+v was read", p)
	}
}
