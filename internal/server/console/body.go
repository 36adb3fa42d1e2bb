package console

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// The body of what waits for an approval, all of it: unfolded, and never cut. One that
// is longer than a page holds is shown in parts, and decided on after the last.

// partSize is how much of a body, in bytes, a page shows; pieceSize how long a piece of
// one value is where a body is shown in parts.
const (
	partSize  = 64 << 10
	pieceSize = 8 << 10
)

// bodyPart is a part of a body.
type bodyPart struct {
	HTML  template.HTML
	N, Of int
	Links []partLink
}

// partLink leads to a part.
type partLink struct {
	N, Of int
	Href  string
	Here  bool
}

// Last reports the part after which the decision stands.
func (p *bodyPart) Last() bool { return p == nil || p.N == p.Of }

// Next is the address of the part after this one.
func (p *bodyPart) Next() string { return p.Links[p.N].Href }

// bodyPartOf draws part n of a body, counted from 1; at is the address of its page.
func bodyPartOf(body countersign.Value, n int, at string) *bodyPart {
	parts := partsOf(body.Raw())
	n = min(max(n, 1), len(parts))
	p := &bodyPart{HTML: template.HTML(drawnLines(parts[n-1])), N: n, Of: len(parts)} //nolint:gosec // every text was escaped on its way in
	for i := range parts {
		p.Links = append(p.Links, partLink{N: i + 1, Of: len(parts), Href: at + "?part=" + strconv.Itoa(i+1) + "#request", Here: i+1 == n})
	}
	return p
}

// hasParts reports a body that one page doesn't hold.
func hasParts(body countersign.Value) bool { return len(body.Raw()) > partSize }

// seenToken proves to the decision that the last part of a body was shown in the session
// of this secret: of this approval, as it is now.
func seenToken(secret string, a *countersign.Approval) string {
	return access.HashToken("seen\n" + secret + "\n" + a.ID + "\n" + countersign.SHA256Hex([]byte(a.Request.Body.Raw())))
}

// bodyLine is a line of a drawing; size is how much of the body it shows, in bytes.
type bodyLine struct {
	depth, size int
	html        string
}

// partsOf are the lines of a body, in parts that a page holds.
func partsOf(raw string) [][]bodyLine {
	whole := len(raw) <= partSize
	lines := linesOf(raw, whole)
	if whole {
		return [][]bodyLine{lines}
	}
	var parts [][]bodyLine
	from, size := 0, 0
	for i, l := range lines {
		if size+l.size > partSize && i > from {
			parts, from, size = append(parts, lines[from:i]), i, 0
		}
		size += l.size
	}
	return append(parts, lines[from:])
}

// drawnWhole draws a value in one part, however long it is.
func drawnWhole(v countersign.Value) template.HTML {
	return template.HTML(drawnLines(linesOf(v.Raw(), true))) //nolint:gosec // every text was escaped on its way in
}

// linesOf are the lines of a JSON text.
func linesOf(raw string, whole bool) []bodyLine {
	d := &bodyDrawing{dec: json.NewDecoder(strings.NewReader(raw)), whole: whole}
	d.dec.UseNumber()
	if err := d.value("", 0); err != nil {
		d.lines = nil
		d.pieces("", raw, 0, "", safetext.JSON)
	}
	return d.lines
}

// drawnLines draws lines as deep as they stand.
func drawnLines(lines []bodyLine) string {
	var b strings.Builder
	b.WriteString(`<div class="json">`)
	depth := 0
	for _, l := range lines {
		for ; depth < l.depth; depth++ {
			b.WriteString(`<div class="in1">`)
		}
		for ; depth > l.depth; depth-- {
			b.WriteString(`</div>`)
		}
		b.WriteString(`<div>` + l.html + `</div>`)
	}
	b.WriteString(strings.Repeat(`</div>`, depth+1))
	return b.String()
}

type bodyDrawing struct {
	dec   *json.Decoder
	whole bool // nothing is broken into pieces
	named int  // the bytes of a name that the next line begins with
	lines []bodyLine
}

func (d *bodyDrawing) add(depth, size int, html string) {
	d.lines = append(d.lines, bodyLine{depth, d.named + size, html})
	d.named = 0
}

// behind writes after what was drawn last.
func (d *bodyDrawing) behind(punctuation string) {
	d.lines[len(d.lines)-1].html += mark(punctuation)
}

// value draws the next value after its name, before.
func (d *bodyDrawing) value(before string, depth int) error {
	t, err := d.dec.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		return d.compound(t, before, depth)
	case string:
		d.pieces(before, t, depth, "s", inString)
		d.lines[len(d.lines)-1].html += doubtMark(safetext.Doubt(t))
	default:
		d.add(depth, len(fmt.Sprint(t))+pieceOverhead, before+scalar(t))
	}
	return nil
}

// compound draws an object or array, one line for each member.
func (d *bodyDrawing) compound(open json.Delim, before string, depth int) error {
	d.add(depth, pieceOverhead, before+mark(open.String()))
	end, object := "}", open == '{'
	if !object {
		end = "]"
	}
	empty := !d.dec.More()
	for d.dec.More() {
		if err := d.member(object, depth+1); err != nil {
			return err
		}
		if d.dec.More() {
			d.behind(",")
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return err
	}
	if empty {
		d.behind(end)
		return nil
	}
	d.add(depth, pieceOverhead, mark(end))
	return nil
}

func (d *bodyDrawing) member(named bool, depth int) error {
	if !named {
		return d.value("", depth)
	}
	t, err := d.dec.Token()
	if err != nil {
		return err
	}
	key, _ := t.(string)
	if !d.whole && len(key) > pieceSize {
		d.pieces("", key, depth, "k", inString)
		d.behind(": ")
		return d.value("", depth)
	}
	d.named = len(key)
	return d.value(keyed(key), depth)
}

// pieceOverhead is what a line counts beside its text.
const pieceOverhead = 2

// pieces draws a text, in a part's body broken where it is long.
func (d *bodyDrawing) pieces(before, text string, depth int, class string, write func(string) string) {
	quote := ""
	if class != "" {
		quote = `"`
	}
	for first := true; first || text != ""; first = false {
		piece := text
		if !d.whole && len(text) > pieceSize {
			end := pieceSize
			for end > 0 && !utf8.RuneStart(text[end]) {
				end--
			}
			piece = text[:max(end, 1)]
		}
		text = text[len(piece):]
		shown := write(piece)
		if first {
			shown = quote + shown
		}
		if text == "" {
			shown += quote
		}
		d.add(depth, len(shown)+pieceOverhead, before+isolated(class, shown))
		before = ""
	}
}

// inString is a text within a JSON string, in which nothing hides.
func inString(s string) string {
	q := safetext.Escaped(quoted(s))
	return q[1 : len(q)-1]
}
