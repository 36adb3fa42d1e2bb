package records_test

import (
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

var morning = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// counts reports whether what a principal decided in the morning counts at a later time.
func counts(t *testing.T, s store.Store, by records.Decider, r *records.Approval, at time.Time) (is bool, groups []string) {
	t.Helper()
	err := s.View(t.Context(), func(tx store.Tx) error {
		e, now, err := records.EligibilityThen(tx, "acme", r, by, morning, records.Moment{Now: at}, false)
		is, groups = now, e.Groups
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return is, groups
}

// TestWhatATokenDecidedCountsUntilItEnds: by its own time, whether anybody has seen it expired
// or not, and not again when the clock is set back behind that.
func TestWhatATokenDecidedCountsUntilItEnds(t *testing.T) {
	end := morning.Add(time.Hour)
	for name, c := range map[string]struct {
		change func(*records.Token)
		at     time.Time
		is     bool
	}{
		"before its end":           {func(*records.Token) {}, end.Add(-1), true},
		"at its end":               {func(*records.Token) {}, end, false},
		"seen expired, set back":   {func(k *records.Token) { k.Lapsed = true }, morning, false},
		"revoked":                  {func(k *records.Token) { k.RevokedAt = morning }, morning, false},
		"limited to rehearsals":    {func(k *records.Token) { k.Modes = []string{countersign.ModeDryRun} }, morning, false},
		"of another project":       {func(k *records.Token) { k.ProjectIDs = []string{"acme-other"} }, morning, false},
		"that lost the role by it": {func(k *records.Token) { k.Roles = []countersign.Role{countersign.RoleViewer} }, morning, false},
	} {
		s := memory.New()
		k := &records.Token{Token: countersign.Token{ID: "t-1", Roles: []countersign.Role{countersign.RoleApprover}, ExpiresAt: end}}
		c.change(k)
		err := s.Update(t.Context(), func(tx store.Tx) error {
			_, err := records.Tokens.Put(tx, "acme", "t-1", k, 0)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &records.Approval{Approval: countersign.Approval{ID: "a", ProjectID: "acme-shop"}}
		if is, _ := counts(t, s, records.Decider{Requester: access.Requester{ID: "token:t-1"}}, r, c.at); is != c.is {
			t.Errorf("%s: it counts: %v", name, is)
		}
	}
}

// TestWhoIsAwayLendsWhatTheyMayThemselves: their group is decided for as long as they are users
// with the role, and were when it was decided.
func TestWhoIsAwayLendsWhatTheyMayThemselves(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*records.User)
		is     bool
	}{
		"an approver":               {func(*records.User) {}, true},
		"without the role":          {func(u *records.User) { u.Roles = []countersign.Role{countersign.RoleViewer} }, false},
		"of another project":        {func(u *records.User) { u.ProjectIDs = []string{"acme-other"} }, false},
		"invited only":              {func(u *records.User) { u.Invited = true }, false},
		"removed and added again":   {func(u *records.User) { u.CreatedAt = morning.Add(time.Minute) }, false},
		"added at that very moment": {func(u *records.User) { u.CreatedAt = morning }, true},
	} {
		s := memory.New()
		err := s.Update(t.Context(), func(tx store.Tx) error {
			var failed error
			for _, email := range []string{"ann@example.com", "cem@example.com"} {
				u := &records.User{User: countersign.User{Email: email, Roles: []countersign.Role{countersign.RoleApprover}}}
				if email == "ann@example.com" {
					c.change(u)
				}
				_, err := records.Users.Put(tx, "acme", email, u, 0)
				failed = errors.Join(failed, err)
			}
			_, err := records.Groups.Put(tx, "acme", records.GroupID("finance"), &countersign.Group{ID: "finance", Members: []string{"ann@example.com"}}, 0)
			return errors.Join(failed, err)
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &records.Approval{Approval: countersign.Approval{ID: "a", ProjectID: "acme-shop", Groups: []string{"finance"}}}
		by := records.Decider{Requester: access.Requester{ID: "user:cem@example.com", Email: "cem@example.com"}, Person: "cem@example.com", OnBehalfOf: []string{"ann@example.com"}}
		if is, groups := counts(t, s, by, r, morning.Add(time.Hour)); is != c.is || is != (len(groups) == 1) {
			t.Errorf("%s: it counts: %v, for %v", name, is, groups)
		}
	}
}

// TestARestoreEndsTheQuestionsOfChatAccountsAndNoAnswer: who has confirmed an account goes on
// with it; a question that was asked before may have been answered, or taken back, since.
func TestARestoreEndsTheQuestionsOfChatAccountsAndNoAnswer(t *testing.T) {
	s := memory.New()
	links := map[string]*records.ChatLink{
		records.ChatLinkID("slack", "w", "asked"):     {Account: "asked", AskedAt: morning},
		records.ChatLinkID("slack", "w", "confirmed"): {Account: "confirmed", AskedAt: morning, ConfirmedAt: morning},
	}
	ended, left := 0, 0
	err := s.Update(t.Context(), func(tx store.Tx) (err error) {
		for id, l := range links {
			if _, err := records.ChatLinks.Put(tx, store.Realm, id, l, 0); err != nil {
				return err
			}
		}
		if ended, err = records.EndWhatWorksOnce(tx); err != nil {
			return err
		}
		list, err := records.ChatLinks.List(tx, store.Realm, store.Query{Where: records.AllChatLinks()})
		if left = len(list); left == 1 && list[0].Account != "confirmed" {
			t.Errorf("what is left is %s", list[0].Account)
		}
		return err
	})
	if err != nil || ended != 1 || left != 1 {
		t.Errorf("%d ended, %d are left, %v", ended, left, err)
	}
}
