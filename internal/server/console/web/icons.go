package web

import (
	"html/template"

	"github.com/countersign/countersign/internal/server/console/text"
)

// Functions are what templates draw a page's frame with.
var Functions = template.FuncMap{
	"icon": icon, "named": Named, "asset": Asset, "chip": chip, "plainChip": plainChip,
	"nav": entry, "nextTheme": nextTheme, "themeWord": themeWord,
}

// icon is a decorative symbol.
func icon(name string) template.HTML { return drawn(name, `aria-hidden="true"`) }

// Named is a symbol with an accessible name.
func Named(name, word string) template.HTML {
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
func chip(s text.State) template.HTML { return chipWith("chip", s) }

func plainChip(s text.State) template.HTML { return chipWith("chip chip--plain", s) }

func chipWith(class string, s text.State) template.HTML {
	return template.HTML(`<span class="`+class+` `+s.Class+`">`) + icon(s.Icon) + template.HTML(template.HTMLEscapeString(s.Word)+`</span>`) //nolint:gosec // the class is ours, the word escaped
}

type navigation struct {
	Here             bool
	Href, Icon, Word string
}

func entry(now, name, href, icon, word string) navigation {
	return navigation{Here: now == name, Href: href, Icon: icon, Word: word}
}
