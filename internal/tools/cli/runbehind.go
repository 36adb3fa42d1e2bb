package cli

import (
	"github.com/countersign/countersign"
)

// behindFacts say by which identity an agent asked, and for whom.
func behindFacts(i *countersign.Identity, behalf string) (facts [][2]string) {
	if i != nil {
		facts = append(facts, [2]string{"signed in by", doubted(i.Shown())})
	}
	if behalf != "" {
		facts = append(facts, [2]string{"on behalf of", doubted(behalf)})
	}
	return facts
}
