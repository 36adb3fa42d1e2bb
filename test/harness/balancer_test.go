package harness

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// named starts a replica that answers with its name, and returns its address.
func named(t *testing.T, name string) (s *httptest.Server, address string) {
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, name+string(text))
	}))
	t.Cleanup(s.Close)
	return s, strings.TrimPrefix(s.URL, "http://")
}

// TestTheBalancerSendsEachRequestToTheNextReplica though the client keeps its connections, and to the one after it if that replica is gone.
func TestTheBalancerSendsEachRequestToTheNextReplica(t *testing.T) {
	t.Parallel()
	b := newBalancer(t)
	defer func() { _ = b.listener.Close() }()
	a, at := named(t, "a")
	_, bt := named(t, "b")
	_, ct := named(t, "c")
	b.serve([]string{at, bt, ct})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	asked := func(times int) (answers string) {
		for range times {
			res, err := client.Post(b.url, "text/plain", strings.NewReader("!"))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			answers += string(text)
		}
		return answers
	}
	if got := asked(6); got != "b!c!a!b!c!a!" {
		t.Errorf("answered by %s", got)
	}
	a.Close()
	if got := asked(4); strings.Contains(got, "a") || !strings.Contains(got, "b") || !strings.Contains(got, "c") {
		t.Errorf("without the first, answered by %s", got)
	}
}
