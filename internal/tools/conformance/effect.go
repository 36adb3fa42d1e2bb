package conformance

import "net/http"

// watch reads the capability's probe to see effects. A probe whose answer changes
// by itself shows nothing, so it is read twice before it is believed.
type watch struct {
	look func() answer
	why  string // why it shows nothing; "" when it does
	last answer
}

func (p *play) newWatch() watch {
	w := watch{why: p.probeless, look: func() answer { return p.right(p.probe, p.step()) }}
	if p.capability.HasSideEffect() && w.why == "" {
		w.steady()
	}
	return w
}

// steady reads twice and keeps the answer that the next is compared with.
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

// changed reports that an effect showed since the last look.
func (w *watch) changed() bool {
	if w.why != "" || w.last.status == 0 {
		return false
	}
	before := w.last
	w.last = w.look()
	return w.last.status != 0 && !w.last.same(before)
}

// begin looks anew before calls that must have no effect.
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
