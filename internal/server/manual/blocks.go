package manual

import (
	"html"

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

func tableBlock(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"wide\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// tableCell renders an empty header cell as a plain cell.
func tableCell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "td"
	if n.Parent().Kind() == extast.KindTableHeader && n.HasChildren() {
		tag = "th"
	}
	if entering {
		_, _ = w.WriteString("<" + tag + ">")
	} else {
		_, _ = w.WriteString("</" + tag + ">\n")
	}
	return ast.WalkContinue, nil
}
