package drawn

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
	"github.com/countersign/countersign/internal/server/console/text"
)

// The body of a request that awaits approval is shown unfolded and never cut. A long
// body is split into parts; it can be approved only after the last part was shown.

// partSize is how many bytes of a body one page shows; pieceSize is how many bytes of
// one long value stand on one line of a split body.
const (
	partSize  = 64 << 10
	pieceSize = 8 << 10
)

type bodyPart struct {
	HTML  template.HTML
	N, Of int
	Links []partLink
}

type partLink struct {
	N, Of int
	Href  string
	Here  bool
}

// Last reports whether this is the last part, below which the decision stands.
func (p *bodyPart) Last() bool { return p == nil || p.N == p.Of }

func (p *bodyPart) Next() string { return p.Links[p.N].Href }

// BodyPartOf renders part n of a body, counted from 1; at is the page's address.
func BodyPartOf(body countersign.Value, n int, at string) *bodyPart {
	parts := partsOf(body.Raw())
	n = min(max(n, 1), len(parts))
	p := &bodyPart{HTML: template.HTML(drawnLines(parts[n-1])), N: n, Of: len(parts)} //nolint:gosec // every text was escaped on its way in
	for i := range parts {
		p.Links = append(p.Links, partLink{N: i + 1, Of: len(parts), Href: at + "?part=" + strconv.Itoa(i+1) + "#request", Here: i+1 == n})
	}
	return p
}

// HasParts reports whether a body is too large for one page.
func HasParts(body countersign.Value) bool { return len(body.Raw()) > partSize }

// SeenToken proves to the decision that the session with this secret was shown the last
// part of this approval's current body.
func SeenToken(secret string, a *countersign.Approval) string {
	return access.HashToken("seen\n" + secret + "\n" + a.ID + "\n" + countersign.SHA256Hex([]byte(a.Request.Body.Raw())))
}

// bodyLine is one rendered line; size is how many bytes of the body it shows.
type bodyLine struct {
	depth, size int
	html        string
}

// partsOf splits a body into parts that each fit on a page.
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

// DrawnWhole renders a value in one part, however long it is.
func DrawnWhole(v countersign.Value) template.HTML {
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

// drawnLines renders lines with their indentation.
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
	whole bool // long values aren't split
	named int  // size of the name at the start of the next line
	lines []bodyLine
}

func (d *bodyDrawing) add(depth, size int, html string) {
	d.lines = append(d.lines, bodyLine{depth, d.named + size, html})
	d.named = 0
}

// behind appends punctuation to the last line.
func (d *bodyDrawing) behind(punctuation string) {
	d.lines[len(d.lines)-1].html += text.Mark(punctuation)
}

// value renders the next value after its name, before.
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
		d.lines[len(d.lines)-1].html += text.DoubtMark(safetext.Doubt(t))
	default:
		d.add(depth, len(fmt.Sprint(t))+pieceOverhead, before+text.Scalar(t))
	}
	return nil
}

// compound renders an object or array, one line per member.
func (d *bodyDrawing) compound(open json.Delim, before string, depth int) error {
	d.add(depth, pieceOverhead, before+text.Mark(open.String()))
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
	d.add(depth, pieceOverhead, text.Mark(end))
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
	return d.value(text.Keyed(key), depth)
}

// pieceOverhead is what a line counts besides its text, in bytes.
const pieceOverhead = 2

// pieces renders a text; in a split body, long text is broken into several lines.
func (d *bodyDrawing) pieces(before, rest string, depth int, class string, write func(string) string) {
	quote := ""
	if class != "" {
		quote = `"`
	}
	for first := true; first || rest != ""; first = false {
		piece := rest
		if !d.whole && len(rest) > pieceSize {
			end := pieceSize
			for end > 0 && !utf8.RuneStart(rest[end]) {
				end--
			}
			piece = rest[:max(end, 1)]
		}
		rest = rest[len(piece):]
		shown := write(piece)
		if first {
			shown = quote + shown
		}
		if rest == "" {
			shown += quote
		}
		d.add(depth, len(shown)+pieceOverhead, before+text.Isolated(class, shown))
		before = ""
	}
}

// inString is text inside a JSON string, with hidden characters escaped.
func inString(s string) string {
	q := safetext.Escaped(text.Quoted(s))
	return q[1 : len(q)-1]
}
