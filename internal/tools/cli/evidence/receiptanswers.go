package evidence

import (
	"crypto/ed25519"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// parseAnswerKeys reads the keys by which a reader knows that receivers sign.
func parseAnswerKeys(texts []string) (keys []ed25519.PublicKey, err error) {
	for _, text := range texts {
		key, err := signature.ParseAnswerKey(text)
		if err != nil {
			return nil, terminal.Unusablef("--answer-key must be ed25519: and the 64 digits of lowercase hex of a public key, as the project's answerKeys have it")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// answersText says which answers their receivers signed, and where the keys were taken from.
func answersText(v receipt.Verdict) string {
	var parts []string
	for _, a := range v.Answers {
		what := "step " + a.StepID
		if a.Statement > 0 {
			what = fmt.Sprintf("statement %d about step %s", a.Statement, a.StepID)
		}
		from := "which the log registers before"
		if a.KeyFrom == receipt.KeyFromReader {
			from = "which was given"
		}
		parts = append(parts, what+" by the key "+a.KeyID+", "+from)
	}
	if v.Unshown > 0 {
		parts = append(parts, fmt.Sprintf("%d more are said to be signed, and what shows it was left out", v.Unshown))
	}
	return strings.Join(parts, "; ")
}

// known is what the reader knows besides the installation's key, or asks for.
func (v *ReceiptVerify) known() (receipt.Known, error) {
	policy, err := v.policy()
	if err != nil {
		return receipt.Known{}, err
	}
	keys, err := parseAnswerKeys(v.AnswerKey)
	return receipt.Known{AnswerKeys: keys, Policy: policy}, err
}
