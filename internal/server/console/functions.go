package console

import (
	"html/template"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/upgrade"
)

// functions are the template functions besides the frame's methods.
var functions = template.FuncMap{
	"icon": icon, "named": named, "asset": Asset, "chip": chip, "plainChip": plainChip,
	"clock": clock, "upper": upper,
	"took": func(ms int64) template.HTML { return unbroken(took(ms)) }, "size": func(n int64) template.HTML { return unbroken(size(n)) },
	"bytes":  func(n countersign.ByteCount) template.HTML { return unbroken(size(int64(n))) },
	"plural": func(n int, one, many string) template.HTML { return unbrokenSpaces(plural(n, one, many), 1) }, "nb": func() template.HTML { return unbroken(" ") },
	"json": payload, "inline": inline, "whole": whole, "who": who, "restored": countersign.RestoredWords, "isUser": func(id string) bool { return strings.HasPrefix(id, "user:") }, "called": called, "decidedBecause": decidedBecause, "makers": makers, "titled": titled,
	"runState": runState, "stepState": stepState, "approvalState": approvalState,
	"nav": entry, "nextTheme": nextTheme, "themeWord": themeWord,
	"tinted": tinted, "resolution": resolvedAs,

	"shown": shown, "shownLines": shownLines, "shownAside": shownAside, "copied": copied, "apart": highlighted,

	// models, projects, agents and teams
	"enabledState": enabledState, "healthState": healthState, "adapterWord": adapterWord, "authWord": authWord, "approvalWord": approvalWord,
	"using":          using,
	"upgradeNotices": func(p countersign.Project) []upgrade.Notice { return upgrade.OfProject(&p) },
	"rulesOf":        func(c countersign.Capability) []shownRule { return rulesOf(&c) },
	"budgetWord":     budgetWord, "livenessState": livenessState, "admissionState": admissionState, "teamState": teamState, "modelState": modelState, "breakable": breakable, "atMost": atMost,

	// Access and audit.
	"roleWords": roleWords, "webhookState": webhookState, "subjectHref": subjectHref, "auditOutcome": auditOutcome, "refusedWith": refusedWith, "exact": exactly,
	"seg": url.PathEscape, "inc": func(i int) int { return i + 1 },
	"indented": pretty, "ctl": ctl, "rows": rows, "inc64": func(i int64) int64 { return i + 1 },
}
