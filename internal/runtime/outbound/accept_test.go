package outbound

import (
	"strings"
	"testing"
	"time"
)

// TestAProjectsAcceptStandsInPlaceOfTheRuntimes: once, and only a JSON media type.
func TestAProjectsAcceptStandsInPlaceOfTheRuntimes(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"accept", "application/vnd.x+json;version=2", "accept: application/vnd.x+json;version=2"},
		{"X-Other", "1", "Accept: application/json"},
	} {
		fixed, err := fixedHeaders(map[string]string{test.name: test.value})
		if err != nil {
			t.Fatal(err)
		}
		m := message{method: "GET", target: "/", headers: fixed}
		text := string(m.append(nil, time.Unix(0, 0), "test"))
		if n := strings.Count(strings.ToLower(text), "\r\naccept: "); n != 1 || !strings.Contains(text, "\r\n"+test.want+"\r\n") {
			t.Errorf("%s: %d times: %s", test.name, n, text)
		}
	}
	if _, err := fixedHeaders(map[string]string{"Accept": "text/html"}); err == nil {
		t.Error("another media type is sent")
	}
	if _, err := fixedHeaders(map[string]string{"Accept-Encoding": "gzip"}); err == nil {
		t.Error("compression is asked for")
	}
}
