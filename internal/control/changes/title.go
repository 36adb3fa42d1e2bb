package changes

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// titles say what an operation does to its subject.
var titles = map[access.Operation]string{
	access.WriteProject: "Change project", access.WriteAnswerKeys: "Change the answer keys of project",
	access.AdmitAgent: "Change the budgets of agent", access.WriteIdentities: "Change the identities of agent",
	access.WriteUser: "Change the rights of", access.WriteGroup: "Change group", access.WriteDelegation: "Delegate the approvals of",
	access.WriteSettings: "Change the settings of tenant", access.CreateToken: "Make a token", access.CreateLink: "Make a link that signs in as",
	access.RedactRun: "Redact run", access.HoldRun: "End the hold on run",
}

// titleOf says what a change does, in a line.
func titleOf(h *core.HeldError) string {
	title, known := titles[h.Operation]
	if !known {
		title = string(h.Operation) + " of"
	}
	if _, id, ok := strings.Cut(h.Subject, "/"); ok {
		title += " " + id
	}
	now, _ := h.Change.Now.Object()
	if h.Operation == access.CreateToken {
		title += " “" + safetext.Escaped(now["name"].Text()) + "”"
	}
	if roles := texts(now["roles"]); roles != "" {
		title += ", with " + roles
	}
	if r := []rune(title); len(r) > countersign.MaxTitle {
		return string(r[:countersign.MaxTitle])
	}
	return title
}

func texts(list countersign.Value) string {
	items, _ := list.Array()
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = item.Text()
	}
	return strings.Join(words, ", ")
}
