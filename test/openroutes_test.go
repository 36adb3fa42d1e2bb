package test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// held sends the beginning of a POST of a mebibyte and waits for the answer, which must come although the rest is never sent.
func held(t *testing.T, s *harness.Server, path, cookie string, sent int) int {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil { // a net
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "POST /console%s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\n%sContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\nemail=%s",
		path, at.Host, s.URL, cookie, 1<<20, strings.Repeat("a", sent-len("email=")))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: no answer to %d bytes of a mebibyte: %v", path, sent, err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

// TestAnOpenRouteReadsAtMost8KiBOfAStranger: a signed-in user may send forms of a mebibyte. Without a session at most 8 KiB are read, since
// many open requests must not fill the memory.
func TestAnOpenRouteReadsAtMost8KiBOfAStranger(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for path, want := range map[string]int{
		"/sign-in": 413, "/sign-in/code": 413, "/setup": 413, "/settings/theme": 413,
		"/sign-out": 401, "/approvals/apr-1/decision": 401, "/models/m": 401, "/nowhere": 401,
	} {
		for _, cookie := range []string{"", "Cookie: countersign=" + strings.Repeat("0", 64) + "\r\n"} {
			if got := held(t, s, path, cookie, 8<<10+1); got != want {
				t.Errorf("%s: %d", path, got)
			}
		}
	}
	fits := url.Values{"email": {strings.Repeat("a", 8000)}}
	if p := s.NewBrowser().Submit("/sign-in", fits); p.Status != 400 {
		t.Errorf("a form that is small enough: %d", p.Status)
	}
	anybody := s.As("")
	for _, path := range []string{"/health", "/openapi.json"} {
		anybody.Do("GET", path, strings.Repeat("a", 8<<10+1)).Refused(t, "payload_too_large")
		anybody.Do("GET", path, strings.Repeat("a", 8<<10-2)).OK(t)
	}
}
