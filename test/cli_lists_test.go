package test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestAllPagesAreListed: the first page alone says that there are more.
func TestAllPagesAreListed(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	for i := range 205 {
		s.Admin.Put(fmt.Sprintf("/users/user-%03d@marlow.example", i), doc{"roles": []string{"VIEWER"}}).OK(t)
	}
	first := s.command(t, 0, "users", "list", "--limit", "3", "--profile", "admin")
	if n := strings.Count(first.Out, "\n"); n != 4 || !strings.Contains(first.Err, "3 of 205; --all") {
		t.Errorf("%d lines, %s", n, first.Err)
	}
	all := s.asked(t, "users", "list", "--all", "--profile", "admin")
	seen := map[string]bool{}
	for _, u := range all.At("items").Items() {
		seen[u.At("email").Text()] = true
	}
	if len(seen) != 205 || len(all.At("items").Items()) != 205 {
		t.Errorf("%d users", len(seen))
	}
	all.Is(t, "total", 205).Is(t, "nextOffset", nil)
	prints(t, s.command(t, 0, "users", "list", "--offset", "300", "--profile", "admin").Err, "there are none")
	s.keptHead(t)
}

// keptHead: with a kept head a later verification shows whether the log still begins with the same records.
func (s *shell) keptHead(t *testing.T) {
	t.Helper()
	kept := s.asked(t, "audit", "verify", "--profile", "admin").Is(t, "intact", true)
	head, records := kept.At("head").Text(), kept.At("records").Int()
	s.Admin.Put("/users/one-more@marlow.example", doc{"roles": []string{"VIEWER"}}).OK(t)
	verify := func(status int, head string, records int) string {
		return s.command(t, status, "audit", "verify", "--head", head, "--records", fmt.Sprint(records), "--profile", "admin").Err
	}
	if records <= 205 {
		t.Errorf("only %d records", records)
	}
	prints(t, verify(0, head, records), fmt.Sprintf("the first %d records are those", records))
	if said := regexp.MustCompile(`[0-9a-f]{64}`).ReplaceAllString(verify(1, head, records-1), "HEAD"); !strings.HasSuffix(said, fmt.Sprintf("countersign: the first %d records have the head HEAD, not HEAD: they were changed\n", records-1)) {
		t.Error(said)
	}
	prints(t, verify(1, head, records+2), "it was cut off")
	prints(t, s.command(t, 2, "audit", "verify", "--head", head, "--profile", "admin").Err, "--records")
}

func TestTokensUsersAndTenantsAreKeptByCommand(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	admin := func(status int, args ...string) string {
		r := s.command(t, status, append(args, "--profile", "admin")...)
		return r.Out + r.Err
	}
	prints(t, admin(0, "tenants", "put", "marlow", "--name", "Marlow"), "saved marlow, revision 1")
	prints(t, admin(3, "tenants", "put", "marlow", "--name", "Marlow & Co"), "revision_conflict", "--revision")
	prints(t, admin(0, "tenants", "put", "marlow", "--name", "Marlow & Co", "--revision", "1"), "revision 2")
	prints(t, admin(0, "users", "put", "mara@marlow.example", "--role", "APPROVER", "--role", "VIEWER", "--tenant", "marlow"), "APPROVER, VIEWER in marlow")
	prints(t, admin(0, "users", "list", "--tenant", "marlow"), "mara@marlow.example")
	prints(t, admin(0, "users", "link", "mara@marlow.example", "--tenant", "marlow", "--minutes", "60"), "/console/sign-in/link?link=", "tenant   marlow", "shown only once")
	prints(t, admin(0, "users", "delete", "mara@marlow.example", "--tenant", "marlow"), "no user of marlow")
	prints(t, admin(2, "tokens", "create", "--name", "x", "--role", "OWNER"), "--role")
	made := admin(0, "tokens", "create", "--name", "ci", "--role", "OPERATOR", "--project", shop, "--mode", "DRY_RUN", "--days", "3")
	prints(t, made, "csn_", "shown only once", "projects  "+shop)
	prints(t, admin(0, "tokens", "list"), "DRY_RUN", "ci")
	prints(t, admin(0, "tokens", "revoke", word(t, made, "id")), "revoked", "ci")
	s.settings["COUNTERSIGN_TOKEN"], s.settings["COUNTERSIGN_URL"] = word(t, made, "token"), s.address
	prints(t, s.command(t, 3, "runs", "list").Err, "unauthenticated")
}

// TestListsAreReadThoughSomebodyWroteALongText: a list shows a text over 16 KiB by its size.
// Who may write one would otherwise keep everybody from reading the list by command.
func TestListsAreReadThoughSomebodyWroteALongText(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	long := strings.Repeat("y", 20_000)
	s.Admin.Post("/tokens", doc{"name": long, "roles": []string{"VIEWER"}}).OK(t)
	s.Admin.Put("/groups/finance", doc{"name": long, "members": []string{}}).OK(t)
	s.Admin.Post("/stop", doc{"reason": long}).OK(t)
	s.Admin.Post("/go", doc{"reason": "mended"}).OK(t)
	for list, want := range map[string]string{"tokens": "VIEWER", "groups": "finance", "audit": "tenants.stop"} {
		prints(t, s.command(t, 0, list, "list", "--profile", "admin").Out, want)
	}
}
