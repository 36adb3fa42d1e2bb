package conformance

import (
	"context"
	"strconv"

	"github.com/countersign/countersign"
)

// UnreachableError is the error for a receiver to which no connection was possible, so that
// none of its rules was tried.
type UnreachableError struct{ Why string }

func (u UnreachableError) Error() string { return "the receiver can't be reached: " + u.Why }

// play is one execution of a check.
type play struct {
	*Check
	ctx     context.Context
	report  *Report
	steps   int
	reached bool
	err     error // the first error; nothing is sent after it
	effect  watch
}

// Play sends the requests of the check, about 15, and reports the verdicts. The error is an
// [UnreachableError] or the context's.
//
// Requests that must be refused are sent first: so a receiver that doesn't refuse them is
// detected even if its effect can happen only once.
func (c *Check) Play(ctx context.Context) (*Report, error) {
	p := &play{Check: c, ctx: ctx, report: newReport(rulesFor(&c.cfg.Project, c.capability, c.auths))}
	p.report.Capability, p.report.Target, p.report.RunID, p.report.SideEffect = c.capability.Name, c.target, c.cfg.RunID, c.Effects()
	p.effect = p.newWatch()
	p.forge()
	step := p.step()
	first := p.right(c.requests[0], step)
	p.accepts(first)
	if c.Effects() {
		p.repeats(first, step)
	}
	p.word(first, step)
	if p.err == nil {
		p.err = ctx.Err()
	}
	p.report.Proven = countersign.Proves(p.report.Verdicts())
	return p.report, p.err
}

// step returns the id of the next step, which makes a new key.
func (p *play) step() string {
	p.steps++
	return strconv.Itoa(p.steps)
}

// right sends a call exactly as the service would.
func (p *play) right(r countersign.Request, step string) answer {
	return p.send(p.message(r, step, forgery{}), moments{})
}

func (p *play) send(m message, at moments) answer {
	if p.err != nil {
		return answer{flaw: "nothing more was sent"}
	}
	a := p.wire.exchange(p.ctx, m, p.capability.Timeout(), at)
	p.signedBy(m, &a)
	p.note(a)
	return a
}

// note records whether the receiver was ever reached.
func (p *play) note(a answer) {
	p.reached = p.reached || a.connected
	if !p.reached {
		p.err = UnreachableError{Why: a.flaw}
	}
	if err := p.ctx.Err(); err != nil {
		p.err = err
	}
}

// accepts judges the answer to the first valid call. If it was refused, refusals of wrong
// calls prove nothing.
func (p *play) accepts(a answer) {
	switch {
	case a.accepted():
		p.report.set(countersign.RuleAcceptsSigned, holds(a.words()))
		return
	case a.refused():
		p.report.set(countersign.RuleAcceptsSigned, broken(a.words()+"; is the secret right, and does the sandbox take this input now? An order that can be refunded only once is refused after an earlier check"))
	case a.status >= 300 && a.status < 400:
		p.report.set(countersign.RuleAcceptsSigned, broken(a.words()+"; redirects are not followed"))
	default:
		p.report.set(countersign.RuleAcceptsSigned, broken(a.words()))
	}
	for _, f := range forgeriesOf(p.auths) {
		if rule := p.report.of(f.rule); a.refused() && rule.Verdict == countersign.VerdictHolds {
			p.report.set(f.rule, notTried(rule.Seen+", but a right call was refused as well"))
		}
	}
}

// forge sends each wrong call under its own key. If the receiver leaves one without an
// answer, forge sends no further one.
func (p *play) forge() {
	silent := ""
	for _, f := range forgeriesOf(p.auths) {
		if silent != "" {
			p.report.set(f.rule, notTried("no answer came to "+silent))
			continue
		}
		a := p.send(p.message(p.requests[0], p.step(), f), moments{})
		if p.report.of(f.rule).Verdict != countersign.VerdictBroken { // by another way to authenticate
			p.report.set(f.rule, p.refusal(a))
		}
		if a.status == 0 {
			silent = f.rule
		}
	}
}

// refusal judges the answer to a wrong call.
func (p *play) refusal(a answer) finding {
	switch {
	case !a.refused():
		return broken(a.words())
	case p.effect.changed():
		return broken(a.words() + ", but the probe shows an effect")
	case a.status == 401 || a.status == 403:
		return holds(a.words())
	default:
		return holds(a.words() + "; 401 or 403 would say why")
	}
}
