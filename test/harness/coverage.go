package harness

import (
	"sync"
)

// covered records, over all tests, which operations answered with which status.
var covered struct {
	sync.Mutex
	statuses map[string]map[int]bool // by operationId
	document *Document
}

func cover(d *Document, operation string, status int) {
	covered.Lock()
	defer covered.Unlock()
	if covered.statuses == nil {
		covered.statuses = map[string]map[int]bool{}
	}
	if covered.statuses[operation] == nil {
		covered.statuses[operation] = map[int]bool{}
	}
	covered.statuses[operation][status] = true
	covered.document = d
}

// Uncovered lists the operations of the document that succeeded in no test, nil if no server was
// started.
func Uncovered() []string {
	covered.Lock()
	defer covered.Unlock()
	if covered.document == nil {
		return nil
	}
	var out []string
	for _, o := range covered.document.Operations {
		if !covered.statuses[o.ID][o.Success()] {
			out = append(out, o.ID)
		}
	}
	return out
}
