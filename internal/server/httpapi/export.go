package httpapi

import (
	"bufio"
	"fmt"
	"net/http"
	"time"

	"github.com/countersign/countersign"
)

// exportBuffer is how much of an export is written at once.
const exportBuffer = 64 << 10

// exportAudit streams a log as lines of JSON, the last of which says what they are
// of. An export that breaks off breaks the connection, and lacks that line.
func (a *API) exportAudit(c *call, w http.ResponseWriter) error {
	out := &lines{call: c, api: a, w: w, flush: http.NewResponseController(w)}
	if c.r.Method == http.MethodHead {
		return out.begin()
	}
	end, err := a.control.ExportAudit(c.ctx, c.actor, auditFilter(c), c.query["realm"] == "true", out.line)
	if err == nil {
		err = out.end(end)
	}
	if err != nil && out.buffer != nil {
		panic(http.ErrAbortHandler) // its status was sent: only the connection can say so
	}
	return err
}

// lines writes lines; the answer begins with the first, so that a refusal before is
// an answer of its own.
type lines struct {
	call   *call
	api    *API
	w      http.ResponseWriter
	flush  *http.ResponseController
	buffer *bufio.Writer
	bound  time.Time
}

func (l *lines) begin() error {
	l.w.Header().Set("Content-Type", "application/x-ndjson")
	l.w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	l.w.Header().Set("X-Accel-Buffering", "no")
	l.w.WriteHeader(http.StatusOK)
	l.buffer = bufio.NewWriterSize(l.w, exportBuffer)
	return nil
}

// line writes one record. Now and then it looks whether whoever asked may still ask,
// and gives the reader time for what comes.
func (l *lines) line(doc []byte) error {
	if l.buffer == nil {
		if err := l.begin(); err != nil {
			return err
		}
	}
	if err := l.goesOn(); err != nil {
		return err
	}
	if _, err := l.buffer.Write(doc); err != nil {
		return err
	}
	return l.buffer.WriteByte('\n')
}

func (l *lines) goesOn() error {
	select {
	case <-l.api.stop:
		return countersign.Errorf(countersign.CodeUnavailable, "the service stops; export again")
	default:
	}
	now := time.Now()
	if now.Before(l.bound) {
		return nil
	}
	l.bound = now.Add(time.Second)
	_ = l.flush.SetWriteDeadline(now.Add(writeBound)) // where the server can
	return l.api.authenticate(l.call)
}

func (l *lines) end(end countersign.AuditExport) error {
	doc, err := countersign.Marshal(countersign.AuditExportEnd{Export: &end})
	if err != nil {
		return fmt.Errorf("end of an export: %w", err)
	}
	if err := l.line(doc); err != nil {
		return err
	}
	return l.buffer.Flush()
}
