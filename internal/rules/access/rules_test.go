package access

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/golden"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// people are the principals that the table asks for.
var people = []struct {
	name string
	Principal
}{
	{"ADMIN", Principal{Roles: admin}},
	{"OPERATOR", Principal{Roles: operator}},
	{"APPROVER", Principal{Roles: approver}},
	{"VIEWER", Principal{Roles: []countersign.Role{countersign.RoleViewer}}},
	{"no role", Principal{}},
	{"all, limited", Principal{Roles: slices.Concat(admin, operator, approver), Projects: []string{"acme-shop"}}},
	{"all, DRY_RUN", Principal{Roles: slices.Concat(admin, operator, approver), Modes: []string{countersign.ModeDryRun}}},
	{"realm alone", Principal{Realm: true}},
	{"realm, limited", Principal{Realm: true, Roles: admin, Projects: []string{}}},
	{"by a link", Principal{ID: "user:bob@example.com", Email: "bob@example.com", Realm: true, Roles: slices.Concat(admin, operator, approver), Lineage: []string{"token:root"}}},
	{"an agent's", Principal{Roles: operator, Agents: []string{"acme-shop.clerk"}}},
	{"reads metrics", Principal{Reads: []countersign.Reading{countersign.ReadsMetrics}}},
	{"reads all", Principal{Reads: countersign.Readings, Realm: true, Roles: slices.Concat(admin, operator, approver)}}, // only its readings count
	{"all, agent's", Principal{Realm: true, Roles: slices.Concat(admin, operator, approver), Agents: []string{"acme-shop.clerk"}}},
}

// TestTableOfOperations writes down who may ask for what, to be read as a diff.
func TestTableOfOperations(t *testing.T) {
	var b strings.Builder
	b.WriteString("Who may ask for which operation: yes, or why not. Written by go test ./internal/rules/access -update; read the diff.\n\n")
	fmt.Fprintf(&b, "%-30s", "operation")
	for _, p := range people {
		fmt.Fprintf(&b, " | %-13s", p.name)
	}
	for _, op := range slices.Sorted(maps.Keys(rules)) {
		kind := " (read)"
		if IsWrite(op) {
			kind = " (write)"
		}
		fmt.Fprintf(&b, "\n%-30s", string(op)+kind)
		for _, p := range people {
			fmt.Fprintf(&b, " | %-13s", verdict(p.Principal, op))
		}
	}
	b.WriteByte('\n')
	file := filepath.Join("testdata", "operations.txt")
	golden.Want(t, file, b.String(), *update)
}

func verdict(p Principal, op Operation) string {
	if err := Allow(p, op); err != nil {
		return string(countersign.ErrorCode(err))
	}
	return "yes"
}

// A limit to both modes is none, and one to either keeps out.
func TestWhoeverHasOneModeAloneAddsNoUser(t *testing.T) {
	for _, test := range []struct {
		modes []string
		may   bool
	}{{nil, true}, {[]string{"LIVE", "DRY_RUN"}, true}, {[]string{"DRY_RUN"}, false}, {[]string{"LIVE"}, false}, {[]string{}, false}} {
		err := Allow(Principal{Roles: admin, Modes: test.modes}, WriteUser)
		if (err == nil) != test.may || err != nil && countersign.ErrorCode(err) != countersign.CodeRoleRequired {
			t.Errorf("%q: %v", test.modes, err)
		}
	}
}

func TestOperationWithoutRuleIsRefused(t *testing.T) {
	everything := Principal{Realm: true, Roles: slices.Concat(admin, operator, approver)}
	if code := countersign.ErrorCode(Allow(everything, "runs.forge")); code != countersign.CodeRoleRequired {
		t.Errorf("%q", code)
	}
}

func TestRolesOfAnOperation(t *testing.T) {
	if roles, realm := RolesFor(DecideApproval); !slices.Equal(roles, approver) || realm {
		t.Errorf("%v, realm %v", roles, realm)
	}
	if roles, realm := RolesFor(WriteTenant); roles != nil || !realm {
		t.Errorf("%v, realm %v", roles, realm)
	}
}

func TestScope(t *testing.T) {
	tests := []struct {
		name     string
		projects []string
		asked    []string
		reaches  bool
	}{
		{"no limit reaches all", nil, []string{"acme-shop", "acme-crm"}, true},
		{"all of them are own", []string{"acme-shop", "acme-crm"}, []string{"acme-crm", "acme-shop"}, true},
		{"one is not", []string{"acme-shop"}, []string{"acme-shop", "acme-crm"}, false},
		{"a prefix is not the project", []string{"acme-shop"}, []string{"acme-shop-2"}, false},
		{"limited to none", []string{}, []string{"acme-shop"}, false},
		{"nothing is asked", []string{}, nil, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := InScope(Principal{Projects: test.projects}, test.asked...)
			if (err == nil) != test.reaches || err != nil && countersign.ErrorCode(err) != countersign.CodeProjectScope {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestTokenOfOneModeStartsThatModeOnly(t *testing.T) {
	both, rehearsal := Principal{}, Principal{Modes: []string{countersign.ModeDryRun}}
	if Mode(both, countersign.ModeLive) != nil || Mode(both, countersign.ModeDryRun) != nil || Mode(rehearsal, countersign.ModeDryRun) != nil {
		t.Error("refused what is allowed")
	}
	if code := countersign.ErrorCode(Mode(rehearsal, countersign.ModeLive)); code != countersign.CodeRoleRequired {
		t.Errorf("%q", code)
	}
}

func TestSystemHasNoRole(t *testing.T) {
	p := System("acme")
	if p.ID != countersign.SystemPrincipal || p.Tenant != "acme" || Allow(p, ReadRuns) == nil {
		t.Errorf("%+v", p)
	}
}
