package httpapi

import (
	"io"
	"net/http"
)

// maxDrained is how many bytes of an unread body are discarded.
const maxDrained = 16 << 20

// drain reads the rest of a refused request. Many clients read the response only after
// sending the whole body; closing the connection earlier would show them a reset
// instead of the 401 or 413. A client that sent Expect has already got its response.
func drain(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // the response is already decided
	}
}
