package people

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// TokensRenew is the command `tokens renew`.
type TokensRenew struct {
	Out string `help:"Write the token into this file, which only its owner may read, in place of the one there. Such a file is what COUNTERSIGN_TOKEN_FILE and a scraper's credentials_file name." placeholder:"FILE"`
	service.Asking
}

// Help explains more than the flags do.
func (TokensRenew) Help() string {
	return "The token is the one of COUNTERSIGN_TOKEN or COUNTERSIGN_TOKEN_FILE. It must be a reading token: one that 'tokens create --read' has made. A job that runs this once a month needs nobody. Each token is renewed once: what is lost between the service and the file, an administrator makes anew."
}

// Run renews the token. A file is there to be written before the service is asked: a token that can't
// be kept would be lost.
func (r *TokensRenew) Run(t *terminal.Terminal) error {
	c, err := r.Client(t)
	if err != nil {
		return err
	}
	var made *countersign.NewToken
	if r.Out == "" {
		if made, err = c.RenewToken(t.Context); err != nil {
			return err
		}
		return r.Print(t, made, func(out io.Writer) {
			tokenFacts(out, made)
			fmt.Fprintln(t.Errs, "It is shown only once: save it now.")
		})
	}
	var refused error
	err = atomicfile.Create(r.Out, func(w io.Writer) error {
		if made, refused = c.RenewToken(t.Context); refused != nil {
			return refused
		}
		_, err := fmt.Fprintln(w, made.Secret)
		return err
	})
	switch {
	case refused != nil:
		return refused
	case err != nil && made != nil:
		tokenFacts(t.Out, made) // nowhere else is it kept
		return fmt.Errorf("the token was renewed and couldn't be written; it is shown above, only this once: %w", err)
	case err != nil:
		return terminal.Unusablef("nothing was renewed, for the token couldn't be written: %v", err)
	}
	kept := made.TokenRecord // the file has the token, and nothing else does
	return r.Print(t, kept, func(out io.Writer) {
		terminal.Facts(out, [2]string{"written", r.Out}, [2]string{"id", kept.ID}, [2]string{"reads", words.Joined(kept.Reads)}, [2]string{"expires", words.Moment(kept.ExpiresAt)})
	})
}

func readings(words []string) []countersign.Reading {
	if words == nil {
		return nil
	}
	out := make([]countersign.Reading, len(words))
	for i, w := range words {
		out[i] = countersign.Reading(w)
	}
	return out
}
