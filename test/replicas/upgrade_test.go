package replicas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/campaign"
)

// addition is the migration of the newer release.
const addition = `
ALTER TABLE runs ADD COLUMN remark TEXT COLLATE "C" NOT NULL DEFAULT 'none';
CREATE INDEX runs_remark ON runs (tenant, remark, id);
CREATE TABLE remarks (tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, doc TEXT NOT NULL, PRIMARY KEY (tenant, id));
`

// buildNewer builds the same sources with one more migration as an overlay.
func buildNewer(dir string) (program string, err error) {
	migrations, err := filepath.Abs("../../internal/storage/postgres/migrations")
	if err != nil {
		return "", err
	}
	laid, overlay := filepath.Join(dir, "addition.sql"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(laid, []byte(addition), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(migrations, "99999_addition.sql"): laid}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	return campaign.Program(dir, "newer", "-overlay", overlay)
}

// TestARollingUpgradeFailsNoRequest except those that a client repeats: after a 503, or a refused connection to a stopping replica. The
// migration runs under load; an older replica that restarts beside the newer ones, and a roll-back, use the newer tables.
func TestARollingUpgradeFailsNoRequest(t *testing.T) {
	t.Parallel()
	newer, err := buildNewer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := assemble(t, pgtest.Database(t))
	f.load(func() {
		f.more(some.N())
		f.replace(0, newer)
		f.replace(1, "")
		f.replace(1, newer)
		f.replace(2, newer)
		if got, err := pgtest.Ask(f.database, "SELECT COUNT(*)::text FROM runs WHERE remark <> 'none'"); err != nil || got != "0" {
			t.Errorf("after the migration: %q, %v", got, err)
		}
		f.replace(0, "")
	})
	if uncertain := f.settled(); uncertain > 0 {
		t.Errorf("%d runs wait for a person", uncertain)
	}
	f.mustLive()
	f.mustNot("internal", unheard)
}

// replace stops a replica as an operator does, and starts that program in its place.
func (f *fleet) replace(place int, program string) {
	f.t.Helper()
	f.at(place).Stop()
	f.fill(place, program)
	f.more(some.N())
}
