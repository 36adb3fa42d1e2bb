package cli

import (
	"github.com/schollz/progressbar/v3"
)

// Bar shows how far long work has come, on standard error and to a person only.
// The nil Bar shows nothing.
type Bar struct{ bar *progressbar.ProgressBar }

// NewBar makes the bar of some work; nil where nobody watches.
func NewBar(t *Terminal, what string) *Bar {
	if !Watched(t.Errs) {
		return nil
	}
	return &Bar{progressbar.NewOptions64(-1, progressbar.OptionSetWriter(t.Errs), progressbar.OptionSetDescription(what),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))}
}

// Set says how much is done, and of how much; all is negative where nobody knows.
func (b *Bar) Set(done, all int64) {
	if b == nil {
		return
	}
	b.bar.ChangeMax64(all)
	_ = b.bar.Set64(done)
}

// Done clears the bar.
func (b *Bar) Done() {
	if b != nil {
		_ = b.bar.Finish()
	}
}
