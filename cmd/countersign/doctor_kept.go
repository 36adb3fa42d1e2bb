package main

import (
	"context"
	"time"
)

// keptAtLeast is how long deployers of high-risk systems keep their logs at least: six months
// (EU AI Act, article 26(6)).
const keptAtLeast = 184 * 24 * time.Hour

// checkKept warns of settings that let runs leave the store, or what they hold be removed, earlier
// than that. The default of redaction is none of these: it removes nothing by itself.
func checkKept(_ context.Context, cfg config) (out []finding) {
	const do = "if the EU AI Act's article 26(6) binds you, set at least 184d; the audit log and the archives stay in any case"
	if cfg.Retention > 0 && cfg.Retention < keptAtLeast {
		out = append(out, warn("retention", do, "runs leave the store, and have no receipt any more, %s after their end, which is less than six months", cfg.Retention))
	}
	if cfg.RedactAfter < redactAfterDefault {
		out = append(out, warn("redaction", do, "what a run holds may be removed %s after its end, earlier than by default", cfg.RedactAfter))
	}
	return out
}
