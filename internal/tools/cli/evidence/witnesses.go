package evidence

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Witnesses are the flags of a verifier who asks witnesses besides.
type Witnesses struct {
	Witness []string `sep:"none" placeholder:"VKEY" help:"A witness that must have cosigned the log, by its vkey. Several are several --witness."`
	Quorum  *int     `placeholder:"K" help:"So many of the witnesses must have cosigned. Default: all."`
	Epoch   int64    `placeholder:"N" help:"Take this epoch of the log besides the first; 'countersign audit epoch' begins one."`
}

// policy is what they ask for.
func (w Witnesses) policy() (checkpoint.Policy, error) {
	quorum := 0
	if w.Quorum != nil {
		if quorum = *w.Quorum; quorum < 1 || quorum > len(w.Witness) {
			return checkpoint.Policy{}, terminal.Unusablef("--quorum must be between 1 and the number of --witness, which is %d", len(w.Witness))
		}
	}
	p, err := checkpoint.NewPolicy(w.Witness, quorum, w.Epoch)
	if err != nil {
		return p, terminal.Unusablef("--witness, --epoch: %v", err)
	}
	return p, nil
}

// epochText says of which epoch a log is.
func epochText(epoch int64, origin string) string {
	if epoch == 0 {
		return "the first, of " + origin
	}
	return fmt.Sprintf("%d, of %s: another log than the first", epoch, origin)
}

// cosignedText says who has cosigned a head, of the witnesses that were given.
func cosignedText(size int64, by []string, given int) string {
	head := fmt.Sprintf("the head of %d records", size)
	if given == 0 {
		return head + ", by nobody who was named: --witness names one"
	}
	return fmt.Sprintf("%s, by %d of the %d witnesses: %s", head, len(by), given, strings.Join(by, ", "))
}
