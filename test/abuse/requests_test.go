package abuse

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// TestOddRequestsEndSoonAndCostLittle: requests that no proper client sends are refused before the service
// closes an incomplete request, which it does after a minute; and the process needs no more memory
// afterwards.
func TestOddRequestsEndSoonAndCostLittle(t *testing.T) {
	t.Parallel()
	v := serve(t, 0)
	before := v.spent(t)
	grown, _ := v.resident(t)
	mebibyte := strings.Repeat("a", 1<<20)
	post := "POST /v1/models/refund/simulate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + v.operator.Token() + "\r\n"
	for _, odd := range []struct{ name, text, status string }{
		{"one header of 1 MiB", "GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Long: " + mebibyte + "\r\n\r\n", "431"},
		{"headers of 1 MiB", "GET /v1/health HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-Many: 1\r\n", 1<<20/11) + "\r\n", "431"},
		{"a path of 1 MiB", "GET /v1/" + mebibyte + " HTTP/1.1\r\nHost: x\r\n\r\n", "431"},
		{"a token of 60 KiB", "GET /v1/runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + mebibyte[:60<<10] + "\r\n\r\n", "401"},
		{"2,000 cookies", "GET /v1/runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: " + strings.Repeat("countersign=1; ", 2000) + "\r\n\r\n", "401"},
		{"no header's end", "GET /v1/health HTTP/1.1\r\nHost x\r\n\r\n", "400"},
		{"two lengths", post + "Connection: close\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400"},
		{"a length and chunks", post + "Connection: close\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", "501"},
		{"a chunk of -1", post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n", "400"},
		{"a chunk without end", post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n", "400"},
		{"a chunk's extension of 1 MiB", post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2;" + mebibyte + "\r\n{}\r\n0\r\n\r\n", "400"},
		{"two answers in one", "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: 12345678\tSet-Cookie: a=b\r\n\r\n", "200"},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", ""},
		{"another version", "GET /v1/health HTTP/3.0\r\nHost: x\r\n\r\n", "505"},
	} {
		incomplete, err := v.dial(post + "Content-Length: 2\r\n\r\n{")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := v.dial("")
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		go func() { _, _ = io.WriteString(conn, odd.text) }() // the service may close the connection
		answer, err := io.ReadAll(conn)
		_ = conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection was open after %s", odd.name, patience)
		}
		if !isOpen(incomplete) {
			t.Errorf("%s: an incomplete request that began before it ended before it", odd.name)
		}
		_ = incomplete.Close()
		if !strings.HasPrefix(string(answer), strings.TrimSuffix("HTTP/1.1 "+odd.status, " ")) && odd.status != "" || strings.Contains(string(answer), "Set-Cookie") {
			t.Errorf("%s: got %.300q", odd.name, answer)
		}
	}
	if after := v.spent(t); after.heap > before.heap+64<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before.heap, after.heap)
	}
	if after, _ := v.resident(t); after > grown+64*perByte {
		t.Errorf("the process grew from %d to %d MiB", grown, after)
	}
}

// isOpen reports whether a connection was neither answered nor closed.
func isOpen(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond)) // pending data arrives at once
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// TestACompressedBodyIsNotRead: the service decompresses nothing, so a small body can't become a large one.
func TestACompressedBodyIsNotRead(t *testing.T) {
	t.Parallel()
	v := serve(t, 0)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := fmt.Fprintf(w, `{"scenarioId":"small"%s}`, strings.Repeat(" ", 64<<20)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for _, encoding := range []string{"gzip", "deflate", "br", "gzip, gzip", "identity, gzip"} {
		v.operator.Post("/models/refund/simulate", packed.String(), harness.Header("Content-Encoding: "+encoding)).Refused(t, "invalid_request", "Content-Encoding")
	}
	v.operator.Post("/models/refund/simulate", packed.String()).Refused(t, "invalid_json")
	v.operator.Post("/models/refund/simulate", doc{"scenarioId": "small"}, "Content-Encoding: identity").OK(t)
	if _, most := v.resident(t); v.spent(t).heap > 128<<20 || most > 128*perByte {
		t.Errorf("the process had %d MiB, a heap of %d bytes", most, v.spent(t).heap)
	}
}
