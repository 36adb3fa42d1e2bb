package web

import (
	"bytes"
	"html/template"
	"testing"

	"github.com/countersign/countersign/internal/server/console/text"
)

// TestEveryValueOfATemplateIsShownAsItIs: none of them is asked to take care itself.
func TestEveryValueOfATemplateIsShownAsItIs(t *testing.T) {
	const evil = "a\u202eb"
	for given, want := range map[string]string{
		`<p>{{.}}</p>`: `<p>a\u202eb</p>`,
		`<pre class="kept">{{.}}</pre><p>{{.}}</p>`:                `<pre class="kept">a\u202eb</pre><p>a\u202eb</p>`,
		`<p title="{{.}}">x</p>`:                                   `<p title="a\u202eb">x</p>`,
		`<p class="x" title='{{.}}'>{{.}}</p>`:                     `<p class="x" title='a\u202eb'>a\u202eb</p>`,
		`<input value="{{.}}" name="n">{{.}}`:                      `<input value="` + evil + `" name="n">a\u202eb`,
		`<textarea rows="3">{{.}}</textarea>`:                      `<textarea rows="3">` + evil + `</textarea>`,
		`<textarea>{{.}}</textarea><b>{{.}}`:                       `<textarea>` + evil + `</textarea><b>a\u202eb`,
		`<title>{{.}}</title>`:                                     `<title>a\u202eb</title>`,
		`<optgroup label="{{.}} (x)"></optgroup>`:                  `<optgroup label="a\u202eb (x)"></optgroup>`,
		`<option value="{{.}}">{{.}}</option>`:                     `<option value="` + evil + `">a\u202eb</option>`,
		`{{if .}}<i>{{.}}{{else}}x{{end}}</i>`:                     `<i>a\u202eb</i>`,
		`{{with $x := .}}<i>{{$x}}</i>{{end}}`:                     `<i>a\u202eb</i>`,
		`{{define "d"}}<i>{{.}}</i>{{end}}{{template "d" .}}`:      `<i>a\u202eb</i>`,
		`<a{{if .}} aria-label="{{.}}"{{end}} href="/x">{{.}}</a>`: `<a aria-label="a\u202eb" href="/x">a\u202eb</a>`,
	} {
		one := template.Must(template.New("").Funcs(text.Functions).Parse(given))
		shownIn(one)
		shownIn(one) // a clone's again
		var b bytes.Buffer
		if err := one.Execute(&b, evil); err != nil || b.String() != want {
			t.Errorf("%s became %q, expected %q: %v", given, b.String(), want, err)
		}
	}
}

func TestAValueInTextIsIsolatedWhereItTurnsAndMarkedWhereItMayDeceive(t *testing.T) {
	one := template.Must(template.New("").Funcs(text.Functions).Parse(`{{.}}`))
	shownIn(one)
	for given, want := range map[any]string{
		"plain": "plain", "zurück": "zurück", 5: "5", template.HTML("<b>ש</b>"): "<b>ש</b>",
		"<שלום>":                     "<bdi>&lt;שלום&gt;</bdi>",
		"p\u0430y":                   `<bdi>p` + "\u0430" + `y</bdi> <span class="doubt">mixes scripts: “` + "\u0430" + `” is Cyrillic (U+0430), looks like a</span>`,
		struct{ template.HTML }{"x"}: "{x}",
	} {
		var b bytes.Buffer
		if err := one.Execute(&b, given); err != nil || b.String() != want {
			t.Errorf("%v became %q, expected %q: %v", given, b.String(), want, err)
		}
	}
}

// TestALineFeedIsAnEscapeWhereTextIsOneLine: a title of two lines would pass for two
// entries of a list. Blocks of text keep theirs.
func TestALineFeedIsAnEscapeWhereTextIsOneLine(t *testing.T) {
	const title = "a\n\tb\r\nc"
	for given, want := range map[string]string{
		`<h1>{{.}}</h1>`:                          `<h1>a\n\tb\u000d\nc</h1>`,
		`<td>{{.}}</td>`:                          `<td>a\n\tb\u000d\nc</td>`,
		`<a aria-label="{{.}}">{{.}}</a>`:         `<a aria-label="a\n\tb\u000d\nc">a\n\tb\u000d\nc</a>`,
		`<option>{{.}}</option>`:                  `<option>a\n\tb\u000d\nc</option>`,
		`<title>{{.}}</title>`:                    `<title>a\n\tb\u000d\nc</title>`,
		`<pre class="x">{{.}}</pre><b>{{.}}</b>`:  "<pre class=\"x\">a\n\tb\nc</pre><b>a\\n\\tb\\u000d\\nc</b>",
		`<p class="kept">“{{shownLines .}}”</p>`:  "<p class=\"kept\">“a\n\tb\nc”</p>",
		`<pre>{{if .}}{{.}}{{end}}</pre><i>{{.}}`: "<pre>a\n\tb\nc</pre><i>a\\n\\tb\\u000d\\nc",
	} {
		one := template.Must(template.New("").Funcs(text.Functions).Parse(given))
		shownIn(one)
		var b bytes.Buffer
		if err := one.Execute(&b, title); err != nil || b.String() != want {
			t.Errorf("%s became %q, expected %q: %v", given, b.String(), want, err)
		}
	}
}
