package access

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// recorded are the operations that are recorded without a rule of who may: whoever has the session or the invitation.
var recorded = []Operation{SignIn, SignOut, AcceptInvitation, DeclineInvitation, ConfirmChat, RemoveChat, BindCredential, SendHeartbeat}

// TestItIsDecidedWhatALinksSessionLeavesBehind fails for a write that nobody has decided about.
func TestItIsDecidedWhatALinksSessionLeavesBehind(t *testing.T) {
	writes := slices.Clone(recorded)
	for op := range rules {
		if IsWrite(op) {
			writes = append(writes, op)
		}
	}
	for _, op := range writes {
		if byLink[op] == 0 {
			t.Errorf("say in bylink.go what %s leaves behind in a session that a sign-in link began", op)
		}
	}
	for op := range byLink {
		if !slices.Contains(writes, op) {
			t.Errorf("%s is no write", op)
		}
	}
}

// TestWhatWouldProveMoreThanALinkIsRefused: whatever its rights, and for nobody else.
func TestWhatWouldProveMoreThanALinkIsRefused(t *testing.T) {
	all := slices.Concat(admin, operator, approver)
	for op := range maps.Keys(byLink) {
		session := Principal{ID: "user:bob@example.com", Email: "bob@example.com", Person: "bob@example.com", Session: "s", Realm: true, Roles: all, Lineage: ada.Descent()}
		err := Proven(session, op)
		if refused := byLink[op] == Refused; (err != nil) != refused || refused && (countersign.ErrorCode(err) != countersign.CodeRoleRequired || !strings.Contains(err.Error(), "sign-in link of user:ada@example.com")) {
			t.Errorf("%s: %v", op, err)
		}
		if r, ruled := rules[op]; ruled && !r.readers && (Allow(session, op) != nil) != (byLink[op] == Refused) {
			t.Errorf("%s: Allow says %v", op, Allow(session, op))
		}
		session.Lineage = nil
		if err := Proven(session, op); err != nil {
			t.Errorf("%s, signed in by a code: %v", op, err)
		}
	}
	if err := Proven(Principal{ID: "user:bob@example.com", Lineage: ada.Descent()}, "a.new.one"); err == nil {
		t.Error("a write that nobody has decided about is let through")
	}
}
