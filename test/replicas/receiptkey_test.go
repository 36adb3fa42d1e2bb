package replicas

import (
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// TestReplicasThatStartAtOnceShareOneKeyOfReceipts: each publishes the one that was made first.
func TestReplicasThatStartAtOnceShareOneKeyOfReceipts(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	var servers [count]*harness.Server
	var all sync.WaitGroup
	for i := range servers {
		s := harness.Prepare(t, harness.Set("STORE", database), harness.Set("BOOTSTRAP_TOKEN", bootstrap))
		s.Admin = s.As(bootstrap)
		servers[i] = s
		all.Go(func() { s.Restart() })
	}
	all.Wait()
	keys := servers[0].Admin.Get("/integrations/contract").OK(t).At("receiptKeys")
	if n := len(keys.Items()); n != 1 {
		t.Fatalf("there are %d keys: %s", n, keys)
	}
	for _, s := range servers[1:] {
		s.Admin.Get("/integrations/contract").OK(t).Is(t, "receiptKeys", keys)
	}
	servers[0].Admin.Get("/audit?realm=true&action=receipts.make_key").OK(t).Is(t, "total", 1)
}
