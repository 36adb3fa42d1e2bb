package access

import (
	"slices"
	"testing"

	"github.com/countersign/countersign"
)

var everyRole = slices.Concat(admin, operator, approver)

// TestAReadingTokenReachesWhatTheTableNamesAndNothingElse goes over every operation: even with every
// role beside it, a reading token has its readings and its own renewal.
func TestAReadingTokenReachesWhatTheTableNamesAndNothingElse(t *testing.T) {
	reach := map[countersign.Reading][]Operation{
		countersign.ReadsMetrics: {ReadMetrics, RenewToken}, countersign.ReadsAudit: {ReadAudit, RenewToken}, countersign.ReadsRealm: {RenewToken},
	}
	for op := range rules {
		for _, reading := range countersign.Readings {
			p := Principal{ID: "token:t", Roles: everyRole, Realm: true, Reads: []countersign.Reading{reading}}
			err := Allow(p, op)
			if wanted := slices.Contains(reach[reading], op); (err == nil) != wanted || err != nil && countersign.ErrorCode(err) != countersign.CodeRoleRequired {
				t.Errorf("%s by what reads %s: %v; expected %v", op, reading, err, wanted)
			}
		}
		p := Principal{ID: "token:t", Roles: everyRole, Realm: true, Reads: []countersign.Reading{}}
		if err := Allow(p, op); countersign.ErrorCode(err) != countersign.CodeRoleRequired {
			t.Errorf("%s by a reading token whose maker is no ADMIN any more: %v", op, err)
		}
	}
	for _, r := range rules {
		if r.reading != "" && (r.write || !slices.Equal(r.roles, admin)) {
			t.Errorf("a reading token reads by its maker's role ADMIN, and writes nothing: %+v", r)
		}
	}
}

func TestNobodyElseRenewsAToken(t *testing.T) {
	for _, p := range people {
		if err := Allow(p.Principal, RenewToken); (err == nil) != p.ReadsOnly() {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

func TestARealmAdministratorGivesTheRealmsReadings(t *testing.T) {
	const acme = "acme"
	here := Principal{Tenant: acme, Roles: admin}
	realm := Principal{Tenant: "default", Roles: admin, Realm: true}
	all := countersign.Readings
	tenants := []countersign.Reading{countersign.ReadsMetrics, countersign.ReadsAudit}
	for _, c := range []struct {
		name  string
		maker []Principal
		want  []countersign.Reading
	}{
		{"nobody any more", nil, nil},
		{"an ADMIN of the tenant", []Principal{here}, tenants},
		{"a realm administrator", []Principal{realm}, all},
		{"an ADMIN of the tenant who is a realm administrator in default", []Principal{here, realm}, all},
		{"an ADMIN of another tenant", []Principal{{Tenant: "default", Roles: admin}}, nil},
		{"who is limited to projects", []Principal{{Tenant: acme, Roles: admin, Projects: []string{"acme-shop"}}}, nil},
		{"an OPERATOR", []Principal{{Tenant: acme, Roles: operator}}, nil},
		{"a realm administrator without a role", []Principal{{Tenant: "default", Realm: true}}, nil},
		{"a reading token", []Principal{{Tenant: acme, Roles: admin, Reads: all}}, nil},
	} {
		if got := StillReads(all, acme, c.maker...); !slices.Equal(got, c.want) || got == nil {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTheRealmIsReadByItsAdministratorsAndWhatTheyMadeForIt(t *testing.T) {
	reading := func(r ...countersign.Reading) Principal {
		return Principal{Reads: append([]countersign.Reading{}, r...)}
	}
	const (
		only = "role_required: this token reads the audit log, and renews itself; the realm's needs one that a realm administrator makes for it"
		more = "role_required: this token reads the figures and the audit log, and renews itself; anything else needs another token"
		lost = "role_required: this token reads by the role ADMIN of whoever made it, who doesn't have it in the whole tenant any more"
	)
	for _, c := range []struct {
		err  error
		want string
	}{
		{RealmToo(Principal{Realm: true, Roles: admin}), ""},
		{RealmToo(Principal{Roles: admin}), "role_required: this needs a realm administrator"},
		{RealmToo(reading(countersign.ReadsAudit, countersign.ReadsRealm)), ""},
		{RealmToo(reading(countersign.ReadsAudit)), only},
		{Allow(reading(countersign.ReadsMetrics, countersign.ReadsAudit), ReadRuns), more},
		{Allow(reading(), ReadMetrics), lost},
		{Allow(Principal{Roles: everyRole}, RenewToken), "role_required: only a reading token renews itself; make another one of any other kind"},
	} {
		got := ""
		if c.err != nil {
			got = c.err.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestAReadingTokenThatLostAReadingIsToldSo, in the turn that writes.
func TestAReadingTokenThatLostAReadingIsToldSo(t *testing.T) {
	both := Principal{Reads: []countersign.Reading{countersign.ReadsMetrics, countersign.ReadsRealm}}
	one := Principal{Reads: []countersign.Reading{countersign.ReadsMetrics}}
	if Still(both, both) != nil || Still(one, both) != nil || Still(both, one) == nil || Still(one, Principal{}) == nil {
		t.Error("what it had and has is not compared")
	}
}

// TestATokenLimitedToDryRunWritesRehearsalsAlone goes over every operation, with every role: reads and
// heartbeats as anybody else, writes where contract 12.7 names them.
func TestATokenLimitedToDryRunWritesRehearsalsAlone(t *testing.T) {
	dry := Principal{ID: "token:t", Roles: everyRole, Modes: []string{countersign.ModeDryRun}}
	both := Principal{ID: "token:t", Roles: everyRole}
	written := map[Operation]bool{
		WriteModel: true, WriteProject: true, // what doesn't exist yet: see Replace
		CompilePlan: true, CreatePlan: true, StartRun: true, StartProjectRun: true, StartAgentRun: true, StartTeamRun: true, // DRY_RUN: see Mode
		CancelRun: true, // of what it may start
	}
	for op, r := range rules {
		err, without := Allow(dry, op), Allow(both, op)
		switch {
		case without != nil:
			if err == nil {
				t.Errorf("%s: the limit opens it", op)
			}
		case !r.write && !r.everyMode, written[op]:
			if err != nil {
				t.Errorf("%s: %v", op, err)
			}
		case countersign.ErrorCode(err) != countersign.CodeRoleRequired:
			t.Errorf("%s: %v", op, err)
		}
	}
	for op := range rehearsals {
		if !written[op] {
			t.Errorf("%s is open to tokens limited to DRY_RUN", op)
		}
	}
}
