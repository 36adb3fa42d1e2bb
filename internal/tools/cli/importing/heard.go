package importing

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/countersign/countersign/internal/tools/adapter/mcpup"
)

// heard keeps the end of what a server says, by which its operator knows what it lacks.
type heard struct {
	slog.Handler
	mu   sync.Mutex
	text string
}

// Enabled implements slog.Handler.
func (*heard) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (h *heard) WithAttrs([]slog.Attr) slog.Handler { return h }

// Handle implements slog.Handler.
func (h *heard) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if r.Message == mcpup.Says && a.Key == mcpup.SaysText {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.text = strings.Join(strings.Fields(h.text+" "+a.Value.String()), " ")
			h.text = strings.ToValidUTF8(h.text[max(0, len(h.text)-maxHeard):], "")
		}
		return true
	})
	return nil
}

const maxHeard = 1000

// quoted is what was heard, as text of others.
func (h *heard) quoted() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text == "" {
		return ""
	}
	return "; it says: " + strconv.Quote(h.text)
}
