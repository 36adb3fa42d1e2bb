package simulation

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/campaign"
)

var onPostgres = campaign.SizeFlag("postgres", 2, 20, "how many seeds to play on PostgreSQL")

func TestMain(m *testing.M) { os.Exit(pgtest.M{M: m}.Run()) }

// TestSimulationOnPostgreSQL plays seeds on a database. Virtual time doesn't advance while a goroutine reads from a socket, since that
// doesn't count as blocked in synctest.
func TestSimulationOnPostgreSQL(t *testing.T) {
	total, first := &tally{}, from.First(t)
	for shard := range min(shards, onPostgres.N()) {
		t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t)
			makeTables(t, url)
			for i := shard; i < onPostgres.N() && !t.Failed(); i += shards {
				playOn(t, url, first+uint64(i), total)
			}
		})
	}
	t.Cleanup(func() { t.Log(total) })
}

func makeTables(t *testing.T, url string) {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// playOn plays a seed on an emptied database.
func playOn(t *testing.T, url string, seed uint64, total *tally) {
	t.Helper()
	var empty []string
	for _, table := range store.Tables() {
		empty = append(empty, "DELETE FROM "+table.Name)
	}
	pgtest.Exec(t, url, strings.Join(empty, "; "))
	synctest.Test(t, func(t *testing.T) {
		rows, err := postgres.Open(background(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
		}()
		s := newSim(t, seed)
		s.disk.rows = rows
		s.run(*steps)
		total.add(s)
	})
}
