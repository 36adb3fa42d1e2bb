package projects

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// wordFields are the fields of the API's own word: the keys by which it signs, and where it says
// what became of a call.
func wordFields(s *form.Form, p countersign.Project) []form.Field {
	var at countersign.Settlement
	if p.Settlement != nil {
		at = *p.Settlement
	}
	mode := at.Mode
	if mode == "" {
		mode = countersign.SettlePropose
	}
	return []form.Field{
		s.Document("answerKeys", "Answer keys", "The public keys by which the API signs its answers, one a line: ed25519: and 64 hex digits. One, or two while it changes. An answer that none of them signed is uncertain. Empty: answers aren’t signed.", strings.Join(p.AnswerKeys, "\n"), 2),
		s.Mono("settlement.path", "Settlement path", "Where the API says what became of a call whose answer was lost, such as /calls. It needs answer keys and HMAC. Nothing is then sent a second time under a key. Empty: a reviewer finds out.", at.Path),
		form.Must(s.Choose("radio", "settlement.mode", "Who goes by what it says", "", mode,
			form.Choice{Value: countersign.SettlePropose, Word: "A reviewer", Note: "The signed statement is shown, and a reviewer confirms it."},
			form.Choice{Value: countersign.SettleAutomatic, Word: "The service", Note: "It goes by the signed statement by itself, and has withdrawn what was never seen."})),
	}
}

// wordTyped reads them. A form without them changes nothing.
func wordTyped(v *web.Request, w *countersign.ProjectWrite) {
	if !v.R.PostForm.Has("answerKeys") && !v.R.PostForm.Has("settlement.path") {
		return
	}
	w.AnswerKeys, w.Settlement = strings.Fields(v.Form("answerKeys")), nil
	if path := v.Form("settlement.path"); path != "" {
		w.Settlement = &countersign.Settlement{Path: path, Mode: v.Form("settlement.mode")}
	}
}
