package test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// TestReplicasShareTheLimitsOnSigningIn: attempts at one replica count at the other.
func TestReplicasShareTheLimitsOnSigningIn(t *testing.T) {
	t.Parallel()
	database := harness.Set("STORE", pgtest.Database(t))
	replicas := []*harness.Server{harness.Start(t, database), harness.Start(t, database)}
	replicas[1].Admin = replicas[0].Admin
	submit := func(n int, path string, form url.Values) bool {
		return replicas[n%2].NewBrowser().Submit(path, form).Status != 429
	}
	codes := 0
	for n := range 12 {
		if submit(n, "/sign-in", url.Values{"email": {"ada@example.com"}}) {
			codes++
		}
	}
	if codes < 5 || codes >= 2*5 { // one more in each three minutes that it took
		t.Errorf("%d codes for one address instead of 5", codes)
	}
	tries := 0
	for n := range 50 {
		if submit(n, "/sign-in/code", url.Values{"email": {"ada@example.com"}, "code": {fmt.Sprintf("%08d", n)}}) {
			tries++
		}
	}
	if tries < 20 || tries >= 2*20 { // one more in each half minute that it took
		t.Errorf("%d tries from one address instead of 20", tries)
	}
}
