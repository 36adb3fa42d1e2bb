package countersign

import "strings"

// Ending is why a run FAILED or was CANCELLED. Run.Error is written from it, and read by Ended: nobody else needs to know
// how its text is made.
type Ending struct {
	Code    Code
	Message string // in words

	By     string // who rejected or cancelled it, "" where nobody did
	Reason string // why, in their words
}

// Rejection is the end of a run whose approval a person rejected.
func Rejection(by, reason string) Ending {
	return Ending{Code: CodeApprovalRejected, Message: by + rejectedIt + reason, By: by, Reason: reason}
}

// Cancellation is the end of a run that a person cancelled.
func Cancellation(by, reason string) Ending {
	return Ending{Code: CodeCancelled, Message: by + gaveReason + reason, By: by, Reason: reason}
}

const (
	rejectedIt = " rejected it: "
	gaveReason = ": "
)

// String is the text of Run.Error.
func (e Ending) String() string { return string(e.Code) + ": " + e.Message }

// Ended is why the run FAILED or was CANCELLED, nothing for another. A message in another form, such as a masked one, names
// nobody.
func (r *Run) Ended() Ending { return endingOf(r.Error) }

// Ended is why the step failed, as the run it is of has ended.
func (e *StepError) Ended() Ending { return ending(e.Code, e.Message) }

func endingOf(text string) Ending {
	code, message, _ := strings.Cut(text, ": ")
	return ending(Code(code), message)
}

func ending(code Code, message string) Ending {
	e := Ending{Code: code, Message: message}
	by, reason, told := "", "", false
	switch e.Code {
	case CodeApprovalRejected:
		by, reason, told = strings.Cut(message, rejectedIt)
	case CodeCancelled:
		by, reason, told = strings.Cut(message, gaveReason)
	}
	if told {
		e.By, e.Reason = by, reason
	}
	return e
}

// Code is the code of the error of a run that FAILED or was CANCELLED, "" without one.
func (r *Run) Code() Code { return r.Ended().Code }
