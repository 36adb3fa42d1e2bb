package witness

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
)

// Handler serves the protocol: POST /add-checkpoint. Who asks isn't asked for: the log's signature
// says whose checkpoint it is.
func Handler(w *Witness, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, checkpoint.MaxSubmission))
		if err != nil {
			http.Error(rw, "the submission could not be read, or is too large", http.StatusBadRequest)
			return
		}
		line, err := w.Cosign(string(body))
		answer(rw, log, line, err)
	})
	mux.HandleFunc("GET /", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(rw, w.VKey())
	})
	return mux
}

func answer(rw http.ResponseWriter, log *slog.Logger, line string, err error) {
	var refused *refusalError
	switch {
	case err == nil:
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(rw, line)
	case errors.As(err, &refused) && refused.status == conflict:
		rw.Header().Set("Content-Type", "text/x.tlog.size")
		rw.WriteHeader(conflict)
		_, _ = fmt.Fprintln(rw, refused.size)
	case errors.As(err, &refused):
		http.Error(rw, refused.text, refused.status)
	default:
		log.Error("a checkpoint could not be kept, so it isn't cosigned", "error", err)
		http.Error(rw, "the checkpoint could not be kept; submit it again later", http.StatusServiceUnavailable)
	}
}
