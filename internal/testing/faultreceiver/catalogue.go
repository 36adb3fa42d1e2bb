package faultreceiver

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
)

// Faults lists every fault by a stable name. It includes [OK] and unusual answers that are valid.
// Refusing connections is no fault of a request; [Receiver.Refuse] does that.
func Faults() []Fault {
	all := endings()
	all = append(all, stalls()...)
	all = append(all, framings()...)
	all = append(all, statuses()...)
	all = append(all, bodies()...)
	all = append(all, unreadable()...)
	return append(all, openEnded()...)
}

// Named returns a fault of the list; it panics if there is none.
func Named(name string) Fault {
	for _, f := range Faults() {
		if f.Name == name {
			return f
		}
	}
	panic("faultreceiver: no fault " + name)
}

// endings are connections that end before or within the answer.
func endings() []Fault {
	return []Fault{
		{Name: "accept-close", atAccept: true, play: func(*Exchange) {}},
		{Name: "close-after-request-line", play: func(x *Exchange) { x.ReadLine() }},
		{Name: "close-after-headers", play: func(x *Exchange) { x.ReadHead() }},
		{Name: "reset-after-headers", play: func(x *Exchange) { x.ReadHead(); x.Reset() }},
		Closing("close-after-body", ""),
		{Name: "reset-after-body", play: func(x *Exchange) { x.ReadAll(); x.Reset() }},
		Closing("cut-status-line", "HTTP/1.1 20"),
		Closing("cut-after-status-line", "HTTP/1.1 200 OK\r\n"),
		Closing("cut-headers", "HTTP/1.1 200 OK\r\nContent-Le"),
		Closing("cut-before-body", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"),
		Closing("short-body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ok\":true}"),
		Closing("cut-chunk", chunked("b\r\n{\"ok\"")),
		Closing("no-last-chunk", chunked("b\r\n{\"ok\":true}\r\n")),
		Closing("no-final-line", chunked("b\r\n{\"ok\":true}\r\n0\r\n")),
		{Name: "reset-mid-body", play: func(x *Exchange) {
			x.ReadAll()
			x.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ok\"")
			x.Reset()
		}},
	}
}

// stalls are answers that are never completed.
func stalls() []Fault {
	return []Fault{
		Stalling("silent", ""),
		Stalling("silent-in-status-line", "HTTP/1.1 2"),
		Stalling("silent-after-status-line", "HTTP/1.1 200 OK\r\n"),
		Stalling("silent-after-headers", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"),
		Stalling("silent-mid-body", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ok\""),
		Stalling("silent-after-interim", "HTTP/1.1 102 Processing\r\n\r\n"),
		{Name: "trickle", Stalls: true, play: trickling},
	}
}

// framings are answers with invalid or unusual HTTP.
func framings() []Fault {
	return []Fault{
		Answering("one-interim", "HTTP/1.1 100 Continue\r\n\r\n"+JSON(200, `{"ok":true}`)),
		{Name: "interim-flood", play: flooding},
		Answering("switching-protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
		Answering("not-http", "SSH-2.0-OpenSSH_9.9\r\n\r\n"),
		Answering("http-2", "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
		Answering("bad-status", "HTTP/1.1 2xx OK\r\nContent-Length: 2\r\n\r\n{}"),
		Answering("bad-header", header("no colon here\r\n")),
		Answering("two-lengths", header("Content-Length: 3\r\n")),
		Answering("negative-length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
		Answering("bad-chunk-size", chunked("zz\r\n{\"ok\":true}\r\n0\r\n\r\n")),
		Answering("bad-chunk-end", chunked("2\r\n{}--\r\n0\r\n\r\n")),
		Answering("unknown-coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n{}"),
		Answering("huge-headers", header("X-Filler: "+strings.Repeat("x", 70<<10)+"\r\n")),
		Answering("endless-headers", "HTTP/1.1 200 OK\r\n"+strings.Repeat("X-Filler: x\r\n", 100_000)),
		Answering("large-headers", header("X-Filler: "+strings.Repeat("x", 60<<10)+"\r\n")),
		Answering("trailing-garbage", JSON(200, `{"ok":true}`)+"garbage"),
		Answering("second-answer", JSON(200, `{"ok":true}`)+JSON(200, `{"ok":"stale"}`)),
		Answering("chunked", chunked("4\r\n{\"ok\r\n7\r\n\":true}\r\n0\r\n\r\n")),
		Answering("length-list", "HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\n{}"),
		Answering("length-list-unequal", "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\n{}"),
		Answering("two-equal-lengths", header("Content-Length: 2\r\n")),
		Closing("connection-close", header("Connection: close\r\n")),
	}
}

// statuses are answers with another status than 200.
func statuses() []Fault {
	all := []Fault{
		Answering("301", "HTTP/1.1 301 Moved Permanently\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
		Answering("307", "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
		Answering("308-far", "HTTP/1.1 308 Permanent Redirect\r\nLocation: https://ann:pass@shop.example/v2/orders?token=1\r\nContent-Length: 0\r\n\r\n"),
		Answering("503-later", "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"),
		Answering("204", "HTTP/1.1 204 No Content\r\n\r\n"),
		Answering("304", "HTTP/1.1 304 Not Modified\r\n\r\n"),
		Closing("404-cut", "HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n{"),
		Answering("422-huge", JSON(422, `"`+strings.Repeat("x", 2<<20)+`"`)),
		Answering("400-not-json", "HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\noops"),
		{Name: "413-early", play: func(x *Exchange) { x.ReadHead(); x.Write(JSON(413, "{}")) }},
		Closing("408-cut", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 100\r\n\r\n{"),
		Closing("503-cut", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 100\r\n\r\n{"),
		Answering("999", "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
	}
	for _, status := range []int{201, 400, 404, 408, 409, 429, 500, 502, 503} {
		all = append(all, Answering(strconv.Itoa(status), JSON(status, `{"status":true}`)))
	}
	return all
}

// bodies are complete 2xx answers with special bodies.
func bodies() []Fault {
	return []Fault{
		OK,
		Answering("empty", JSON(200, "")),
		Answering("white-space", JSON(200, " \n")),
		Answering("byte-order-mark", JSON(200, "\uFEFF{\"ok\":true}")),
		Answering("byte-order-mark-only", JSON(200, "\uFEFF")),
		Answering("not-compressed", header("Content-Encoding: identity\r\n")),
		Answering("limit-body", JSON(200, `"`+strings.Repeat("x", 1<<20-2)+`"`)),
		Answering("huge-body", JSON(200, `"`+strings.Repeat("x", 1<<20-1)+`"`)),
		Closing("huge-chunked", chunked(strings.Repeat("10000\r\n"+strings.Repeat(" ", 1<<16)+"\r\n", 32)+"0\r\n\r\n")),
		Answering("gzip", gzipped()),
		Answering("part", strings.Replace(JSON(206, `{"ok":true}`), "\r\n", "\r\nContent-Range: bytes 0-10/100\r\n", 1)),
		Answering("part-without-range", JSON(206, `{"ok":true}`)),
		Answering("part-empty", JSON(206, "")),
		Answering("cookie", header("Set-Cookie: session=tracking; Path=/\r\n")),
	}
}

func gzipped() string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(`{"ok":true}`))
	_ = w.Close()
	body := b.String()
	return strings.Replace(JSON(200, body), "\r\n", "\r\nContent-Encoding: gzip\r\n", 1)
}
