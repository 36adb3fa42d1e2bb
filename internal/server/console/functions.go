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

// icon is a decorative symbol.
func icon(name string) template.HTML { return drawn(name, `aria-hidden="true"`) }

// named is a symbol with an accessible name.
func named(name, word string) template.HTML {
	return drawn(name, `role="img" aria-label="`+template.HTMLEscapeString(word)+`"`)
}

func drawn(name, how string) template.HTML {
	class := "i"
	if name == "s-running" {
		class = "i spin"
	}
	return template.HTML(`<svg class="` + class + `" ` + how + `><use href="` + Prefix + `/assets/sprite.svg#` + template.HTMLEscapeString(name) + `"/></svg>`) //nolint:gosec // every part is ours or escaped
}

// chip is a state's icon and word; plainChip has no background, for dense tables.
func chip(s state) template.HTML { return chipWith("chip", s) }

func plainChip(s state) template.HTML { return chipWith("chip chip--plain", s) }

func chipWith(class string, s state) template.HTML {
	return template.HTML(`<span class="`+class+` `+s.Class+`">`) + icon(s.Icon) + template.HTML(template.HTMLEscapeString(s.Word)+`</span>`) //nolint:gosec // the class is ours, the word escaped
}

type navigation struct {
	Here             bool
	Href, Icon, Word string
}

func entry(now, name, href, icon, word string) navigation {
	return navigation{Here: now == name, Href: href, Icon: icon, Word: word}
}
