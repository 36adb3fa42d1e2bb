package console

import (
	"html/template"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
)

// textFunctions are what templates write values with.
var textFunctions = template.FuncMap{
	"clock": clock, "exact": exactly, "upper": upper, "titled": titled, "breakable": breakable,
	"took": func(ms int64) template.HTML { return unbroken(took(ms)) }, "size": func(n int64) template.HTML { return unbroken(size(n)) },
	"bytes":  func(n countersign.ByteCount) template.HTML { return unbroken(size(int64(n))) },
	"plural": func(n int, one, many string) template.HTML { return unbrokenSpaces(plural(n, one, many), 1) }, "nb": func() template.HTML { return unbroken(" ") },
	"inc": func(i int) int { return i + 1 }, "inc64": func(i int64) int64 { return i + 1 }, "seg": url.PathEscape,

	"json": payload, "inline": inline, "indented": pretty, "whole": whole, "copied": copied,
	"shown": shown, "shownLines": shownLines, "shownAside": shownAside,

	"who": who, "called": called, "makers": makers, "isUser": func(id string) bool { return strings.HasPrefix(id, "user:") }, "roleWords": roleWords,
	"runState": runState, "stepState": stepState, "approvalState": approvalState, "restored": countersign.RestoredWords, "decidedBecause": decidedBecause,
	"rulesOf": func(c countersign.Capability) []shownRule { return rulesOf(&c) }, "atMost": atMost,
}
