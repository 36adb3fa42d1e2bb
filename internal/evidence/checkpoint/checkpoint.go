package checkpoint

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Head is what a checkpoint says: the size of a log and the hash of its tree (RFC 6962).
type Head struct {
	Origin string // names the log
	Size   int64
	Hash   tlog.Hash
}

// Text is the signed text of a checkpoint, which ends with a newline.
func (h Head) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", h.Origin, h.Size, base64.StdEncoding.EncodeToString(h.Hash[:]))
}

// maxText bounds the signed text of a checkpoint that is read.
const maxText = 64 << 10

// ErrCheckpoint refuses a text that is no checkpoint.
var ErrCheckpoint = errors.New("it is no checkpoint: an origin, a size and a hash in base64, each on a line")

// ParseHead reads the text of a checkpoint. Lines after the first three are extensions, of which
// nothing is asked.
func ParseHead(text string) (h Head, err error) {
	if len(text) > maxText || !strings.HasSuffix(text, "\n") {
		return h, ErrCheckpoint
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 3 || lines[0] == "" {
		return h, ErrCheckpoint
	}
	for _, extension := range lines[3:] {
		if extension == "" {
			return h, ErrCheckpoint
		}
	}
	h.Origin = lines[0]
	if h.Size, err = parseSize(lines[1]); err != nil {
		return Head{}, ErrCheckpoint
	}
	if h.Hash, err = parseHash(lines[2]); err != nil {
		return Head{}, ErrCheckpoint
	}
	return h, nil
}

// parseSize reads a size in decimal, without leading zeroes.
func parseSize(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, ErrCheckpoint
	}
	return n, nil
}

// parseHash reads a hash in base64, as it is written and in no other way.
func parseHash(text string) (h tlog.Hash, err error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) != len(h) {
		return h, ErrCheckpoint
	}
	return tlog.Hash(data), nil
}
