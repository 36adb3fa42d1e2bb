package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// played is a transport that answers without a network, so that time can be virtual.
type played func(*http.Request) (*http.Response, error)

func (p played) RoundTrip(r *http.Request) (*http.Response, error) { return p(r) }

func answer(status int, kind, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}
}

func withTransport(t *testing.T, p played) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{BaseURL: "https://countersign.example.com", Token: "t", HTTP: &http.Client{Transport: p}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func event(revision int, status string) string {
	return fmt.Sprintf("id: %d\nevent: run\ndata: %s\n\n", revision, state(revision, status))
}

func state(revision int, status string) string {
	return fmt.Sprintf(`{"id":"r","revision":%d,"status":%q,"steps":[]}`, revision, status)
}

// statuses watches a run to its end and returns its statuses.
func statuses(t *testing.T, c *client.Client) (seen []string) {
	t.Helper()
	for r, err := range c.WatchRun(t.Context(), "r") {
		if err != nil {
			return append(seen, err.Error())
		}
		seen = append(seen, fmt.Sprintf("%d %s", r.Revision, r.Status))
	}
	return seen
}

func TestAStreamThatBreaksIsTakenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := []string{event(1, "READY") + event(2, "RUNNING"), event(2, "RUNNING") + ": still here\n\n" + event(4, "RUNNING") + "data: {\"cut", event(5, "COMPLETED")}
		c := withTransport(t, func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/events") {
				return answer(200, "application/json", state(3, "RUNNING")), nil
			}
			next := streams[0]
			streams = streams[1:]
			return answer(200, "text/event-stream", next), nil
		})
		want := "[1 READY 2 RUNNING 3 RUNNING 4 RUNNING 5 COMPLETED]"
		if got := fmt.Sprint(statuses(t, c)); got != want {
			t.Errorf("saw %s; expected %s", got, want)
		}
	})
}

func TestWithoutStreamsARunIsPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams, polls, began := 0, 0, time.Now()
		c := withTransport(t, func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				streams++
				return answer(200, "text/html", "<html>"), nil
			}
			polls++
			if time.Since(began) < time.Minute {
				return answer(200, "application/json", state(2, "RUNNING")), nil
			}
			return answer(200, "application/json", state(3, "FAILED")), nil
		})
		if got := fmt.Sprint(statuses(t, c)); got != "[2 RUNNING 3 FAILED]" {
			t.Errorf("saw %s", got)
		}
		if streams != 3 || polls > 30 {
			t.Errorf("%d streams and %d polls in a minute", streams, polls)
		}
	})
}

// silent is a stream on which nothing arrives until it is closed.
type silent struct {
	ctx context.Context
}

func (s *silent) Read([]byte) (int, error) { <-s.ctx.Done(); return 0, context.Cause(s.ctx) }
func (s *silent) Close() error             { return nil }

func TestAStreamThatFellSilentIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := withTransport(t, func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				res := answer(200, "text/event-stream", "")
				res.Body = &silent{ctx: r.Context()}
				return res, nil
			}
			return answer(200, "application/json", state(9, "COMPLETED")), nil
		})
		if got := fmt.Sprint(statuses(t, c)); got != "[9 COMPLETED]" || time.Since(began) > time.Minute {
			t.Errorf("saw %s after %s", got, time.Since(began))
		}
	})
}

func TestARefusalEndsTheWatching(t *testing.T) {
	asked := 0
	c := withTransport(t, func(*http.Request) (*http.Response, error) {
		asked++
		return answer(404, "application/json", `{"error":"not_found","message":"there is no run r","requestId":"r-1"}`), nil
	})
	_, err := c.WaitRun(t.Context(), "r")
	if !errors.Is(err, client.ErrNotFound) || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := withTransport(t, func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				return nil, errors.New("no streams here")
			}
			return answer(200, "application/json", state(1, "WAITING_APPROVAL")), r.Context().Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := c.WaitRun(ctx, "r"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// TestHeartbeatsGoOnWhateverHappens: about every 30 seconds, with increasing sequence numbers.
func TestHeartbeatsGoOnWhateverHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sequences []int64
		c := withTransport(t, func(r *http.Request) (*http.Response, error) {
			var beat countersign.Heartbeat
			var text []byte
			if r.Body != nil {
				text, _ = io.ReadAll(r.Body)
			}
			if err := json.Unmarshal(text, &beat); err != nil && r.Method == http.MethodPost {
				t.Error(err)
			}
			if r.Method == http.MethodGet {
				return answer(200, "application/json", `{"instances":[{"instanceId":"i","sequence":9000000000000}]}`), nil
			}
			sequences = append(sequences, beat.Sequence)
			switch len(sequences) {
			case 3:
				return nil, errors.New("the network is down")
			case 1:
				return answer(409, "application/json", `{"error":"sequence_conflict","message":"m","requestId":"r"}`), nil
			}
			return answer(200, "application/json", `{"acknowledged":true}`), nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		failures := 0
		err := c.KeepAlive(ctx, client.KeepAlive{AgentID: "a", InstanceID: "i", Failed: func(error) { failures++ }})
		if err != nil || sequences[1] != 9000000000001 {
			t.Errorf("%v; after the conflict it went on with %d", err, sequences[1])
		}
		if len(sequences) < 9 || len(sequences) > 12 || failures != 2 {
			t.Errorf("%d beats and %d failures in five minutes", len(sequences), failures)
		}
		for i := 1; i < len(sequences); i++ {
			if sequences[i] <= sequences[i-1] {
				t.Errorf("the sequence fell from %d to %d", sequences[i-1], sequences[i])
			}
		}
	})
}
