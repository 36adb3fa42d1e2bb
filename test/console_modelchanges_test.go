package test

import "testing"

// TestTheFormOfAModelSaysWhatSavingChanges, before anything is saved; a new model replaces nothing.
func TestTheFormOfAModelSaysWhatSavingChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	to := "/models/refund/form"
	p := opal.Open(to)
	mustSay(t, p, 200, "What saving changes", "Nothing yet.")
	p = press(opal, p, to, "check", "model.name", "Paying <b> back")
	mustSay(t, p, 200, "What saving changes1")
	mustHold(t, p, `<th scope="row">name</th>`, `<td class="now">&#34;Paying &lt;b&gt; back&#34;</td>`)
	mustNotHold(t, p, "Nothing yet.", "Paying <b>")
	p = press(opal, p, to, "add:variables")
	mustSay(t, p, 200, "What saving changes2", "nothing")
	w.operator.Get("/models/refund").OK(t).Is(t, "revision", 1)
	mustNotHold(t, opal.Open(modelForm), "What saving changes")
}
