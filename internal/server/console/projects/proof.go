package projects

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// proof says whether a check has shown that the receiver deduplicates, as it is
// declared to.
type proof struct {
	Class, Icon, Word string
	Title             string // on hover
	Note              string // rules that a check found broken
}

func proofOf(p countersign.Project, c countersign.Capability) proof {
	known := p.ConformanceOf(c.Name)
	declared := proof{Class: "is-idle", Icon: "s-unknown", Word: "Declared", Title: "The project says so. No check of its receiver has shown it at this revision: countersign check-receiver."}
	if known == nil {
		return declared
	}
	day := known.CheckedAt.UTC().Format("2 Jan 2006")
	by := "Tried at " + known.Target + ", recorded by " + text.Who(known.CheckedBy) + " at " + known.CheckedAt.UTC().Format(text.ExactTime) + "."
	if known.Proven {
		return proof{Class: "is-ok", Icon: "i-check", Word: "Proven " + day, Title: "The same key had its effect once. " + by}
	}
	declared.Title = "A check has not shown it. " + by
	if broken := rulesWith(*known, countersign.VerdictBroken); broken != "" {
		declared.Class, declared.Icon = "is-fail", "s-failed"
		declared.Note = "the check of " + day + " failed: " + broken
	}
	return declared
}

// rulesWith are the names of the rules with this verdict.
func rulesWith(c countersign.Conformance, verdict string) string {
	var names []string
	for _, r := range c.Rules {
		if r.Verdict == verdict {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}
