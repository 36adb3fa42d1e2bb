// Package archive defines the files of archived runs: lines of JSON, compressed with
// gzip, that are verifiably complete. The audit log has the SHA-256 of each file as it
// is on disk (docs/reference/archive.md).
package archive

import (
	"bytes"
	"compress/gzip"

	"github.com/countersign/countersign"
)

// Format is the first word of a file.
const Format = "countersign-runs/1"

// The lines of a file, in this order: a head; each plan before the first run of it;
// the runs; a tail.
type (
	head struct {
		Archive  string `json:"archive"`
		TenantID string `json:"tenantId"`
		Runs     int    `json:"runs"`
	}
	planLine struct {
		Plan *countersign.Plan `json:"plan"`
	}
	runLine struct {
		Run       *countersign.Run       `json:"run"`
		Approvals []countersign.Approval `json:"approvals"`
		Receipt   countersign.Value      `json:"receipt,omitzero"`
	}
	tail struct {
		SHA256 string `json:"sha256"` // over all lines before
	}
)

// Entry is a run with everything that belongs to it. Its PlanSnapshot is the plan that
// it was started from.
type Entry struct {
	Run       countersign.Run
	Approvals []countersign.Approval
	Receipt   countersign.Value // what it proves stands without the service; none in files of before
}

// Encode is deterministic, so that archiving a batch twice gives one file.
func Encode(tenant string, entries []Entry) ([]byte, error) {
	w := new(writer)
	w.line(head{Format, tenant, len(entries)})
	plans := map[string]bool{}
	for _, e := range entries {
		if !plans[e.Run.PlanID] {
			plans[e.Run.PlanID] = true
			w.line(planLine{e.Run.PlanSnapshot})
		}
		e.Run.PlanSnapshot = nil
		if e.Approvals == nil {
			e.Approvals = []countersign.Approval{}
		}
		w.line(runLine{&e.Run, e.Approvals, e.Receipt})
	}
	w.line(tail{countersign.SHA256Hex(w.text.Bytes())})
	return w.packed()
}

type writer struct {
	text bytes.Buffer
	err  error
}

func (w *writer) line(v any) {
	doc, err := countersign.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	w.text.Write(doc)
	w.text.WriteByte('\n')
}

func (w *writer) packed() ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if w.err == nil {
		_, w.err = z.Write(w.text.Bytes())
	}
	if w.err == nil {
		w.err = z.Close()
	}
	return out.Bytes(), w.err
}
