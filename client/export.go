package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

const exportType = "application/x-ndjson"

// errBrokeOff is the error for an export without its last line.
var errBrokeOff = errors.New("the export broke off before its last line")

// ExportAudit writes the records of a log to w, one a line, oldest first, and then a line with the
// log's size and head, which it also returns (ADMIN). It ignores Paging and writes all records, in
// bounded memory. Without an error the export is complete.
func (c *Client) ExportAudit(ctx context.Context, f AuditFilter, w io.Writer) (*countersign.AuditExport, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	f.Paging = Paging{}
	query := f.query()
	if f.After != nil {
		query.Set("after", strconv.FormatInt(*f.After, 10))
	}
	q := Request{Method: http.MethodGet, Path: "/audit/export", Query: query, Header: http.Header{"Accept": {exportType}}}
	r, err := c.request(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, lost(q, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), exportType) {
		return nil, c.noStream(q, res)
	}
	return copyExport(q, bufio.NewReaderSize(res.Body, 64<<10), w, func() { alarm.Reset(silence) })
}

// copyExport copies lines up to and including the last one, which is no record.
func copyExport(q Request, in *bufio.Reader, w io.Writer, heard func()) (*countersign.AuditExport, error) {
	for {
		line, err := readLine(in)
		if err != nil {
			return nil, lost(q, fmt.Errorf("%w: %w", errBrokeOff, err))
		}
		heard()
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return nil, err
		}
		if end := endOfExport([]byte(line)); end != nil {
			return end, nil
		}
	}
}

func endOfExport(line []byte) *countersign.AuditExport {
	if !bytes.HasPrefix(line, []byte(`{"export":`)) {
		return nil
	}
	var end countersign.AuditExportEnd
	if json.Unmarshal(line, &end) != nil {
		return nil
	}
	return end.Export
}
