package core

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/store"
)

// Public turns the store's errors into errors that a caller may see. An error without a
// code stays internal.
func Public(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrFull):
		return countersign.Errorf(countersign.CodeUnavailable, "the store's disk is full; nothing was changed. Free space on it: writes go on by themselves once there is enough, which is 16 MiB or less for a store in a directory")
	case errors.Is(err, store.ErrUnavailable):
		return countersign.Errorf(countersign.CodeUnavailable, "the store is unavailable now; nothing was changed, try again")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return countersign.Errorf(countersign.CodeUnavailable, "the request ended before its turn came; nothing was changed")
	}
	return err
}

// PublicRead is public for a read, which claims nothing of changes: one may be committed, and
// the read after it is only its answer.
func PublicRead(err error) error {
	switch {
	case errors.Is(err, store.ErrUnavailable):
		return countersign.Errorf(countersign.CodeUnavailable, "the store is unavailable now; try again")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return countersign.Errorf(countersign.CodeUnavailable, "the request ended before it was answered")
	}
	return err
}

// Found turns "no such document" into a 404 that names it.
func Found(err error, kind, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return countersign.Errorf(countersign.CodeNotFound, "there is no %s %s", kind, id)
	}
	return err
}

// Given refuses a blank reason or evidence.
func Given(field, text string) error {
	if safetext.Blank(text) {
		return countersign.Invalid(field, "say why; it can't be blank")
	}
	return nil
}

// Repeated returns a problem for each right that a list names twice.
func Repeated[T ~string](field string, list []T) (problems []countersign.Problem) {
	for i, item := range list {
		if slices.Contains(list[:i], item) {
			problems = append(problems, countersign.Problem{Path: fmt.Sprintf("%s[%d]", field, i), Message: string(item) + " is named twice"})
		}
	}
	return problems
}

// Wrong returns nil if there are no problems.
func Wrong(problems []countersign.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return countersign.Refusal(countersign.CodeInvalidRequest, problems...)
}

// Invalid returns nil if there are no problems.
func Invalid(problems []string) error {
	list := make([]countersign.Problem, len(problems))
	for i, p := range problems {
		list[i].Message = p
	}
	return Wrong(list)
}

// RefusedLater keeps what the turn to write refuses, and records, by itself.
func RefusedLater(err error) error {
	if countersign.ErrorCode(err).Audited() || countersign.ErrorCode(err) == countersign.CodeNotFound {
		return nil
	}
	return err
}
