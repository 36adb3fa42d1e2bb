package control_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// oldStore is a store as a release without bindings left it.
type oldStore struct {
	t     *testing.T
	store store.Store
	log   bytes.Buffer
}

func newOldStore(t *testing.T, tenants ...string) *oldStore {
	t.Helper()
	o := &oldStore{t: t, store: rerun.Always(memory.New())}
	o.update(func(tx store.Tx) error {
		for _, id := range tenants {
			if _, err := records.Tenants.Put(tx, store.Realm, id, &countersign.Tenant{ID: id, Revision: 1}, 0); err != nil {
				return err
			}
		}
		return nil
	})
	return o
}

func (o *oldStore) update(fn func(tx store.Tx) error) {
	o.t.Helper()
	if err := o.store.Update(background, fn); err != nil {
		o.t.Fatal(err)
	}
}

// project registers an enabled, healthy project of that day, whose id begins with its
// tenant's; an earlier revision of it used another variable.
func (o *oldStore) project(id string, day int, name string) {
	o.t.Helper()
	tenant, _, _ := strings.Cut(id, "-")
	o.update(func(tx store.Tx) error {
		h := &records.ProjectHead{ID: id, Revision: 2, Enabled: true, CreatedAt: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC), Health: &countersign.HealthCheck{Healthy: true, Revision: 2}}
		for revision, env := range map[int64]string{1: "EARLIER", 2: name} {
			p := &countersign.Project{ID: id, Revision: revision, BaseURL: "https://api.example.com", Auth: countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: env})}
			if _, err := records.ProjectRevisions.Put(tx, tenant, records.RevisionID(id, revision), p, 0); err != nil {
				return err
			}
		}
		_, err := records.Projects.Put(tx, tenant, id, h, 0)
		return err
	})
}

// start is the first thing that a start of this release does, with these entries.
func (o *oldStore) start(entries ...string) *control.Service {
	o.t.Helper()
	lists := credential.Lists{}
	for _, text := range entries {
		e, err := credential.ParseEntry(text)
		if err != nil {
			o.t.Fatal(err)
		}
		lists.General = append(lists.General, e)
	}
	allowed := project.Allowed{Credentials: lists, SecretBytes: func(string) int { return 32 }, Origins: []string{"https://api.example.com"}}
	n := 0
	s := control.New(control.Config{Allowed: allowed, Now: func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) }, Metrics: telemetry.NewMetrics("test"),
		NewID: func(kind string) string { n++; return fmt.Sprint(kind, "-", n) }}, o.store, nil, noDriver{}, nil, healthyProber{}, slog.New(slog.NewTextHandler(&o.log, nil)))
	if err := s.BindCredentials(context.Background()); err != nil {
		o.t.Fatal(err)
	}
	return s
}

// owners says whose each variable is.
func (o *oldStore) owners() (list []string) {
	o.t.Helper()
	o.update(func(tx store.Tx) error {
		list = nil
		all, err := records.AllCredentials(tx)
		for _, c := range all {
			list = append(list, c.Name+" "+c.TenantID)
		}
		return err
	})
	return list
}

func (o *oldStore) enabled(ids ...string) (list []string) {
	o.t.Helper()
	o.update(func(tx store.Tx) error {
		list = nil
		for _, id := range ids {
			tenant, _, _ := strings.Cut(id, "-")
			h, _, err := records.Projects.Get(tx, tenant, id)
			if err != nil {
				return err
			}
			if h.Enabled != (h.Health != nil) || h.Revision != 2 {
				o.t.Errorf("%s: enabled %v, health %v, revision %d", id, h.Enabled, h.Health, h.Revision)
			}
			if h.Enabled {
				list = append(list, id)
			}
		}
		return nil
	})
	return list
}

// TestTheFirstStartBindsEachVariableToItsOldestProjectsTenant, and disables what others
// have of it: once, audited, and named in the log.
func TestTheFirstStartBindsEachVariableToItsOldestProjectsTenant(t *testing.T) {
	all := []string{"acme-own", "acme-shared", "beta-shared", "beta-two", "gamma-gone"}
	for entries, want := range map[string]struct{ owners, enabled, named string }{
		"OWN SHARED":                      {"OWN acme, SHARED beta, UNLISTED gamma", "acme-own, beta-shared, beta-two, gamma-gone", "project/acme-shared"},
		"OWN acme/SHARED beta/SHARED":     {"OWN acme, UNLISTED gamma", "acme-own, acme-shared, beta-shared, beta-two, gamma-gone", ""},
		"acme/SHARED":                     {"OWN acme, UNLISTED gamma", "acme-own, acme-shared, gamma-gone", "project/beta-shared project/beta-two"},
		"SHARED@https://api.example.com":  {"OWN acme, SHARED beta, UNLISTED gamma", "acme-own, beta-shared, beta-two, gamma-gone", "project/acme-shared"},
		"SHARED SHARED@https://elsewhere": {"OWN acme, SHARED beta, UNLISTED gamma", "acme-own, beta-shared, beta-two, gamma-gone", "project/acme-shared"},
	} {
		t.Run(entries, func(t *testing.T) {
			o := newOldStore(t, "acme", "beta", "gamma")
			o.project("acme-own", 3, "OWN")
			o.project("acme-shared", 2, "SHARED")
			o.project("beta-shared", 1, "SHARED")
			o.project("beta-two", 4, "SHARED")
			o.project("gamma-gone", 1, "UNLISTED")
			for range 2 {
				o.start(strings.Fields(entries)...)
				if got := strings.Join(o.owners(), ", "); got != want.owners {
					t.Errorf("bound: %s; expected %s", got, want.owners)
				}
				if got := strings.Join(o.enabled(all...), ", "); got != want.enabled {
					t.Errorf("enabled: %s; expected %s", got, want.enabled)
				}
			}
			for _, id := range all {
				subject := "project/" + id
				if named := strings.Contains(o.log.String(), subject+" "); named != slices.Contains(strings.Fields(want.named), subject) {
					t.Errorf("%s in the log: %v\n%s", subject, named, o.log.String())
				}
			}
			if got := len(o.records(store.Realm, "credentials.bind")); got != len(o.owners()) {
				t.Errorf("%d bindings audited", got)
			}
			if got := len(o.records("acme", "projects.toggle")) + len(o.records("beta", "projects.toggle")); got != len(strings.Fields(want.named)) {
				t.Errorf("%d disablings audited", got)
			}
		})
	}
}

func (o *oldStore) records(log, action string) (list []countersign.AuditRecord) {
	o.t.Helper()
	o.update(func(tx store.Tx) error {
		page, err := audit.List(tx, log, audit.Filter{Action: action}, 100, 0)
		list = page.Items
		return err
	})
	return list
}

// TestALaterStartDisablesNothing: what the lists no longer allow is held back call by
// call, and named.
func TestALaterStartDisablesNothing(t *testing.T) {
	o := newOldStore(t, "acme", "beta")
	o.project("acme-a", 1, "SHARED")
	o.project("beta-b", 2, "SHARED")
	o.start("acme/SHARED", "beta/SHARED")
	o.log.Reset()
	o.start("acme/SHARED")
	if got := o.enabled("acme-a", "beta-b"); len(got) != 2 {
		t.Errorf("enabled: %v", got)
	}
	if log := o.log.String(); !strings.Contains(log, "project/beta-b ") || strings.Contains(log, "project/acme-a ") {
		t.Error(log)
	}
}
