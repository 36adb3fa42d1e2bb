package core

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
)

// Revision names a revision as audit records do.
func Revision(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("revision %d", n)
}

// RevisionText is Revision with what keeps it from being used.
func RevisionText(rev int64, suspended, retired bool) string {
	text := Revision(rev)
	if suspended {
		text += ", suspended"
	}
	if retired {
		text += ", retired"
	}
	return text
}

// Compare is the compare-and-set rule of contract 1.
func Compare(kind, id string, current, expected int64) error {
	switch current {
	case expected:
		return nil
	case 0:
		return countersign.Errorf(countersign.CodeRevisionConflict, "there is no %s %s to update; expectedRevision 0 or none creates it", kind, id)
	default:
		return countersign.Errorf(countersign.CodeRevisionConflict, "%s %s is at revision %d, not %d; read it and send expectedRevision %d", kind, id, current, expected, current)
	}
}

// FlagOf returns which flag of a model or team an operation changes, and whether it sets or
// clears it.
func FlagOf(op access.Operation, suspended, retired *bool) (flag *bool, set bool) {
	switch op {
	case access.SuspendModel, access.ResumeModel, access.SuspendTeam, access.ResumeTeam:
		return suspended, op == access.SuspendModel || op == access.SuspendTeam
	}
	return retired, op == access.RetireModel || op == access.RetireTeam
}
