// Command history fills an unused store with as many finished runs as years of operation would; `make bench-history` measures
// a service on it. The product's own run repository, records and audit log write each run, some hundreds in a commit; only
// the calls are simulated.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/sqlite"
)

func main() {
	dir := flag.String("store", "", "directory of the store")
	tenant := flag.String("tenant", "default", "whose runs")
	plan := flag.String("plan", "", "id of a READY LIVE plan that asks for no approval")
	runs := flag.Int("runs", 1_000_000, "how many")
	over := flag.Duration("over", 2*365*24*time.Hour, "over which time until now they were made")
	flag.Parse()
	if err := fill(*dir, filler{tenant: *tenant, plan: *plan, runs: *runs, over: *over}); err != nil {
		log.Fatal("history: ", err)
	}
}

func fill(dir string, f filler) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, dir)
	if err != nil {
		return err
	}
	f.now = time.Now().Add(-f.over)
	f.ledger = runrepo.New(runrepo.Config{
		MaxActive: perCommit, ApprovalTTL: time.Hour, NewID: func(prefix string) string { return prefix + "-" + rand.Text() },
		OriginAllowed: func(string) bool { return true }, Now: func() time.Time { return f.now },
	})
	f.pause = f.over / time.Duration(f.runs)
	began := time.Now()
	for done := 0; done < f.runs; done += perCommit {
		if err := s.Update(ctx, f.commit(done)); err != nil {
			_ = s.Close()
			return err
		}
		if done%100_000 == 0 {
			fmt.Fprintf(os.Stderr, "%d runs after %s\n", done, time.Since(began).Round(time.Second))
		}
	}
	return s.Close()
}
