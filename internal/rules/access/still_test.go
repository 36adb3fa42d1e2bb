package access_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
)

// TestWhoLostSomethingWhileTheirRequestWasUnderWayIsToldSo; who gained something goes on.
func TestWhoLostSomethingWhileTheirRequestWasUnderWayIsToldSo(t *testing.T) {
	roles := func(r ...countersign.Role) access.Principal { return access.Principal{Roles: r} }
	const (
		role  = "role_required: your roles were changed while this request was under way; nothing was done, send it again if you may still ask for it"
		scope = "project_scope: the projects that you may see were changed while this request was under way; nothing was done, send it again if you may still ask for it"
	)
	for _, c := range []struct {
		then, now access.Principal
		want      string
	}{
		{roles("OPERATOR"), roles("OPERATOR"), ""},
		{roles("OPERATOR"), roles("ADMIN", "OPERATOR"), ""},
		{roles("ADMIN", "OPERATOR"), roles("OPERATOR"), role},
		{access.Principal{Realm: true}, access.Principal{}, role},
		{access.Principal{Projects: []string{"a"}}, access.Principal{}, ""},
		{access.Principal{}, access.Principal{Projects: []string{"a"}}, scope},
		{access.Principal{Projects: []string{"a", "b"}}, access.Principal{Projects: []string{"a"}}, scope},
		{access.Principal{Modes: []string{"DRY_RUN", "LIVE"}}, access.Principal{Modes: []string{"DRY_RUN"}}, role},
	} {
		got := ""
		if err := access.Still(c.then, c.now); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v, now %+v: %q, want %q", c.then, c.now, got, c.want)
		}
	}
}
