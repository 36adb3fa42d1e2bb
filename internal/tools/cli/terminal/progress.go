package terminal

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar shows progress on standard error if that is a terminal. A nil Bar shows nothing.
type Bar struct{ bar *progressbar.ProgressBar }

// NewBar makes a progress bar; it returns nil if standard error is no terminal.
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

// Set sets how much is done and the total, which is negative if it is unknown.
func (b *Bar) Set(done, all int64) {
	if b == nil {
		return
	}
	b.bar.ChangeMax64(all)
	_ = b.bar.Set64(done)
}

// Write counts bytes, so that a Bar can be one of the writers of a copy.
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

// Working calls f and shows a progress bar. If the command is interrupted, it returns an
// error without waiting for f; the results of f are valid only without an error.
func Working(t *Terminal, what string, f func()) error {
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
