package control_test

import (
	"testing"

	"github.com/countersign/countersign/internal/evidence/audit"
)

// TestAnExportHasEachRecordOnceHoweverOftenItsReadsRun: the fixture's store runs each
// function twice, as an engine may that has lost its connection.
func TestAnExportHasEachRecordOnceHoweverOftenItsReadsRun(t *testing.T) {
	h := open(t)
	records := 0
	end, err := h.service.ExportAudit(background, as("acme"), audit.Filter{}, nil, false, func([]byte) error {
		records++
		return nil
	})
	h.must(err)
	if records == 0 || int64(records) != end.Size || end.Records != int64(records) {
		t.Errorf("%d records of %d were exported, %d counted", records, end.Size, end.Records)
	}
}
