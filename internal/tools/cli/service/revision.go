package service

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign/client"
)

// Revision is the one in the flag, else the one in the document.
func Revision(flag, document int64) int64 {
	if flag != 0 {
		return flag
	}
	return document
}

// WithRevision adds to a conflict that --revision names the revision to change.
func WithRevision(err error) error {
	if errors.Is(err, client.ErrRevisionConflict) {
		return fmt.Errorf("%w (here with --revision)", err)
	}
	return err
}
