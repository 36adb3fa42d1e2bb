package httpapi

import (
	"bufio"
	"fmt"
	"net/http"
	"time"

	"github.com/countersign/countersign"
)

// exportBuffer is the size of a write.
const exportBuffer = 64 << 10

// exportAudit streams a log as JSON lines; the last one describes the export. A failed
// export breaks the connection and lacks that line.
func (a *API) exportAudit(c *call, w http.ResponseWriter) error {
	out := &lines{call: c, api: a, w: w, flush: http.NewResponseController(w)}
	if c.r.Method == http.MethodHead {
		return out.begin()
	}
	end, err := a.control.ExportAudit(c.ctx, c.actor, auditFilter(c), c.after, c.query["realm"] == "true", out.line)
	if err == nil {
		err = out.end(end)
	}
	if err != nil && out.buffer != nil {
		panic(http.ErrAbortHandler) // the status was already sent, so break the connection
	}
	return err
}

// lines writes JSON lines. The response starts with the first line, so that an earlier
// refusal gets its own status.
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

// line writes one record. Once a second it checks the caller's permission and extends
// the write deadline.
func (l *lines) line(doc []byte) error {
	if err := l.goesOn(); err != nil {
		return err
	}
	if l.buffer == nil {
		if err := l.begin(); err != nil {
			return err
		}
	}
	if _, err := l.buffer.Write(doc); err != nil {
		return err
	}
	return l.buffer.WriteByte('\n')
}

func (l *lines) goesOn() error {
	select {
	case <-l.api.stop:
		return countersign.Errorf(countersign.CodeUnavailable, "the service is stopping; export again when it is up")
	default:
	}
	now := time.Now()
	if now.Before(l.bound) {
		return nil
	}
	l.bound = now.Add(time.Second)
	_ = l.flush.SetWriteDeadline(now.Add(writeBound)) // if supported
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
