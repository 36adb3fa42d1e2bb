package safetext

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Escaped makes a value safe to review: it keeps everything, but writes each character
// that is invisible or moves the text around it as a JSON escape such as \u202e.
func Escaped(s string) string { return escaped(s, "") }

// EscapedLines is Escaped for multi-line text; it keeps the line breaks.
func EscapedLines(s string) string { return escaped(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

// JSON applies the same escapes to JSON text, which remains the same document.
func JSON(text string) string { return escaped(text, "\n\r\t") }

func escaped(s, but string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r), strings.ContainsRune(but, r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff: // as JSON has it, since what is shown may be copied into JSON
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Doubt says why a value may not be what it looks like, "" if there is no reason: it
// mixes scripts within a word, so that a letter can be mistaken for one of another
// alphabet; all of its letters of another alphabet pass for ASCII; or it is not in NFC, so
// that values that look alike have different bytes. A value without spaces is one word:
// identifiers have hyphens and digits. It says which letter, and what it is.
func Doubt(s string) string {
	if isASCII(s) {
		return ""
	}
	var found []string
	if r := mixed(s, !strings.ContainsFunc(s, unicode.IsSpace)); r != 0 {
		found = append(found, "mixes scripts: "+letterWords(r))
	} else if r := passesForASCII(s); r != 0 {
		found = append(found, letterWords(r))
	}
	if !norm.NFC.IsNormalString(s) {
		found = append(found, "not NFC")
	}
	return strings.Join(found, ", ")
}

// DoubtJSON is the first doubt among the texts of a JSON document, its names among them; of
// what is no JSON it is the doubt of the whole.
func DoubtJSON(text string) string {
	if isASCII(text) && !strings.Contains(text, `\u`) {
		return ""
	}
	if !json.Valid([]byte(text)) {
		return Doubt(text)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for {
		t, err := dec.Token()
		if err != nil {
			return ""
		}
		if s, ok := t.(string); ok {
			if doubt := Doubt(s); doubt != "" {
				return doubt
			}
		}
	}
}

// MixesScripts reports a word, up to the next character that is no letter, whose letters no
// one way of writing has.
func MixesScripts(s string) bool { return mixed(s, false) != 0 }

// isolated isolates the direction of a value from the text around it in plain text
// such as mail and terminals. A value without right-to-left characters stays
// unchanged.
func isolated(s string) string {
	if !Turns(s) {
		return s
	}
	return "\u2068" + s + "\u2069"
}

// Value formats a value on one line: escaped, isolated, and followed by its doubt.
func Value(s string) string { return marked(isolated(Escaped(s)), Doubt(s)) }

func marked(shown, doubt string) string {
	if doubt == "" {
		return shown
	}
	return shown + " [" + doubt + "]"
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// Turns reports a text that is read from right to left somewhere.
func Turns(s string) bool { return !isASCII(s) && strings.ContainsFunc(s, turns) }

// turns reports a character that is read from right to left.
func turns(r rune) bool {
	if r < 0x80 {
		return false
	}
	p, _ := bidi.LookupRune(r)
	class := p.Class()
	return class == bidi.R || class == bidi.AL || class == bidi.AN
}

// systems are the ways of writing that use several scripts, as Unicode's UTS 39 has
// them; every other script is one of its own.
var systems = map[string][]string{
	"Han": {"Japanese", "Korean", "Bopomofo"}, "Hiragana": {"Japanese"}, "Katakana": {"Japanese"},
	"Hangul": {"Korean"}, "Bopomofo": {"Bopomofo"},
}

// mixed is a letter that makes a word mix scripts: no one way of writing has all of the
// word's letters. 0 for none. Digits and what nobody sees stand in words of every script;
// whole: only spaces end a word. Of the word's letters it is one that passes for ASCII, else
// the first of another script than those before.
func mixed(s string, whole bool) rune {
	var last script
	var word []string // the ways of writing that have all letters of the word so far
	var like rune     // the first letter of the word that passes for ASCII
	for _, r := range s {
		switch {
		case unicode.IsSpace(r), strings.ContainsRune("\"“”", r): // what is quoted is a value of its own
			word, like = nil, 0
		case hidden(r), unicode.IsMark(r), unicode.IsDigit(r):
		case !unicode.IsLetter(r):
			if !whole {
				word, like = nil, 0
			}
		default:
			if like == 0 && r >= 0x80 && looksLike(r, true) != 0 {
				like = r
			}
			if last = last.of(r); last.systems == nil {
				continue
			}
			if word == nil {
				word = last.systems
				continue
			}
			if word = common(word, last.systems); len(word) == 0 {
				return cmp.Or(like, r)
			}
		}
	}
	return 0
}

func common(a, b []string) (both []string) {
	for _, name := range a {
		if slices.Contains(b, name) {
			both = append(both, name)
		}
	}
	return both
}

// script is a script with the ways of writing that use it, nil for what all use.
type script struct {
	table   *unicode.RangeTable
	systems []string
}

// of is the script of a letter, mostly that of the letter before.
func (s script) of(r rune) script {
	if s.table != nil && unicode.Is(s.table, r) {
		return s
	}
	for name, table := range unicode.Scripts {
		if !unicode.Is(table, r) {
			continue
		}
		switch list, several := systems[name]; {
		case name == "Common" || name == "Inherited":
			return script{table: table}
		case several:
			return script{table, list}
		default:
			return script{table, []string{name}}
		}
	}
	return script{}
}
