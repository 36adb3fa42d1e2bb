package mask

import "github.com/countersign/countersign"

// settlement masks what a receiver said: the kept answer as any answer, and what its signature
// covers, from which it could be guessed.
func (f *Fields) settlement(r *countersign.SettlementRecord) {
	r.Output, r.Signed, r.Signature = f.members(r.Output), nil, ""
	if r.Text != "" {
		r.Text = masked.Text()
	}
	r.Error = countersign.WithoutQuote(r.Error)
}
