package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// TestOfTwoProcessesUnderOneNameOneIsToldAndEnds: otherwise each would go on above the other for
// ever, and every heartbeat would be refused once.
func TestOfTwoProcessesUnderOneNameOneIsToldAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var last int64
		refused := 0
		c := withTransport(t, func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if r.Method == http.MethodGet {
				return answer(200, "application/json", fmt.Sprintf(`{"instances":[{"instanceId":"worker","sequence":%d}]}`, last)), nil
			}
			var beat countersign.Heartbeat
			if err := json.NewDecoder(r.Body).Decode(&beat); err != nil {
				t.Error(err)
			}
			if beat.Sequence <= last {
				refused++
				return answer(409, "application/json", `{"error":"sequence_conflict","message":"m","requestId":"r"}`), nil
			}
			last = beat.Sequence
			return answer(200, "application/json", `{"acknowledged":true}`), nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		ends := make([]error, 2)
		var all sync.WaitGroup
		for i := range ends {
			all.Go(func() { ends[i] = c.KeepAlive(ctx, client.KeepAlive{AgentID: "a", InstanceID: "worker"}) })
			time.Sleep(10 * time.Second) // synctest's virtual time
		}
		all.Wait()
		if !errors.Is(ends[0], client.ErrSequenceConflict) || !strings.Contains(fmt.Sprint(ends[0]), "another process beats as instance worker") || ends[1] != nil || refused != 1 {
			t.Errorf("the first ended with %v, the second with %v, after %d refused beats", ends[0], ends[1], refused)
		}
	})
}
