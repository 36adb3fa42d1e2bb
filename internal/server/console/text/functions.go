package text

import (
	"html/template"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
)

// Functions are what templates write values with.
var Functions = template.FuncMap{
	"clock": clock, "exact": exactly, "upper": Upper, "grouped": Grouped, "titled": Titled, "breakable": breakable,
	"took": func(ms int64) template.HTML { return unbroken(Took(ms)) }, "size": func(n int64) template.HTML { return unbroken(size(n)) },
	"bytes":  func(n countersign.ByteCount) template.HTML { return unbroken(size(int64(n))) },
	"plural": func(n int, one, many string) template.HTML { return unbrokenSpaces(Plural(n, one, many), 1) }, "nb": func() template.HTML { return unbroken(" ") },
	"inc": func(i int) int { return i + 1 }, "inc64": func(i int64) int64 { return i + 1 }, "seg": url.PathEscape,

	"json": payload, "inline": Inline, "indented": Pretty, "whole": whole, "copied": copied,
	"shown": shown, "shownLines": shownLines, "shownAside": shownAside,

	"who": Who, "called": Called, "person": person, "short": short, "makers": makers, "isUser": func(id string) bool { return strings.HasPrefix(id, "user:") }, "roleWords": RoleWords,
	"runState": RunState, "stepState": StepState, "approvalState": ApprovalState, "restored": countersign.RestoredWords, "decidedBecause": DecidedBecause,
	"rulesOf": func(c countersign.Capability) []ShownRule { return RulesOf(&c) }, "atMost": atMost,
}
