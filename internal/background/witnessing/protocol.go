package witnessing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// answerMost bounds a witness's answer, in bytes.
const answerMost = 64 << 10

// maxConflicts is how often one submission is begun anew because the witness names another size:
// another replica submits too.
const maxConflicts = 3

// cosigned is a checkpoint, and the lines of a witness's answer to it.
type cosigned struct {
	size              int64
	epoch             int
	checkpoint, lines string
}

// agree has a witness cosign a log's head of a size. A
// conflict is answered by submitting from the size that the witness names, once the log's head has
// been read anew.
func (s *Submitter) agree(ctx context.Context, at int, tenant string, size int64) (c cosigned, err error) {
	old := s.last(at, tenant, size)
	for range maxConflicts {
		text, c, err := s.submission(ctx, tenant, old, size)
		if err != nil {
			return c, err
		}
		status, body, err := s.post(ctx, s.cfg.Witnesses[at].URL, text)
		if err != nil {
			return c, err
		}
		switch status {
		case http.StatusOK:
			c.lines = body
			_, err := checkpoint.Joined(c.checkpoint, body, s.cfg.Witnesses[at].Key)
			return c, err
		case http.StatusUnprocessableEntity:
			if old == 0 || old == size {
				return c, fmt.Errorf("it refuses a proof from %d to %d, which is none", old, size)
			}
			return c, &rewoundError{fmt.Sprintf("the log of %d records does not go on from the %d that were cosigned", size, old)}
		case http.StatusConflict:
			named, err := strconv.ParseInt(strings.TrimSuffix(body, "\n"), 10, 64)
			if err != nil || named < 0 {
				return c, fmt.Errorf("its conflict names no size")
			}
			if err := s.after(ctx, tenant, named); err != nil {
				return c, err
			}
			switch {
			case named == old && old == size:
				return c, &rewoundError{fmt.Sprintf("the %d records that were cosigned are others than the log's", named)}
			case named == old:
				return c, fmt.Errorf("it names the size that was submitted from, %d", old)
			case named > size:
				return c, errAhead
			}
			old = named
		default:
			return c, fmt.Errorf("it answers %d", status)
		}
	}
	return c, fmt.Errorf("it names another size each time")
}

// last is the size that a witness has cosigned last, as far as is known; 0 if that isn't.
func (s *Submitter) last(at int, tenant string, size int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.logs[tenant]; l != nil && l.done[at] != never && l.done[at] <= size {
		return l.done[at]
	}
	return 0
}

// errAhead says that the witness has cosigned a later head, which another replica has submitted.
var errAhead = errors.New("it has cosigned more")

// after reads the head of a log after a witness has named the size that it has cosigned: a larger
// one was of another log.
func (s *Submitter) after(ctx context.Context, tenant string, named int64) error {
	var size int64
	err := s.store.View(ctx, func(tx store.Tx) (err error) {
		size, _, err = audit.Head(tx, tenant)
		return err
	})
	if err == nil && named > size {
		err = &rewoundError{fmt.Sprintf("%d records were cosigned, and the log has %d", named, size)}
	}
	return err
}

// submission makes the text of a submission in one snapshot, and the checkpoint in it.
func (s *Submitter) submission(ctx context.Context, tenant string, old, size int64) (text string, c cosigned, err error) {
	err = s.store.View(ctx, func(tx store.Tx) error {
		key, _, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
		if err != nil {
			return err
		}
		grown, err := s.prover.Grown(tx, tenant, old, size)
		if err != nil {
			return err
		}
		signed, err := checkpoint.Sign(checkpoint.Head{Origin: key.Origin(tenant), Size: grown.Size, Hash: grown.Root}, checkpoint.NewSigner(key.Origin(tenant), key.Seed))
		c = cosigned{size: size, epoch: key.Epoch, checkpoint: signed}
		text = checkpoint.Submission{Old: old, Proof: grown.Proof, Checkpoint: signed}.Text()
		return err
	})
	return text, c, err
}

// post sends a submission. The client bounds how long it takes.
func (s *Submitter) post(ctx context.Context, url, text string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/add-checkpoint", strings.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	resp, err := s.cfg.Client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, answerMost+1))
	if err != nil {
		return 0, "", err
	}
	if len(data) > answerMost {
		return 0, "", fmt.Errorf("its answer has more than %d bytes", answerMost)
	}
	return resp.StatusCode, string(data), nil
}
