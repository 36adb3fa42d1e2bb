package control_test

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestAMemberWhoIsNoUserIsNamed, also where the transaction's function runs again.
func TestAMemberWhoIsNoUserIsNamed(t *testing.T) {
	h := open(t)
	_, err := h.service.PutGroup(background, as("acme"), "legal", countersign.GroupWrite{Name: "Legal", Members: []string{"Eve@example.com"}})
	want := "invalid_request: members[0]: eve@example.com is not a user of tenant acme; add them first"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
