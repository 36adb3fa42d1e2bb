package importer

import (
	"slices"

	"github.com/countersign/countersign"
)

// A value for the path is an id, unless the capability has pathText for it, which lets any
// text through to whoever reads the path. So it is proposed only where the caller says so,
// for inputs of which the document shows that ids aren't enough.

// pathWords are words of names whose values aren't ids: the names of files and branches have
// slashes, addresses an @.
var pathWords = []string{"path", "filepath", "filename", "ref", "branch", "email", "emoji", "url", "uri"}

var pathFormats = []string{"email", "idn-email", "uri", "uri-reference", "iri", "url"}

// needsText reports a path parameter whose values needn't be ids.
func (p parameter) needsText() bool {
	schema, why := p.schema().resolved()
	if why != nil || p.name == "resourceId" {
		return false
	}
	texts := append([]node{p.at("example"), schema.at("example"), schema.at("default"), schema.at("const")}, schema.at("enum").list()...)
	return slices.Contains(pathFormats, schema.at("format").text()) || p.at("allowReserved").isTrue() ||
		slices.ContainsFunc(texts, func(n node) bool { return n.kind() == "string" && !countersign.ValidID(n.text()) && n.text() != "" }) ||
		slices.ContainsFunc(wordsOf(p.name), func(w string) bool { return slices.Contains(pathWords, w) })
}

// text marks what needs more than ids.
func (d *draft) text(params []parameter, propose bool) {
	for _, p := range params {
		f, declared := d.capability.InputSchema[p.name]
		if p.in != "path" || !declared || !f.Takes("string") || !p.needsText() {
			continue
		}
		d.needText = append(d.needText, p.name)
		if propose {
			f.PathText = true
			d.capability.InputSchema[p.name] = f
		}
	}
}
