package run

import (
	"strings"

	"github.com/countersign/countersign"
)

// differsWords names the fields for the audit log, and no value.
func differsWords(ds []countersign.Discrepancy) string {
	if len(ds) == 0 {
		return ""
	}
	names := make([]string, len(ds))
	for i, d := range ds {
		names[i] = d.Field
	}
	return " (differs from what was sent: " + strings.Join(names, ", ") + ")"
}
