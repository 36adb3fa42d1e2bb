package drawn

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// readOf is what somebody reads of a drawing, without the blanks of its layout.
func readOf(drawn string) string {
	var b strings.Builder
	for drawn != "" {
		text, tag, _ := strings.Cut(drawn, "<")
		b.WriteString(text)
		_, drawn, _ = strings.Cut(tag, ">")
	}
	return html.UnescapeString(b.String())
}

func wholeOf(t *testing.T, raw string) (text string, parts int) {
	t.Helper()
	body := countersign.RawValue(raw)
	first := BodyPartOf(body, 1, "/x")
	for n := range first.Of {
		p := BodyPartOf(body, n+1, "/x")
		if p.N != n+1 || p.Of != first.Of || p.Last() != (n+1 == first.Of) {
			t.Errorf("part %d of %d", p.N, p.Of)
		}
		text += readOf(string(p.HTML))
	}
	return text, first.Of
}

// TestABodyIsShownWholeAndUnfolded: in one part up to 64 KiB, in several beyond, and
// all parts together are the body.
func TestABodyIsShownWholeAndUnfolded(t *testing.T) {
	filler := func(n int) string { return strings.Repeat("x", n-len(`{"a":""}`)) }
	var fields strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&fields, `,"k%d":[%d,{"n":"ü"}]`, i, i)
	}
	for name, c := range map[string]struct {
		raw   string
		parts int
	}{
		"small":           {`{"a":{"b":[1.50,true,null,{}],"c":[]},"d":"e"}`, 1},
		"a scalar":        {`"a"`, 1},
		"64 KiB":          {`{"a":"` + filler(partSize) + `"}`, 1},
		"one byte more":   {`{"a":"` + filler(partSize+1) + `"}`, 2},
		"many fields":     {`{` + fields.String()[1:] + `}`, 4},
		"a long name":     {`{"` + strings.Repeat("k", 150<<10) + `":1,"z":2}`, 3},
		"of wide letters": {`{"a":"` + strings.Repeat("\u20ac", 40<<10) + `"}`, 2},
	} {
		text, parts := wholeOf(t, c.raw)
		if strings.ReplaceAll(text, ": ", ":") != c.raw || parts < c.parts || parts > c.parts+c.parts/2 {
			t.Errorf("%s: %d parts, %d bytes of %d", name, parts, len(text), len(c.raw))
		}
	}
	if p := BodyPartOf(countersign.RawValue(`{"a":{"b":[1]}}`), 7, "/x"); p.N != 1 || strings.Contains(string(p.HTML), "<details") {
		t.Errorf("part %d: %s", p.N, p.HTML)
	}
}

func TestWhatHidesInABodyIsWrittenOut(t *testing.T) {
	const bidi, zero, mixed = "\u202e", "\u200b", "p\u0430y"
	for _, raw := range []string{
		`{"to` + zero + `":"a` + bidi + `b","n":["` + mixed + `"],"ש":"שלום"}`,
		`{"l":"` + strings.Repeat("ab", partSize) + bidi + `","to` + zero + `":"a","m":"` + mixed + `"}`,
	} {
		body := countersign.RawValue(raw)
		var all string
		for n := range BodyPartOf(body, 1, "/x").Of {
			all += string(BodyPartOf(body, n+1, "/x").HTML)
		}
		if strings.Contains(all, bidi) || strings.Contains(all, zero) || !strings.Contains(all, `\u202e`) || !strings.Contains(all, `to\u200b`) {
			t.Errorf("something hides: %.300s", all)
		}
		if !strings.Contains(all, mixed+`&#34;</bdi> <span class="doubt">mixes scripts: “`+"\u0430"+`” is Cyrillic (U+0430), looks like a</span>`) {
			t.Errorf("no mark: %.300s", all)
		}
		if strings.Count(all, "<bdi") != strings.Count(all, "</bdi>") || !strings.Contains(all, `<bdi class="s">`) || !strings.Contains(all, `<bdi class="k">`) {
			t.Errorf("not isolated: %.300s", all)
		}
	}
}
