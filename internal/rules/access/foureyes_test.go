package access

import (
	"slices"
	"testing"

	"github.com/countersign/countersign"
)

// The people of the table. Ada's sessions and tokens are hers only where she
// stands behind them.
var (
	ada = Principal{ID: "user:ada@example.com", Email: "ada@example.com"}
	bob = Principal{ID: "user:bob@example.com", Email: "bob@example.com"}
	// bare tokens stand for nobody; ada's names her.
	bare   = Principal{ID: "token:bare", Lineage: ada.Descent()}
	adas   = Principal{ID: "token:adas", Email: "ada@example.com", Lineage: bob.Descent()}
	bobs   = Principal{ID: "token:bobs", Email: "bob@example.com", Lineage: bob.Descent()}
	second = Principal{ID: "token:second", Lineage: bare.Descent()} // made by the bare token
	third  = Principal{ID: "token:third", Lineage: second.Descent()}
	byAdas = Principal{ID: "token:by-adas", Lineage: adas.Descent()} // made through the token that she stands behind
	root   = Principal{ID: "token:root"}
	left   = Principal{ID: "token:left", Lineage: root.Descent()}
	right  = Principal{ID: "token:right", Lineage: root.Descent()}
)

func TestFourEyes(t *testing.T) {
	tests := []struct {
		name           string
		asked, decides Principal
		allowed        bool
	}{
		{"the same user", ada, ada, false},
		{"the same token", bare, bare, false},
		{"another user", ada, bob, true},
		{"the user behind the token that asked", adas, ada, false},
		{"a token that the asking user stands behind", ada, adas, false},
		{"two tokens of one user", adas, Principal{ID: "token:other", Email: "ada@example.com"}, false},
		{"tokens of two users", adas, bobs, true},
		{"a token that the asking user made", ada, bare, false},
		{"the user who made the token that asked, and does not stand behind it", bare, ada, true},
		{"a token that the asking token made", bare, second, false},
		{"a token made by one that the asking token made", bare, third, false},
		{"a token made by one that the asking user made", ada, second, false},
		{"the token that made the one that asked", second, bare, true},
		{"a token made through one that the asking user stands behind", ada, byAdas, false},
		{"the bootstrap token and one of its tokens, asked by the first", root, left, false},
		{"the bootstrap token decides for one of its tokens", left, root, true},
		{"two tokens of one maker", left, right, true},
		{"unrelated tokens", bare, right, true},
		{"nobody behind either is not the same user", Principal{ID: "token:a"}, Principal{ID: "token:b"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := FourEyes(test.decides, test.asked.Requester())
			if (err == nil) != test.allowed || err != nil && countersign.ErrorCode(err) != countersign.CodeSelfApproval {
				t.Errorf("%s asked, %s decides: %v", test.asked.ID, test.decides.ID, err)
			}
		})
	}
}

// What a token remembers of its makers: each of them, and who stood behind.
func TestDescent(t *testing.T) {
	tests := []struct {
		maker Principal
		want  []string
	}{
		{ada, []string{"user:ada@example.com"}},
		{bare, []string{"token:bare", "user:ada@example.com"}},
		{adas, []string{"token:adas", "user:ada@example.com", "user:bob@example.com"}},
		{second, []string{"token:second", "token:bare", "user:ada@example.com"}},
	}
	for _, test := range tests {
		if got := test.maker.Descent(); !slices.Equal(got, test.want) {
			t.Errorf("a token of %s descends from %v, want %v", test.maker.ID, got, test.want)
		}
	}
}

// The user behind a token needs the role and the projects at the moment of the decision.
func TestWhoStandsBehindATokenMayThemselves(t *testing.T) {
	user := func(projects []string, roles ...countersign.Role) Principal {
		return Principal{ID: "user:ada@example.com", Email: "ada@example.com", Roles: roles, Projects: projects}
	}
	for _, test := range []struct {
		name string
		user Principal
		want countersign.Code
	}{
		{"an APPROVER", user(nil, countersign.RoleApprover), ""},
		{"one of both projects", user([]string{"acme-one", "acme-two"}, countersign.RoleApprover), ""},
		{"one of one project", user([]string{"acme-one"}, countersign.RoleApprover), countersign.CodeProjectScope},
		{"a VIEWER", user(nil, countersign.RoleViewer), countersign.CodeRoleRequired},
		{"an ADMIN", user(nil, countersign.RoleAdmin, countersign.RoleOperator), countersign.CodeRoleRequired},
		{"nothing any more", user(nil), countersign.CodeRoleRequired},
	} {
		if got := countersign.ErrorCode(MayThemselves(test.user, ReconcileRun, "acme-one", "acme-two")); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
