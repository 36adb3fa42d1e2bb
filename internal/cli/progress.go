package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on standard error where a person watches, and else nothing.
// A length below 0 is unknown.
func progress(t *Terminal, length int64, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions64(length,
		progressbar.OptionSetWriter(t.Errs), progressbar.OptionSetVisibility(Watched(t.Errs)), progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(length > 0), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
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
	bar := progress(t, -1, what)
	defer func() { _ = bar.Finish() }()
	for {
		select {
		case <-done:
			return nil
		case <-t.Context.Done():
			return t.Context.Err()
		case <-tick.C:
			_ = bar.Add(1)
		}
	}
}
