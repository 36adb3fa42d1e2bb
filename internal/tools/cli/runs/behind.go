package runs

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// BehindFacts say by which identity an agent asked, and for whom.
func BehindFacts(i *countersign.Identity, behalf string) (facts [][2]string) {
	if i != nil {
		facts = append(facts, [2]string{"signed in by", words.Doubted(i.Shown())})
	}
	if behalf != "" {
		facts = append(facts, [2]string{"on behalf of", words.Doubted(behalf)})
	}
	return facts
}
