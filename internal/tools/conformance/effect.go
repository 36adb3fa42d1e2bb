package conformance

import "net/http"

// watch detects effects by the capability's probe. It reads the probe twice first: a probe
// whose answer changes by itself shows nothing.
type watch struct {
	look func() answer
	why  string // why the probe shows nothing; "" if it can be used
	last answer
}

func (p *play) newWatch() watch {
	w := watch{why: p.probeless, look: func() answer { return p.right(p.probe, p.step()) }}
	if p.capability.HasSideEffect() && w.why == "" {
		w.steady()
	}
	return w
}

// steady reads the probe twice and keeps the second answer for comparison.
func (w *watch) steady() {
	first := w.look()
	w.last = w.look()
	switch {
	case first.status == 0 || first.flaw != "":
		w.why = "the probe has no usable answer: " + first.words()
	case !w.last.same(first):
		w.why = "the probe's answer changes by itself: " + first.words() + ", then " + w.last.words()
	}
}

// changed reports whether the probe's answer has changed since the last read.
func (w *watch) changed() bool {
	if w.why != "" || w.last.status == 0 {
		return false
	}
	before := w.last
	w.last = w.look()
	return w.last.status != 0 && !w.last.same(before)
}

// begin reads the probe before calls that must have no effect.
func (w *watch) begin() {
	if w.why == "" {
		w.steady()
	}
	if w.why == "" && (w.last.status < http.StatusOK || w.last.status > 299) {
		w.why = "the probe answers " + w.last.words()
	}
}

// finding judges the calls since begin.
func (w *watch) finding() finding {
	if w.why != "" {
		return notTried(w.why)
	}
	before := w.last
	if w.changed() {
		return broken("probe " + before.words() + ", then " + w.last.words())
	}
	return holds("probe " + before.words() + ", before and after")
}
