// Package search says what of a run it is found by, and where in it a text stands.
package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/countersign/countersign"
)

// Bounds of what a run is found by. A text that somebody has in hand is short; a run with
// more of them is found by its first ones.
const (
	MaxTerm  = 128 // bytes
	MaxTerms = 64  // of a run
	minWord  = 4   // letters and digits of a word within a longer text
	maxValue = 64 << 10
)

// Fold is a text as it is compared: without surrounding spaces, in lower case, each run of
// spaces as one; "" where nothing can be found by it.
func Fold(text string) string {
	if len(text) > 2*MaxTerm {
		return ""
	}
	out := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	if len(out) < 2 || len(out) > MaxTerm || strings.ContainsFunc(out, unicode.IsControl) || !strings.ContainsFunc(out, letterOrDigit) {
		return ""
	}
	return out
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// each visits the texts that a run is found by, in its order, with where they stand, until
// visit returns false.
func each(r *countersign.Run, visit func(where, text string) bool) {
	if r.AgentWords != nil && !visit("task", r.AgentWords.Task) {
		return
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		for _, name := range slices.Sorted(maps.Keys(s.Input)) {
			if !inside("input "+name+" of step "+s.ID, s.Input[name], visit) {
				return
			}
		}
		if !inside("output of step "+s.ID, s.Output, visit) || s.Late != nil && !inside("late answer to step "+s.ID, s.Late.Output, visit) {
			return
		}
		for j := range s.Probes {
			if !inside("probe of step "+s.ID, s.Probes[j].Output, visit) {
				return
			}
		}
	}
}

// inside visits the texts and numbers within a value.
func inside(where string, v countersign.Value, visit func(where, text string) bool) bool {
	switch v.Kind() {
	case countersign.KindString:
		return visit(where, v.Text())
	case countersign.KindNumber:
		return visit(where, v.Raw())
	}
	if len(v.Raw()) > maxValue {
		return true
	}
	if list, ok := v.Array(); ok {
		for _, item := range list {
			if !inside(where, item, visit) {
				return false
			}
		}
		return true
	}
	m, _ := v.Object()
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !inside(where, m[name], visit) {
			return false
		}
	}
	return true
}

// EveryTerm is Terms without a bound on how many.
func EveryTerm(r *countersign.Run) map[string]bool {
	out := map[string]bool{}
	each(r, func(_, text string) bool {
		if t := Fold(text); t != "" {
			out[t] = true
		}
		for _, w := range wordsOf(text) {
			out[w] = true
		}
		return true
	})
	return out
}

// Terms are the folded texts that a run is found by, and of longer texts the words with a
// digit in them, such as an order number in a note. Order is nothing.
func Terms(r *countersign.Run) (whole, words map[string]bool) {
	whole, words = map[string]bool{}, map[string]bool{}
	each(r, func(_, text string) bool {
		if t := Fold(text); t != "" {
			whole[t] = true
		}
		for _, w := range wordsOf(text) {
			words[w] = true
		}
		return len(whole)+len(words) < MaxTerms
	})
	return whole, words
}

// wordsOf are the words with a digit of a text that has several.
func wordsOf(text string) (out []string) {
	if len(text) > maxValue || !strings.ContainsFunc(text, unicode.IsSpace) {
		return nil
	}
	for _, w := range strings.Fields(text) {
		w = strings.TrimFunc(w, func(r rune) bool { return !letterOrDigit(r) })
		if len(w) >= minWord && strings.ContainsFunc(w, unicode.IsDigit) {
			if w = Fold(w); w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

// Found is where in a run a text stands.
type Found struct {
	Where string
	Value string
	Whole bool // the text is all of the value
}

// In finds a folded text in a run as its reader sees it: all of a value, or else the
// beginning of one or of a word of it.
func In(r *countersign.Run, q string) (out Found, ok bool) {
	each(r, func(where, text string) bool {
		t := Fold(text)
		switch begins := t != "" && strings.HasPrefix(t, q); {
		case t == q && t != "":
			out, ok = Found{where, text, true}, true
			return false
		case !ok && (begins || slices.ContainsFunc(wordsOf(text), func(w string) bool { return strings.HasPrefix(w, q) })):
			out, ok = Found{Where: where, Value: text}, true
		}
		return true
	})
	return out, ok
}

// Reason is the code for which a run ended as it did, "" where it has none.
func Reason(r *countersign.Run) string {
	if !r.Status.IsTerminal() {
		return ""
	}
	return string(r.Code())
}

// Capabilities are those that a run's steps call, each with its project and alone.
func Capabilities(r *countersign.Run) []string {
	var out []string
	for i := range r.Steps {
		s := &r.Steps[i]
		for _, name := range []string{s.Capability, s.ProjectID + "/" + s.Capability} {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}
