package web

import (
	"html/template"
	"slices"
	"strings"
	"text/template/parse"
)

// shownIn adds the display function to each value of the templates. Values in form
// fields and addresses stay as they are, since they are sent back or followed.
func shownIn(all *template.Template) {
	for _, t := range all.Templates() {
		if t.Tree != nil {
			(&markup{}).walk(t.Tree.Root)
		}
	}
}

// markup is the parser's position: the context of the next value.
type markup struct {
	tag   string // the open tag: "a" within <a href=…
	attr  string // the attribute whose value is open
	quote byte
	raw   string // the open element without markup: textarea, title, option
	pre   bool   // inside a pre element
}

// readAttributes are the attributes that are displayed or read aloud.
var readAttributes = []string{"title", "aria-label", "placeholder", "alt", "label", "data-l"}

// function is the display function in this context, "" for none.
func (m *markup) function() string {
	switch {
	case m.attr != "" && slices.Contains(readAttributes, m.attr), m.tag == "" && (m.raw == "title" || m.raw == "option"):
		return "shownAside"
	case m.tag != "" || m.raw != "":
		return ""
	case m.pre:
		return "shownLines"
	}
	return "shown"
}

func (m *markup) walk(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, one := range n.Nodes {
				m.walk(one)
			}
		}
	case *parse.TextNode:
		m.text(string(n.Text))
	case *parse.ActionNode:
		m.action(n)
	case *parse.IfNode:
		m.branches(&n.BranchNode)
	case *parse.RangeNode:
		m.branches(&n.BranchNode)
	case *parse.WithNode:
		m.branches(&n.BranchNode)
	}
}

// branches assumes that all branches end in the same context; html/template refuses
// other templates.
func (m *markup) branches(n *parse.BranchNode) {
	before := *m
	m.walk(n.List)
	if n.ElseList != nil {
		*m = before
		m.walk(n.ElseList)
	}
}

func (m *markup) action(n *parse.ActionNode) {
	name := m.function()
	if name == "" || len(n.Pipe.Decl) > 0 || hasShowFunction(n.Pipe) {
		return
	}
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{parse.NewIdentifier(name).SetPos(n.Pos)}}
	n.Pipe.Cmds = append(n.Pipe.Cmds, call)
}

// hasShowFunction reports a pipe that already has its function: templates are cloned.
func hasShowFunction(p *parse.PipeNode) bool {
	last := p.Cmds[len(p.Cmds)-1]
	id, ok := last.Args[0].(*parse.IdentifierNode)
	return ok && strings.HasPrefix(id.Ident, "shown")
}

func (m *markup) text(s string) {
	for s != "" {
		switch {
		case m.quote != 0:
			s = m.within(s)
		case m.tag != "":
			s = m.inTag(s)
		default:
			s = m.content(s)
		}
	}
}

// within reads an attribute's value.
func (m *markup) within(s string) string {
	_, rest, closed := strings.Cut(s, string(m.quote))
	if closed {
		m.quote, m.attr = 0, ""
	}
	return rest
}

// inTag reads to the next attribute value or the end of the tag.
func (m *markup) inTag(s string) string {
	i := strings.IndexAny(s, `"'>`)
	if i < 0 {
		return ""
	}
	if s[i] == '>' {
		if name := m.tag; name == "textarea" || name == "title" || name == "option" || name == "script" || name == "style" {
			m.raw = name
		}
		m.pre = m.pre || m.tag == "pre"
		m.tag = ""
		return s[i+1:]
	}
	words := strings.FieldsFunc(s[:i], func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '=' })
	m.quote, m.attr = s[i], ""
	if len(words) > 0 {
		m.attr = words[len(words)-1]
	}
	return s[i+1:]
}

// content reads to the next tag.
func (m *markup) content(s string) string {
	_, rest, found := strings.Cut(s, "<")
	if !found {
		return ""
	}
	if end, closes := strings.CutPrefix(rest, "/"); closes {
		name, after, _ := strings.Cut(end, ">")
		if name == m.raw {
			m.raw = ""
		}
		m.pre = m.pre && name != "pre"
		return after
	}
	if m.raw != "" {
		return rest
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if end < 0 {
		end = len(rest)
	}
	m.tag = rest[:end]
	if m.tag == "" { // a declaration such as <!doctype
		m.tag = "!"
	}
	return rest[end:]
}
