package docs

import (
	"fmt"
	"strings"
)

// kind is the purpose of a code block on a page.
type kind int

const (
	run    kind = iota // commands, run in the one shell of the page
	write              // a file, named by the comment before it
	expect             // the output of the commands before it
	skip               // commands that no test can run, with the reason
	shown              // for reading only: a diagram, a form, an output that may vary
)

// block is one fenced block of a page.
type block struct {
	kind     kind
	language string
	name     string // the name of the file, or the reason
	text     string
	line     int // its first line
}

// mustBeUsed are the languages that a reader copies: each block of them must be run, be written to a file, or give the
// reason why not.
var mustBeUsed = map[string]bool{"sh": true, "bash": true, "go": true, "ts": true, "js": true, "python": true, "json": true, "yaml": true}

// blocks reads the fenced blocks of a page and what the comment before each says:
//
//	<!-- file: project.json -->   the block is written to that file
//	<!-- expect -->               its lines occur, in this order, in what the commands before it printed
//	<!-- no-run: reason -->       no test can run it
func blocks(page string) ([]block, error) {
	var (
		all     []block
		open    *block
		comment string
	)
	for i, line := range strings.Split(page, "\n") {
		fence := strings.HasPrefix(line, "```")
		switch {
		case open != nil && fence:
			all, open, comment = append(all, *open), nil, ""
		case open != nil:
			open.text += line + "\n"
		case fence:
			b, err := begin(strings.TrimPrefix(line, "```"), comment, i+1)
			if err != nil {
				return nil, err
			}
			open = &b
		case strings.HasPrefix(line, "<!-- "):
			comment = strings.TrimSuffix(strings.TrimPrefix(line, "<!-- "), " -->")
		case strings.TrimSpace(line) != "":
			comment = ""
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block doesn't end", open.line)
	}
	return all, nil
}

func begin(language, comment string, line int) (block, error) {
	b := block{kind: shown, language: language, line: line}
	what, rest, _ := strings.Cut(comment, ": ")
	switch {
	case what == "file" && rest != "":
		b.kind, b.name = write, rest
	case what == "no-run" && rest != "":
		b.kind, b.name = skip, rest
	case comment == "expect":
		b.kind = expect
	case language == "sh":
		b.kind = run
	case mustBeUsed[language]:
		return b, fmt.Errorf("line %d: a block of %s is run, written to a file, or says why not", line, language)
	}
	return b, nil
}

// missing is the first expected line that is not in the output after the lines before it; "" if all are. In a line, …
// matches anything.
func missing(want, output string) string {
	lines := strings.Split(output, "\n")
	for _, w := range strings.Split(strings.TrimRight(want, "\n"), "\n") {
		if w = strings.TrimSpace(w); w == "" || w == "…" {
			continue
		}
		at := 0
		for at < len(lines) && !fits(w, lines[at]) {
			at++
		}
		if at == len(lines) {
			return w
		}
		lines = lines[at+1:]
	}
	return ""
}

// fits reports whether a line contains the parts of the pattern in order. A run of spaces counts as one space, since the
// width of columns varies.
func fits(pattern, line string) bool {
	line = strings.Join(strings.Fields(line), " ")
	for _, part := range strings.Split(strings.Join(strings.Fields(pattern), " "), "…") {
		_, after, found := strings.Cut(line, strings.TrimSpace(part))
		if !found {
			return false
		}
		line = after
	}
	return true
}
