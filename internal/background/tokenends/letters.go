package tokenends

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A mail that isn't sent is tried again later and later, and until the token has ended. A process that
// dies between the claim and the record of a mail leaves it to be sent a second time, never to be lost.
const (
	firstWait   = 15 * time.Minute
	longestWait = 12 * time.Hour
	mostListed  = 50 // tokens that one mail lists
)

// letter is one token that somebody is to be mailed about.
type letter struct {
	to    string
	token records.Token
}

type letters []letter

// mailDue reports a token of which its maker is to be mailed now.
func (w *Watcher) mailDue(t *records.Token, now time.Time) bool {
	return w.cfg.Post != nil && !t.EndMailed && !now.Before(t.EndMailAt)
}

// claim takes the mail of a token on, so that no other process sends it meanwhile.
func (w *Watcher) claim(tx store.Tx, t *records.Token, now time.Time, claimed *letters) error {
	to, err := makerOf(tx, t)
	if err != nil {
		return err
	}
	if to == "" {
		t.EndMailed = true // nobody is there to be told
		return nil
	}
	t.EndMailAt = now.Add(min(firstWait<<min(t.EndMails, 8), longestWait))
	t.EndMails++
	*claimed = append(*claimed, letter{to, *t})
	return nil
}

// makerOf is the nearest person who made the token, directly or through another token, and is still a
// user of its tenant or of the realm's; "" for none.
func makerOf(tx store.Tx, t *records.Token) (string, error) {
	for _, principal := range append([]string{t.CreatedBy}, t.Lineage...) {
		email, is := strings.CutPrefix(principal, "user:")
		if !is {
			continue
		}
		for _, tenant := range []string{t.TenantID, countersign.DefaultTenant} {
			u, _, err := records.Users.Get(tx, tenant, email)
			if err == nil && !u.Invited {
				return email, nil
			}
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return "", err
			}
		}
	}
	return "", nil
}

// send mails each address once about all of its tokens, and records which were mailed.
func (w *Watcher) send(ctx context.Context, all letters) (failed error) {
	byAddress := map[string]letters{}
	for _, l := range all {
		byAddress[l.to] = append(byAddress[l.to], l)
	}
	for _, to := range slices.Sorted(maps.Keys(byAddress)) {
		mine := byAddress[to]
		subject, text := w.text(mine)
		if err := w.cfg.Post.Send(ctx, to, subject, text); err != nil {
			failed = errors.Join(failed, fmt.Errorf("the mail to %s: %w", to, err))
			continue
		}
		for part := range slices.Chunk(mine, atOnce) {
			failed = errors.Join(failed, w.recordMailed(context.WithoutCancel(ctx), part))
		}
	}
	return failed
}

func (w *Watcher) recordMailed(ctx context.Context, mailed letters) error {
	return w.store.Update(ctx, func(tx store.Tx) error {
		for _, l := range mailed {
			t, version, err := records.Tokens.Get(tx, l.token.TenantID, l.token.ID)
			if err != nil {
				return err
			}
			t.EndMailed = true
			if _, err := records.Tokens.Put(tx, t.TenantID, t.ID, t, version); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *Watcher) text(mine letters) (subject, text string) {
	slices.SortFunc(mine, func(a, b letter) int { return a.token.ExpiresAt.Compare(b.token.ExpiresAt) })
	subject = "A Countersign token that you made ends soon"
	if len(mine) > 1 {
		subject = fmt.Sprintf("%d Countersign tokens that you made end soon", len(mine))
	}
	var b strings.Builder
	b.WriteString("What uses them stops working then, unless it has another token by that time.\n")
	for _, l := range mine[:min(len(mine), mostListed)] {
		t := l.token
		fmt.Fprintf(&b, "\n%s (%s, tenant %s)\n  ends %s\n", safetext.Value(t.Name), t.ID, t.TenantID, t.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC"))
		if t.Reads != nil {
			b.WriteString("  it renews itself: countersign tokens renew, or POST /v1/tokens/renew with it\n")
		}
	}
	if more := len(mine) - mostListed; more > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", more)
	}
	fmt.Fprintf(&b, "\nMake a new one, or revoke what nobody uses: %s/console/access/tokens\n", w.cfg.BaseURL)
	return subject, b.String()
}
