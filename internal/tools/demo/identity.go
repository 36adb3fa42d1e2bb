package demo

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/countersign/countersign"
)

// createIdentities creates two identities, each a user of the console and a token, or takes those of
// the demo that is continued. There are two since nobody may approve their own request.
func (d *demo) createIdentities(ctx context.Context) (err error) {
	kept := &d.place.kept
	if kept.Operator == nil {
		if kept.Operator, err = d.identify(ctx, "ines@marlow.example", countersign.RoleOperator); err != nil {
			return err
		}
	}
	if kept.Reviewer == nil {
		if kept.Reviewer, err = d.identify(ctx, "mara@marlow.example", countersign.RoleApprover); err != nil {
			return err
		}
	}
	if d.operator, err = d.caller(kept.Operator.Token); err != nil {
		return err
	}
	if d.reviewer, err = d.caller(kept.Reviewer.Token); err != nil {
		return err
	}
	header := []byte("Authorization: Bearer " + kept.Reviewer.Token + "\n")
	return errors.Join(d.place.write(), os.WriteFile(d.place.file(reviewerFile), header, 0o600))
}

func (d *demo) identify(ctx context.Context, email string, role countersign.Role) (*identity, error) {
	user := countersign.UserWrite{Roles: []countersign.Role{role}, ProjectIDs: []string{demoProject}}
	if _, err := d.admin.SaveUser(ctx, email, user); err != nil {
		return nil, err
	}
	made, err := d.admin.CreateToken(ctx, countersign.TokenWrite{
		Name: "demo " + string(role), Roles: []countersign.Role{role}, ProjectIDs: []string{demoProject}, UserEmail: email,
	})
	if err != nil {
		return nil, err
	}
	return &identity{Email: email, TokenID: made.ID, Token: made.Secret}, nil
}

// named replaces the two principals in a text of the service by their e-mail addresses.
func (d *demo) named(text string) string {
	for _, who := range []*identity{d.place.kept.Operator, d.place.kept.Reviewer} {
		if who != nil {
			text = strings.ReplaceAll(text, "token:"+who.TokenID, who.Email)
		}
	}
	return text
}
