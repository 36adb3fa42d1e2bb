package request

import (
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/countersign/countersign"
)

// Text in a path (contract 12.1): an input with pathText takes more than an id. It is
// percent-encoded whole, / too, so that it stays one segment to whoever reads the path as it
// was sent. A receiver that decodes before it splits must get no other path than the one
// that approvers see either: hence what notInPath refuses, whatever the pattern allows.

// pathTexts checks where pathText may stand.
func (k *capabilityCheck) pathTexts(m mapping) {
	for _, name := range sortedNames(m.capability.InputSchema) {
		switch path := "inputSchema." + name + ".pathText"; {
		case !m.capability.InputSchema[name].PathText:
		case name == resourceID:
			k.add(path, "not_an_id", "{resourceId} is an identifier always; name the placeholder otherwise")
		case !m.path[name]:
			k.add(path, "no_place", "is for an input that fills the path, and the path has no {%s}", name)
		}
	}
}

// pathValue says why a value can't stand in a path, "" where it can.
func pathValue(f countersign.InputField, text string) string {
	switch {
	case f.PathText:
		return notInPath(text)
	case !countersign.ValidID(text):
		return "goes to the path, so it must be an id: a letter or digit, then at most 127 letters, digits, dots, underscores and hyphens"
	}
	return ""
}

func notInPath(text string) string {
	if text == "" {
		return "goes to the path, so it can't be empty"
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return strings.ContainsRune(`%\;?#`, r) || unicode.IsControl(r) }); i >= 0 {
		return `goes to the path, so it can't hold % \ ; ? # or control characters`
	}
	for part := range strings.SplitSeq(text, "/") {
		if part == "" || part == "." || part == ".." {
			return "goes to the path, so no part of it between slashes may be empty, . or .."
		}
	}
	return ""
}

// patternOf is the expression that an input's values must match: beside pathText all of the
// value, for what a pattern leaves out of account would be text in a path that nobody meant.
func patternOf(f countersign.InputField) string {
	if !f.PathText || f.Pattern == "" {
		return f.Pattern
	}
	tree, err := syntax.Parse(f.Pattern, syntax.Perl)
	if err != nil {
		return f.Pattern // which says what is wrong
	}
	return `\A(?:` + tree.String() + `)\z` // of the tree: an open \Q would take the end in
}
