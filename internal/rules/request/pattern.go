package request

import (
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/rules/cost"
)

// A pattern is matched in time proportional to its program's size and the text's length, and
// that is what it is counted at. Of the program alone this is the bound.
const maxPatternProgram = 2000

// program is a compiled pattern; expression is nil for one that is too large.
type program struct {
	expression *regexp.Regexp
	size       int
}

// matches counts what matching takes, and reports whether the text matches; what can't be
// matched is met by nothing.
func (p program) matches(m *cost.Meter, text, what string) bool {
	return p.expression != nil && m.Take(p.steps(text), what) && p.expression.MatchString(text)
}

func (p program) steps(text string) int { return p.size * (1 + utf8.RuneCountInString(text)) }

// compiled is a pattern with the size of its program, mostly from the meter's memory.
func compiled(m *cost.Meter, pattern string) (program, error) {
	if known, ok := m.Recall(pattern); ok {
		if p, is := known.(program); is {
			return p, nil
		}
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return program{}, err
	}
	if size := sizeOf(tree); size > 2*maxPatternProgram {
		return program{size: size}, nil // it isn't compiled: a few characters may stand for millions of instructions
	}
	instructions, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return program{}, err
	}
	p := program{size: len(instructions.Inst)}
	if p.size > maxPatternProgram {
		return p, nil
	}
	if p.expression, err = regexp.Compile(pattern); err == nil {
		m.Keep(pattern, p, p.size+len(pattern))
	}
	return p, err
}

// sizeOf is about how many instructions an expression has once its repetitions are written out.
func sizeOf(re *syntax.Regexp) int {
	size := 0
	for _, sub := range re.Sub {
		size = atMost(size + sizeOf(sub))
	}
	switch re.Op {
	case syntax.OpRepeat:
		if re.Max < 0 {
			return atMost(size*(re.Min+1) + 1)
		}
		return atMost(size*re.Max + re.Max - re.Min)
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpAlternate:
		return atMost(size + len(re.Sub))
	case syntax.OpConcat:
		return size
	case syntax.OpCapture:
		return atMost(size + 2)
	default:
		return atMost(size + 1)
	}
}

// atMost keeps sizes from overflowing, nested as they are.
func atMost(size int) int { return min(size, 1<<30) }
