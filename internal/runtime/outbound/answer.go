package outbound

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
)

const (
	maxHead    = 64 << 10 // headers of an answer, the interim ones before it included
	maxInterim = 5        // 1xx answers before the final one
	readBuffer = 4 << 10
	lineBuffer = 512 // between the lines of a head and their parser
	// maxStart is how much is read of a body that its length says is too large.
	maxStart = 4 * maxSaid
)

// Why an answer can't be used. Their texts are safe to show.
const (
	errHeadTooLarge = cause("the headers of the answer exceed 64 KiB")
	errBodyTooLarge = cause("the answer exceeds 1 MiB")
	errInterim      = cause("too many interim answers")
	errMalformed    = cause("the answer is not valid HTTP")
	errOpenEnded    = cause("the connection closed, and nothing says that the answer was complete")
)

// answer is what came back on a connection.
type answer struct {
	sent       bool // a byte of the request left
	status     int  // 0 when no status line came
	head       bool // status line and headers came whole
	body       []byte
	compressed bool
	location   string   // where a redirect leads
	retryAfter string   // what it says when to ask again
	signatures []string // its X-Runtime-Answer
	timestamp  string   // of the request, as it was sent
	reusable   bool     // the connection can carry another exchange
	unheard    bool     // the receiver closed the connection without a byte of an answer
	err        error    // why the answer isn't complete; nil when it is
	took       time.Duration
}

// readAnswer reads one final answer, at most as many bytes of its body as a step's may
// have where maxBody is 0. Whatever the receiver sends, it takes
// bounded memory; it ends with the answer, with the connection or with its
// deadline.
func readAnswer(source *meter, r *bufio.Reader, method string, maxBody int) answer {
	var a answer
	source.limit(maxHead + readBuffer)
	lines := &headLines{from: r}
	parsed := bufio.NewReaderSize(lines, lineBuffer)
	resp, err := readFinal(lines, parsed, method, &a.status) //nolint:bodyclose // the connection is closed instead, unless the body was read to its end
	if err == nil && source.count-r.Buffered() > maxHead {
		err = errHeadTooLarge
	}
	if err != nil {
		a.err = source.reason(err)
		a.unheard = source.count == 0 && isEnd(a.err)
		return a
	}
	source.unlimited()
	a.head = true
	a.compressed = isCompressed(resp.Header)
	a.signatures = resp.Header.Values(signature.HeaderAnswer)
	if resp.StatusCode >= 300 {
		a.location, a.retryAfter = resp.Header.Get("Location"), retryAfter(resp.Header)
	}
	a.body, a.err = readBody(source, resp, cmp.Or(maxBody, countersign.MaxBodyBytes))
	if a.err != nil {
		a.err = source.reason(a.err)
	}
	a.reusable = a.err == nil && !resp.Close && parsed.Buffered() == 0 && r.Buffered() == 0 && !closesSoon(resp.Header)
	return a
}

// isEnd reports a connection that the other side ended, in whatever way.
func isEnd(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return isAlert(err)
}

// readFinal reads heads until one is final. status is what the latest status line
// says, so that it is known even when the headers after it never come.
func readFinal(lines *headLines, parsed *bufio.Reader, method string, status *int) (*http.Response, error) {
	for range maxInterim + 1 {
		*status = peekStatus(lines.from)
		lines.over = false
		resp, err := http.ReadResponse(parsed, &http.Request{Method: method})
		switch {
		case err != nil:
			return nil, errMalformed // or the connection's end, which the meter knows
		case resp.ProtoMajor != 1, resp.StatusCode < 100, resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errMalformed
		case resp.StatusCode >= 200:
			*status = resp.StatusCode
			return resp, nil
		}
	}
	*status = 0
	return nil, errInterim
}

// peekStatus reads the code in `HTTP/1.1 200 `, 0 when there is none.
func peekStatus(r *bufio.Reader) int {
	line, _ := r.Peek(len("HTTP/1.1 200 "))
	if len(line) < len("HTTP/1.1 200 ") || !strings.HasPrefix(string(line), "HTTP/1.") || line[8] != ' ' || line[12] > ' ' {
		return 0
	}
	code, err := strconv.ParseUint(string(line[9:12]), 10, 16)
	if err != nil {
		return 0
	}
	return int(code)
}

