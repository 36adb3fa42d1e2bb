package harness

import (
	"fmt"
	"net/http"
)

// Answering answers with a status and a JSON body ("" for none).
func Answering(status int, body string) Reply {
	return Typed(status, "application/json", body)
}

// Typed answers with a status, a Content-Type and a body.
func Typed(status int, contentType, body string) Reply {
	return Raw(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), contentType, len(body), body))
}

// Redirecting answers with a redirect.
func Redirecting(status int, to string) Reply {
	return Raw(fmt.Sprintf("HTTP/1.1 %d %s\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, http.StatusText(status), to))
}

// Raw writes these bytes and keeps the connection open.
func Raw(text string) Reply {
	return func(x *Exchange) { _, _ = x.conn.Write([]byte(text)) } // the caller may have closed the connection
}

// Hanging never answers.
func Hanging() Reply { return func(x *Exchange) { <-x.closed } }

// HangingUp closes the connection without an answer.
func HangingUp() Reply { return func(x *Exchange) { _ = x.conn.Close() } }

// Cutting writes the beginning of an answer and closes the connection.
func Cutting(text string) Reply {
	return func(x *Exchange) {
		Raw(text)(x)
		HangingUp()(x)
	}
}

// After delays the answer until the gate or the receiver is closed.
func After(gate <-chan struct{}, then Reply) Reply {
	return func(x *Exchange) {
		select {
		case <-gate:
			then(x)
		case <-x.closed:
		}
	}
}
