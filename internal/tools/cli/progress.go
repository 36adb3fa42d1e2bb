package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar shows how far long work has come, on standard error and to a person only.
// The nil Bar shows nothing.
type Bar struct{ bar *progressbar.ProgressBar }

// NewBar makes the bar of some work; nil where nobody watches.
func NewBar(t *Terminal, what string, options ...progressbar.Option) *Bar {
	if !Watched(t.Errs) {
		return nil
	}
	options = append([]progressbar.Option{
		progressbar.OptionSetWriter(t.Errs), progressbar.OptionSetDescription(what), progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100 * time.Millisecond),
	}, options...)
	return &Bar{progressbar.NewOptions64(-1, options...)}
}

// Set says how much is done, and of how much; all is negative where nobody knows.
func (b *Bar) Set(done, all int64) {
	if b == nil {
		return
	}
	b.bar.ChangeMax64(all)
	_ = b.bar.Set64(done)
}

// Write counts what passes by, so that a Bar can stand behind a copy.
func (b *Bar) Write(p []byte) (int, error) {
	if b != nil {
		_ = b.bar.Add(len(p))
	}
	return len(p), nil
}

// Done clears the bar.
func (b *Bar) Done() {
	if b != nil {
		_ = b.bar.Finish()
	}
}

// working runs what may take a while, shows that it does, and gives up waiting
// when the command is interrupted; f's results count only without an error.
func working(t *Terminal, what string, f func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	bar := NewBar(t, what)
	defer bar.Done()
	for n := int64(1); ; n++ {
		select {
		case <-done:
			return nil
		case <-t.Context.Done():
			return t.Context.Err()
		case <-tick.C:
			bar.Set(n, -1)
		}
	}
}