// readBody reads the body to its end. It is complete only if something says so:
// its length, its last chunk, or, where a 2xx has only the end of the connection,
// JSON that ends by itself, or TLS that was closed on purpose.
func readBody(source *meter, resp *http.Response, most int) ([]byte, error) {
	if resp.ContentLength > int64(most) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxStart))
		return body, errBodyTooLarge
	}
	body, err := readAll(resp, most)
	switch {
	case len(body) > most:
		return body, errBodyTooLarge
	case resp.StatusCode < 300 && isOpenEnded(resp) && source.ended():
		if !source.closedByTLS() && !endsByItself(body) {
			return body, errOpenEnded
		}
	case err != nil:
		return body, errMalformed
	}
	return body, nil
}

// readAll reads one byte more than the limit, so that what is too large is seen.
func readAll(resp *http.Response, most int) ([]byte, error) {
	if n := resp.ContentLength; n >= 0 {
		body := make([]byte, n)
		got, err := io.ReadFull(resp.Body, body)
		return body[:got], err
	}
	return io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
}

func isOpenEnded(resp *http.Response) bool {
	return resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && resp.Body != http.NoBody
}

// endsByItself reports a body that is cut off, and so no JSON, unless its last bracket
// came. Of anything else, such as a number or nothing at all, some may be missing.
func endsByItself(body []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(body, markUTF8), space)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// retryAfter is a valid Retry-After, "" for any other.
func retryAfter(h http.Header) string {
	text := h.Get("Retry-After")
	if len(h.Values("Retry-After")) != 1 || len(text) > maxRetryAfter {
		return ""
	}
	_, noDate := http.ParseTime(text)
	if noDate != nil && strings.Trim(text, "0123456789") != "" {
		return ""
	}
	return text
}

// maxRetryAfter is longer than any date of HTTP.
const maxRetryAfter = 40

// closesSoon reports a receiver that says it closes idle connections about as
// soon as we would use one again.
func closesSoon(h http.Header) bool {
	for _, parameter := range strings.Split(h.Get("Keep-Alive"), ",") {
		if seconds, ok := strings.CutPrefix(strings.TrimSpace(parameter), "timeout="); ok {
			n, err := strconv.Atoi(seconds)
			return err != nil || time.Duration(n)*time.Second <= maxIdle
		}
	}
	return false
}

// meter stands between a connection and the parsers. It counts what is read, ends
// it where an answer's headers must, and keeps the first error: parsers turn an
// end in the middle into many things, and a socket tells of a reset only once.
type meter struct {
	from  io.Reader
	count int
	max   int // 0: unlimited
	err   error
	under *wire // of TLS; nil: there is none
}

// ended reports that nothing more comes, as the other side says.
func (m *meter) ended() bool {
	return errors.Is(m.err, io.EOF) || errors.Is(m.err, io.ErrUnexpectedEOF)
}

// closedByTLS reports an end that nobody between could have made, by close_notify. For
// crypto/tls a TCP end after a whole record is one as well; but that one it has read.
func (m *meter) closedByTLS() bool {
	return m.under != nil && !m.under.ended && errors.Is(m.err, io.EOF)
}

func (m *meter) limit(n int) { m.count, m.max = 0, n }

func (m *meter) unlimited() { m.max = 0 }

// reason is why an answer could not be read: the connection's error where it had
// one, for then whatever the parser says follows from it.
func (m *meter) reason(parser error) error {
	var decided cause
	if m.err == nil || errors.As(parser, &decided) && decided != errMalformed {
		return parser
	}
	return m.err
}

func (m *meter) Read(b []byte) (int, error) {
	if m.err == nil && m.max > 0 && m.count >= m.max {
		m.err = errHeadTooLarge
	}
	if m.err != nil {
		return 0, m.err
	}
	if m.max > 0 {
		b = b[:min(len(b), m.max-m.count)]
	}
	n, err := m.from.Read(b)
	m.count += n
	m.err = err
	return n, err
}
