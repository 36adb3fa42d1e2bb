package outbound

import (
	"bufio"
	"bytes"
	"errors"
	"slices"
	"strings"
)

// headLines hands the lines of a head to their parser, one at a time, with what RFC 9110
// lets a recipient put right, and then the body as it comes.
type headLines struct {
	from *bufio.Reader
	rest []byte // of the line that is being handed out
	amid bool   // the next bytes continue a line
	over bool   // the head has ended
}

func (h *headLines) Read(b []byte) (n int, err error) {
	if len(h.rest) == 0 && h.over {
		return h.from.Read(b)
	}
	if len(h.rest) == 0 {
		h.rest, err = h.from.ReadSlice('\n')
		whole := err == nil && !h.amid
		if h.amid = errors.Is(err, bufio.ErrBufferFull); h.amid {
			err = nil
		}
		if whole {
			h.over = len(bytes.TrimPrefix(h.rest, []byte("\r"))) == 1
			h.rest = h.onceLength(h.rest)
		}
	}
	n = copy(b, h.rest)
	h.rest = h.rest[n:]
	return n, err
}

// onceLength writes "Content-Length: 21, 21" with one of its equal values (RFC 9110 8.6).
// Two such headers the parser takes by itself.
func (h *headLines) onceLength(line []byte) []byte {
	const name = "content-length:"
	if len(line) < len(name) || !strings.EqualFold(string(line[:len(name)]), name) || bytes.IndexByte(line, ',') < 0 {
		return line
	}
	values := strings.Split(string(line[len(name):]), ",")
	for i, v := range values {
		values[i] = strings.Trim(v, space)
	}
	first := values[0]
	if strings.Trim(first, "0123456789") != "" || slices.ContainsFunc(values, func(v string) bool { return v != first }) {
		return line
	}
	return []byte(name + " " + first + "\r\n")
}
