package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// silence is how long a stream may be idle before it counts as dead. The service sends a comment
// every 15 seconds.
const silence = 45 * time.Second

var errSilent = errors.New("the stream fell silent")

// events reads a run's event stream (contract 6) until it ends, breaks off, is silent for too
// long, or seen returns false. A refusal is an [Error].
func (c *Client) events(ctx context.Context, path string, seen func(countersign.Run) bool) error {
	return c.stream(ctx, path, func(_, data string) (bool, error) {
		var r countersign.Run
		err := decode([]byte(data), &r)
		return err == nil && seen(r), err
	})
}

// stream reads server-sent events.
func (c *Client) stream(ctx context.Context, path string, seen func(name, data string) (more bool, err error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	q := Request{Method: http.MethodGet, Path: path, Header: http.Header{"Accept": {"text/event-stream"}}}
	r, err := c.request(ctx, q, nil)
	if err != nil {
		return err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return lost(q, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return c.noStream(q, res)
	}
	return readEvents(bufio.NewReaderSize(res.Body, 64<<10), func() { alarm.Reset(silence) }, seen)
}

// noStream returns the refusal, or an error for an answer that does not come from the service.
func (c *Client) noStream(q Request, res *http.Response) error {
	const enough = 64 << 10
	text := make([]byte, enough)
	n, _ := bufio.NewReader(res.Body).Read(text)
	if res.StatusCode < 300 {
		return lost(q, fmt.Errorf("%q is no stream of events", res.Header.Get("Content-Type")))
	}
	return refusalOf(q, &Response{Status: res.StatusCode, Header: res.Header, Body: text[:n]})
}

// readEvents reads server-sent events; it calls heard for each line.
func readEvents(in *bufio.Reader, heard func(), seen func(name, data string) (more bool, err error)) error {
	var data strings.Builder
	name := ""
	for {
		line, err := readLine(in)
		if err != nil {
			return err
		}
		heard()
		text, isData := strings.CutPrefix(line, "data:")
		switch {
		case isData && data.Len()+len(text) > maxAnswerBytes:
			return errAnswerTooLarge
		case isData:
			data.WriteString(strings.TrimPrefix(text, " "))
		case line == "" && data.Len() > 0:
			if more, err := seen(name, data.String()); err != nil || !more {
				return err
			}
			data.Reset()
			name = ""
		default:
			if is, found := strings.CutPrefix(line, "event:"); found {
				name = strings.TrimSpace(is)
			}
		}
	}
}

// readLine reads one line of bounded length, without its line end.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return strings.TrimRight(string(line), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		case len(line) > maxAnswerBytes:
			return "", errAnswerTooLarge
		}
	}
}
