package background_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign/internal/storage/store"
)

// pass does all that a background pass has to do now, and gives the runs for which it was done,
// as tenant/run.
type pass func(w *world) []string

// passes are all that goes over the records of every tenant, by its name in the wiring.
var passes = map[string]pass{
	"retention":       (*world).archives,
	"indexing":        (*world).indexes,
	"remind":          (*world).reminds,
	"notify":          (*world).mails,
	"chat":            (*world).chats,
	"webhook":         (*world).notifies,
	"DropInstances":   (*world).dropsInstances,
	"CountModels":     (*world).countsModels,
	"MarkRuns":        (*world).marksRuns,
	"FoldAddresses":   (*world).foldsAddresses,
	"BindCredentials": (*world).looksAtCredentials,
	"NoticeUpgrade":   (*world).noticesUpgrade,
	"engine":          (*world).expires,
	"witnesses":       (*world).witnesses,
	"tokenends":       (*world).tellsOfTokens,
	"EndOthers":       (*world).endsSessions,
	"LapseChanges":    (*world).lapsesChanges,

	"TellOfBrokenGlass": (*world).tellsOfBrokenGlass,
}

// TestEachBackgroundPassIsPlayed: one that the wiring starts and that isn't here would be played
// with no damage.
func TestEachBackgroundPassIsPlayed(t *testing.T) {
	wiring, err := os.ReadFile("../../cmd/countersign/service.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, started := range regexp.MustCompile(`s\.start\((\w+)\.New|s\.start\(s\.(\w+)\)|periodic\.Start\([^\n]*s\.control\.(\w+)\)|s\.control\.(\w+)\(ctx\)|s\.(engine)\.Start`).FindAllStringSubmatch(string(wiring), -1) {
		name := strings.Join(started[1:], "")
		if name == "EnsureReceiptKey" || name == "EnsureLogKey" { // the installation's own, of no tenant
			continue
		}
		if passes[name] == nil {
			t.Errorf("%s is started in the background, and isn't played beside damaged records", name)
		}
	}
}

// TestNoRecordOfOneTenantStopsAnother: each record that tenant acme has is damaged in turn.
// Tenant beta, which has the same, gets all that it gets beside a healthy acme. Of what rests on
// none of the records of acme's first run, acme gets all as well.
func TestNoRecordOfOneTenantStopsAnother(t *testing.T) {
	for name, does := range passes {
		t.Run(name, func(t *testing.T) {
			var places []place
			var want []string
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				places = w.placesOf("acme")
				want = does(w)
			})
			if len(want) == 0 || len(places) < 20 {
				t.Fatalf("of %d records it does %q", len(places), want)
			}
			for _, p := range places {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					w.damage(p)
					got := does(w)
					for _, run := range want {
						rests := strings.HasPrefix(run, "acme/") && (!p.ofFirst || strings.HasSuffix(run, "1"))
						if !rests && !slices.Contains(got, run) {
							t.Errorf("with %s %s damaged it does %q, without %s", p.table.Name, p.id, got, run)
						}
					}
					w.wantToldOnce(func() { does(w) })
				})
			}
		})
	}
}

// place is a record of a tenant. ofFirst says that it belongs to the tenant's first run.
type place struct {
	table      *store.Table
	tenant, id string
	ofFirst    bool
}

// placesOf are all records of a tenant, those that are kept under the realm among them.
func (w *world) placesOf(tenant string) (out []place) {
	first := w.recordsOfFirst(tenant)
	w.view(func(tx store.Tx) error {
		for _, t := range store.Tables() {
			for _, of := range []string{tenant, store.Realm} {
				rows, err := tx.List(t, of, store.Query{})
				if err != nil {
					return err
				}
				for _, row := range rows {
					if of == tenant || t == store.Tenants && row.ID == tenant || strings.Contains(row.ID, "/"+tenant+"/") || strings.HasPrefix(row.ID, tenant+"/") {
						isFirst := slices.ContainsFunc(first, func(id string) bool { return strings.Contains(row.ID, id) })
						out = append(out, place{t, of, row.ID, isFirst})
					}
				}
			}
		}
		return nil
	})
	return out
}

func (w *world) damage(p place) {
	w.update(func(tx store.Tx) error {
		row, err := tx.Get(p.table, p.tenant, p.id)
		if err != nil {
			return err
		}
		row.Doc = []byte(`{"id":`)
		return tx.Put(p.table, p.tenant, row, row.Version)
	})
}

// wantToldOnce: a record that can't be read is named in the log once, however often it is met.
func (w *world) wantToldOnce(again func()) {
	again()
	told := map[string]int{}
	for line := range strings.Lines(w.log.String()) {
		if strings.Contains(line, "can't be read") {
			told[line]++
		}
	}
	for _, line := range slices.Sorted(maps.Keys(told)) {
		if told[line] > 1 {
			w.t.Errorf("told %d times: %s", told[line], line)
		}
	}
}
