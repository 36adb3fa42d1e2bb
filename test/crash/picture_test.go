package crash

import (
	"fmt"

	"github.com/countersign/countersign/test/harness"
)

// picture is A: what the API and the audit log say while nothing moves. An ended run is read once, and once more at the
// very end.
type picture struct {
	runs      map[string]json
	approvals map[string]json
	log       *auditLog
}

func newPicture() *picture {
	return &picture{runs: map[string]json{}, approvals: map[string]json{}, log: newAuditLog()}
}

// settle waits until every run has ended or waits for a person: then only requests change anything.
func (b *bed) settle() {
	b.t.Helper()
	harness.Until(b.t, "all runs to stand still", func() bool {
		return still(b.Admin.Get("/metrics").OK(b.t))
	})
}

func still(metrics json) bool {
	m := metrics.At("countersign_unfinished_runs")
	return m.Exists() && m.At("active").Int() == 0 && m.At("queued").Int() == 0
}

func (p *picture) take(b *bed) error {
	b.t.Helper()
	p.refresh(b, "/approvals", p.approvals, isDecided)
	p.refresh(b, "/runs", p.runs, func(r json) bool { return ended(r.At("status").Text()) })
	return p.log.read(b)
}

func isDecided(approval json) bool {
	return approval.Exists() && approval.At("status").Text() != "PENDING"
}

func ended(status string) bool {
	return status == "COMPLETED" || status == "FAILED" || status == "CANCELLED"
}

// refresh reads new records, newest first, and again those that may have changed.
func (p *picture) refresh(b *bed, path string, known map[string]json, closed func(json) bool) {
	b.t.Helper()
	for offset, fresh := 0, true; fresh; offset += 50 {
		fresh = false
		for _, item := range b.Admin.Get(fmt.Sprintf("%s?limit=50&offset=%d", path, offset)).OK(b.t).At("items").Items() {
			id := item.At("id").Text()
			if _, is := known[id]; !is {
				known[id], fresh = harness.Absent, true
			}
		}
	}
	for id, was := range known {
		if !closed(was) {
			known[id] = b.Admin.Get(path + "/" + id).OK(b.t)
		}
	}
}

// stepOf is a step of a run, absent if it has none with that id.
func stepOf(run json, id string) json {
	for _, s := range run.At("steps").Items() {
		if s.At("id").Text() == id {
			return s
		}
	}
	return harness.Absent
}
