package httpapi

import (
	"io"
	"net/http"
)

// maxDrained bounds what is read of a body that nobody wants.
const maxDrained = 16 << 20

// drain reads on what a refused request is still sending. Many callers look at
// the answer only when they have sent all; one who is cut off before sees a reset
// connection instead of the 401 or 413. Who asked first (Expect) has its answer.
func drain(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // the answer stands, whatever else comes
	}
}
