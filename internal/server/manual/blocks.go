package manual

import (
	"html"
	"slices"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// blockRenderer makes wide content, code and tables, scrollable by itself, also by
// keyboard, and draws state diagrams.
type blockRenderer struct{}

// RegisterFuncs implements goldmark's renderer.NodeRenderer.
func (blockRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, fencedBlock)
	r.Register(ast.KindCodeBlock, codeBlock)
	r.Register(extast.KindTable, tableBlock)
	r.Register(extast.KindTableCell, tableCell)
}

func fencedBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := string(n.(*ast.FencedCodeBlock).Language(source))
	code := string(n.Lines().Value(source))
	if language == "mermaid" {
		if picture, drawn := stateDiagram(code); drawn {
			_, _ = w.WriteString(`<div class="graph panel" tabindex="0">` + picture + "</div>\n")
			return ast.WalkSkipChildren, nil
		}
	}
	name, _ := n.AttributeString("file")
	file, _ := name.(string)
	writeCode(w, file, code)
	return ast.WalkSkipChildren, nil
}

func codeBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		writeCode(w, "", string(n.Lines().Value(source)))
	}
	return ast.WalkSkipChildren, nil
}

func writeCode(w util.BufWriter, file, code string) {
	_, _ = w.WriteString(`<figure class="code">`)
	if file != "" {
		_, _ = w.WriteString(`<figcaption class="code__h"><span class="id">` + html.EscapeString(file) + `</span></figcaption>`)
	}
	_, _ = w.WriteString(`<pre tabindex="0"><code>` + html.EscapeString(code) + "</code></pre></figure>\n")
}

// tableBlock gives a table of text the class doc-rows: where the window is narrow, its rows are
// shown one below the other. A table with figures stays a table, which can be scrolled.
func tableBlock(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case !entering:
		_, _ = w.WriteString("</table></div>\n")
	case hasFigures(n.(*extast.Table)):
		_, _ = w.WriteString("<div class=\"wide\" tabindex=\"0\"><table>\n")
	default:
		_, _ = w.WriteString("<div class=\"wide\" tabindex=\"0\"><table class=\"doc-rows\">\n")
	}
	return ast.WalkContinue, nil
}

func hasFigures(t *extast.Table) bool { return slices.Contains(t.Alignments, extast.AlignRight) }

// tableCell renders an empty header cell as a plain cell. Cells of figures are aligned as the
// source says, and those of text have their column's name, unless there are only two columns.
func tableCell(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, attributes := "td", ""
	switch head := n.Parent().Kind() == extast.KindTableHeader; {
	case head && n.HasChildren():
		tag = "th"
	case !head:
		if label := labelOf(n.(*extast.TableCell), source); label != "" {
			attributes = ` data-label="` + html.EscapeString(label) + `"`
		}
	}
	if n.(*extast.TableCell).Alignment == extast.AlignRight {
		attributes += ` class="num"`
	}
	if entering {
		_, _ = w.WriteString("<" + tag + attributes + ">")
	} else {
		_, _ = w.WriteString("</" + tag + ">\n")
	}
	return ast.WalkContinue, nil
}

// labelOf is the name of a cell's column, "" for the first one, whose cells name their row.
func labelOf(cell *extast.TableCell, source []byte) string {
	t, isTable := cell.Parent().Parent().(*extast.Table)
	if !isTable || cell.PreviousSibling() == nil || len(t.Alignments) < 3 || hasFigures(t) {
		return ""
	}
	name := t.FirstChild().FirstChild()
	for before := cell.PreviousSibling(); before != nil && name != nil; before = before.PreviousSibling() {
		name = name.NextSibling()
	}
	if name == nil {
		return ""
	}
	return plain(name, source)
}
