package repeat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/verdict"
)

// Two calls are alike where they have the same capability and the same inputs, or the same
// title: they may be one action asked for twice.

// Digests are what a call is found by: by its inputs, and by its title where it has one.
func Digests(projectID, capability string, input map[string]countersign.Value, title string) ([]string, error) {
	byInput, err := digest("input", projectID, capability, input)
	if err != nil || title == "" {
		return []string{byInput}, err
	}
	byTitle, err := digest("title", projectID, capability, title)
	return []string{byInput, byTitle}, err
}

// digestDigits tell apart what a tenant's calls are found by.
const digestDigits = 32

func digest(kind, projectID, capability string, of any) (string, error) {
	text, err := countersign.CanonicalDigest([]any{kind, projectID, capability, of})
	if err != nil {
		return "", err
	}
	return text[len(text)-digestDigits:], nil
}

// Rejection is one of a call, by a person.
type Rejection struct {
	ApprovalID string    `json:"approvalId"`
	RunID      string    `json:"runId"`
	At         time.Time `json:"at"`
}

// Alike is what there is besides a call, of calls that are alike.
type Alike struct {
	Open     []string    // runs whose outcome nobody knows
	Rejected []Rejection // of the last day, the latest last
}

// MaxAlike is how many open runs a record names.
const MaxAlike = 10

// MaxRejected is how many rejections a call gets within a day: after them nobody is asked again.
const MaxRejected = 2

// Within keeps the rejections that still count, each once, the latest last.
func Within(all []Rejection, now time.Time) (out []Rejection) {
	for _, r := range all {
		if now.Before(r.At.Add(countersign.RepeatedCall)) && !slices.ContainsFunc(out, func(o Rejection) bool { return o.ApprovalID == r.ApprovalID }) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Rejection) int { return a.At.Compare(b.At) })
	return out
}

// AskedAgainAfter is the approval whose rejection the call follows, "" for none.
func (a Alike) AskedAgainAfter() string {
	if len(a.Rejected) == 0 {
		return ""
	}
	return a.Rejected[len(a.Rejected)-1].ApprovalID
}

// Named adds open runs to those that a record names already.
func Named(named, open []string) []string {
	for _, id := range open {
		if len(named) < MaxAlike && !slices.Contains(named, id) {
			named = append(slices.Clip(named), id)
		}
	}
	return named
}

// Verdict asks a person while a run of the same call is open.
func (a Alike) Verdict() verdict.Verdict {
	if len(a.Open) == 0 {
		return verdict.Verdict{Then: verdict.Allow}
	}
	return verdict.Verdict{Then: verdict.Ask, Reasons: []string{
		fmt.Sprintf("the same call is open: nobody knows whether %s took effect, and this one could do it twice", runs(a.Open)),
	}}
}

func runs(ids []string) string {
	if len(ids) == 1 {
		return "run " + ids[0]
	}
	return "runs " + strings.Join(ids, ", ")
}

// Refusal says why a call mustn't be made at all, nil if it may; again is the agent's reason to
// make it once more.
func (a Alike) Refusal(again string) *countersign.Error {
	switch {
	case again != "" && len(a.Open) > 0:
		return countersign.Errorf(countersign.CodeStateConflict, "again: %s of the same call is open, and nobody knows whether it took effect; a person finds out, and until then it can't be made again. Make the same call without again, which finds its run", runs(a.Open[:1]))
	case len(a.Rejected) >= MaxRejected:
		last := a.Rejected[len(a.Rejected)-1]
		return countersign.Errorf(countersign.CodeStateConflict, "this call was rejected %d times within 24 hours, last in run %s; nobody is asked again before %s. Don't ask for it in other words: tell whom you work for",
			len(a.Rejected), last.RunID, a.Rejected[len(a.Rejected)-MaxRejected].At.Add(countersign.RepeatedCall).UTC().Format(time.RFC3339))
	}
	return nil
}
