package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// invariants and traps are the rules that a bug can break; bugs.txt explains them.
var (
	invariants = []string{
		"D1", "D2", "D3", "D4", "D5", "D6", "D7", "S1", "S2", "S3", "S4", "S5", "S6", "A1", "A2", "A3", "C1", "C2", "C3", "C4", "F1", "F2",
	}
	traps = []string{"T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10"}
)

//go:embed bugs.txt
var listText string

// bug is one planted bug: the rules that it breaks, why a person could write it, and its edits.
type bug struct {
	name  string
	rules []string
	why   string
	edits []*edit
}

// edit replaces whole lines of one file. old and new end with a line feed.
type edit struct {
	file           string
	old, new       string
	removed, added int
}

// apply makes the edit. It returns an error unless the old text occurs exactly once: otherwise the product has
// changed, and the bug must be rewritten.
func (e *edit) apply(content string) (string, error) {
	text, old := "\n"+content, "\n"+e.old // so that only whole lines match
	at := strings.Index(text, old)
	switch {
	case at < 0:
		return "", fmt.Errorf("%s: the old lines are not there; write the bug anew:\n%s", e.file, e.old)
	case strings.Contains(text[at+1:], old):
		return "", fmt.Errorf("%s: the old lines stand there more than once; give the edit more lines around it:\n%s", e.file, e.old)
	}
	return content[:at] + e.new + content[at+len(e.old):], nil
}

// parse parses the list. It refuses everything unknown: a bug that is skipped would look like one that is
// caught.
func parse(text string) ([]*bug, error) {
	p := parser{}
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("bugs.txt:%d: %w", i+1, err)
		}
	}
	for _, b := range p.bugs {
		if err := b.check(); err != nil {
			return nil, fmt.Errorf("bugs.txt: bug %s: %w", b.name, err)
		}
	}
	return p.bugs, nil
}

type parser struct {
	bugs []*bug
	hunk bool // the following lines belong to the latest edit
}

func (p *parser) line(line string) error {
	if p.hunk && line != "" && !strings.HasPrefix(line, "@@ ") {
		return p.bug().edit().line(line)
	}
	p.hunk = false
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "", strings.HasPrefix(line, "#"):
		return nil
	case word == "bug":
		p.bugs = append(p.bugs, &bug{name: rest})
		return nil
	case len(p.bugs) == 0:
		return fmt.Errorf("%q stands before the first bug", line)
	}
	switch b := p.bug(); word {
	case "breaks":
		b.rules = strings.Fields(rest)
	case "why":
		b.why = rest
	case "@@":
		b.edits, p.hunk = append(b.edits, &edit{file: rest}), true
	default:
		return fmt.Errorf("expected bug, breaks, why or @@, not %q", line)
	}
	return nil
}

func (p *parser) bug() *bug { return p.bugs[len(p.bugs)-1] }

func (b *bug) edit() *edit { return b.edits[len(b.edits)-1] }

// line parses one line of an edit, marked as in a unified diff.
func (e *edit) line(line string) error {
	text := line[1:] + "\n"
	switch line[0] {
	case ' ':
		e.old += text
		e.new += text
	case '-':
		e.old += text
		e.removed++
	case '+':
		e.new += text
		e.added++
	default:
		return fmt.Errorf("a line of an edit begins with a space, - or +, not %q", line[:1])
	}
	return nil
}

func (b *bug) check() error {
	switch {
	case b.name == "" || strings.ContainsAny(b.name, " ,"):
		return fmt.Errorf("its name must be one word, so that -only can name it")
	case len(b.rules) == 0:
		return fmt.Errorf("it breaks no rule")
	case b.why == "":
		return fmt.Errorf("it doesn't say why a person could write it")
	case len(b.edits) == 0:
		return fmt.Errorf("it changes nothing")
	}
	for _, r := range b.rules {
		if !slices.Contains(invariants, r) && !slices.Contains(traps, r) {
			return fmt.Errorf("there is no rule %s", r)
		}
	}
	return b.checkEdits()
}

// maxLines bounds how many lines of the product a bug may remove and how many it may add: a larger change is
// no slip.
const maxLines = 5

func (b *bug) checkEdits() error {
	removed, added := 0, 0
	for _, e := range b.edits {
		if e.old == "" || e.old == e.new {
			return fmt.Errorf("its edit of %s replaces nothing", e.file)
		}
		if !strings.HasSuffix(e.file, ".go") {
			return fmt.Errorf("%s is no Go file; the go command replaces no other", e.file)
		}
		removed, added = removed+e.removed, added+e.added
	}
	if removed > maxLines || added > maxLines {
		return fmt.Errorf("it takes %d lines away and adds %d; at most %d", removed, added, maxLines)
	}
	return nil
}

// shareOf returns the part k/n of a list, the first being 1/n; all for "".
func shareOf(bugs []*bug, share string) ([]*bug, error) {
	if share == "" {
		return bugs, nil
	}
	var k, n int
	if _, err := fmt.Sscanf(share, "%d/%d", &k, &n); err != nil || k < 1 || k > n {
		return nil, fmt.Errorf("-share: expected k/n with k from 1 to n, as in 2/8, not %q", share)
	}
	return bugs[(k-1)*len(bugs)/n : k*len(bugs)/n], nil
}

// chosen returns the bugs with these names, all of them for "".
func chosen(bugs []*bug, only string) ([]*bug, error) {
	if only == "" {
		return bugs, nil
	}
	var out []*bug
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(bugs, func(b *bug) bool { return b.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: there is no bug %s", name)
		}
		out = append(out, bugs[i])
	}
	return out, nil
}
