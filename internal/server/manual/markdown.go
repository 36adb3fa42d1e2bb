package manual

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// document is a parsed Markdown page.
type document struct {
	path  string         // in the files: how-to/approve.md
	text  []byte         // as it was written
	title string         // of its first heading
	body  string         // HTML without the first heading
	lead  string         // the first paragraph, as plain text
	parts []contentsLine // its sections
	root  ast.Node
}

// contentsLine is a section that a page's list of contents leads to.
type contentsLine struct{ ID, Title string }

// newMarkdown reads tables besides CommonMark. Raw HTML is left out of what is
// written: pages are text.
func newMarkdown() goldmark.Markdown {
	blocks := renderer.WithNodeRenderers(util.Prioritized(blockRenderer{}, 100))
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(blocks))
}

// parse reads a page and takes its title and lead from it.
func parse(md goldmark.Markdown, path string, source []byte) document {
	root := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(slugs{}))))
	d := document{path: path, text: source, root: root, title: path}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch h, isHeading := n.(*ast.Heading); {
		case isHeading && h.Level == 1:
			d.title = plain(n, source)
		case isHeading && h.Level == 2:
			if id, has := h.AttributeString("id"); has {
				text, _ := id.([]byte)
				d.parts = append(d.parts, contentsLine{string(text), plain(n, source)})
			}
		case n.Kind() == ast.KindParagraph && d.lead == "":
			d.lead = plain(n, source)
		}
	}
	return d
}

// render renders a page's body without the first heading, which the frame shows, and
// rewrites its links.
func (d *document) render(md goldmark.Markdown, to func(destination string) string) error {
	if h, isHeading := d.root.FirstChild().(*ast.Heading); isHeading && h.Level == 1 {
		d.root.RemoveChild(d.root, h)
	}
	takeComments(d.root, d.text)
	err := ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch link := n.(type) {
		case *ast.Link:
			if entering {
				link.Destination = []byte(to(string(link.Destination)))
			}
		case *ast.Image:
			if entering {
				link.Destination = []byte(to(string(link.Destination)))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, d.text, d.root); err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	d.body = b.String()
	return nil
}

// takeComments removes comments; a comment before a code block can name its file: <!--
// file: project.json -->.
func takeComments(root ast.Node, source []byte) {
	for n := root.FirstChild(); n != nil; {
		next := n.NextSibling()
		if n.Kind() == ast.KindHTMLBlock {
			comment := strings.TrimSpace(string(n.Lines().Value(source)))
			name, isFile := strings.CutPrefix(comment, "<!-- file: ")
			if isFile && next != nil {
				next.SetAttributeString("file", strings.TrimSpace(strings.TrimSuffix(name, "-->")))
			}
			root.RemoveChild(root, n)
		}
		n = next
	}
}

// plain is the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, isText := n.(*ast.Text); isText && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
