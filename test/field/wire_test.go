package field

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// patience is a net against hanging; what passes never waits that long.
const patience = 4 * time.Minute

// exchange sends bytes to the server on a connection of their own, and reads so many final answers.
func (w *world) exchange(sent []byte, answers int) (out []any, err error) {
	conn, err := net.Dial("tcp", w.name("host"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	go func() { _, _ = conn.Write(sent) }() // the server may answer before all of it was read
	in, method := bufio.NewReader(conn), firstWord(sent)
	for final := 0; final < answers; {
		got, status, err := readAnswer(in, method)
		if err != nil {
			if final > 0 || len(out) > 0 {
				return append(out, map[string]any{"ended": true}), nil
			}
			return []any{map[string]any{"ended": true}}, nil
		}
		if out = append(out, got); status >= 200 {
			final++
		}
	}
	return out, nil
}

func firstWord(sent []byte) string {
	word, _, _ := bytes.Cut(sent, []byte(" "))
	return string(word)
}

// readAnswer reads one answer, also one of 1xx.
func readAnswer(in *bufio.Reader, method string) (map[string]any, int, error) {
	res, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return nil, 0, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, 0, err
	}
	headers := map[string]any{}
	for name, values := range res.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	got := map[string]any{"status": jsonInt(res.StatusCode), "headers": headers, "text": string(body), "closes": res.Close}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		if body, err = lastEvent(body); err != nil {
			return got, res.StatusCode, nil
		}
	}
	if v, err := parse(body); err == nil {
		got["body"] = v
	}
	return got, res.StatusCode, nil
}

// lastEvent is the data of a stream's last event.
func lastEvent(stream []byte) ([]byte, error) {
	var last []byte
	for line := range strings.Lines(string(stream)) {
		if data, is := strings.CutPrefix(line, "data:"); is {
			last = []byte(strings.TrimSpace(data))
		}
	}
	if last == nil {
		return nil, errors.New("no event")
	}
	return last, nil
}

// bytes is a request as it goes over the wire: what clients usually send, and what the case says.
func (r request) bytes(w *world, token string) []byte {
	body := r.Body.all(w.fill)
	headers := map[string]string{"Host": w.name("host"), "User-Agent": "field/1", "Accept": "*/*", "Connection": "close"}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	if r.Body != nil {
		headers["Content-Type"], headers["Content-Length"] = "application/json", fmt.Sprint(len(body))
	}
	if r.Method == "POST" && strings.HasSuffix(r.Path, "/runs") {
		headers["Idempotency-Key"] = w.key()
	}
	for name, v := range r.Headers {
		headers[name] = w.fill(v)
	}
	var names []string
	for name, v := range headers {
		if v != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	method := r.Method
	if method == "" {
		method = "GET"
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\n", method, w.fill(r.Path))
	for _, name := range names {
		fmt.Fprintf(&out, "%s: %s\r\n", name, headers[name])
	}
	out.WriteString("\r\n")
	out.Write(body)
	return out.Bytes()
}

func (w *world) send(q request, token string) (map[string]any, error) {
	got, err := w.exchange(q.bytes(w, token), 1)
	if err != nil {
		return nil, err
	}
	return got[len(got)-1].(map[string]any), nil
}
