package conformance

import (
	"crypto/ed25519"
	"net/http"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// The receiver's own word: signed answers, and what it says became of a key (contract 12.6).

// signedBy says whether an answer key of the project signed an answer.
func (p *play) signedBy(m message, a *answer) {
	var keys []ed25519.PublicKey
	for _, text := range p.cfg.Project.AnswerKeys {
		if key, err := signature.ParseAnswerKey(text); err == nil {
			keys = append(keys, key)
		}
	}
	_, a.unsigned = signature.VerifyAnswer(keys, signature.Answer{
		IdempotencyKey: m.headers.Get(signature.HeaderIdempotencyKey), Timestamp: m.headers.Get(signature.HeaderTimestamp), Method: m.method, PathAndQuery: m.target,
		BodySHA256: signature.BodyHash([]byte(m.body)), Status: a.status, AnswerSHA256: signature.BodyHash(a.body),
	}, a.signatures)
}

// word tries what the receiver signs and says. first is the answer to the right call of a step.
func (p *play) word(first answer, step string) {
	if len(p.cfg.Project.AnswerKeys) == 0 {
		return
	}
	if first.status == 0 {
		p.report.set(countersign.RuleSignsAnswers, notTried("no answer came to the right call"))
		return
	}
	p.signs(first)
	if p.cfg.Project.Settlement != nil && p.Effects() {
		p.tells(first, step)
		p.withdraws(step)
	}
}

// signs judges what is signed, and that a call with another secret isn't answered with a signature.
func (p *play) signs(first answer) {
	wrong := p.send(p.message(p.requests[0], p.step(), forgery{other: true}), moments{})
	switch {
	case first.unsigned != nil:
		p.report.set(countersign.RuleSignsAnswers, broken("the right call: "+first.unsigned.Error()))
	case wrong.status != 0 && wrong.unsigned == nil:
		p.report.set(countersign.RuleSignsAnswers, broken("a call with another secret got a signed "+strconv.Itoa(wrong.status)))
	default:
		p.report.set(countersign.RuleSignsAnswers, holds(first.words()+", signed; a call with another secret: "+wrong.words()+", not signed"))
	}
}

// asks puts a question about the key of a step, and reads the statement.
func (p *play) asks(step, question, method, ending string, sent time.Time) (countersign.SettlementRecord, answer) {
	key := p.cfg.RunID + "." + step
	r := countersign.Request{Method: method, URL: p.target + p.cfg.Project.Settlement.Path + "/" + key + ending + "?sent=" + strconv.FormatInt(sent.Unix(), 10), Query: countersign.Null, Body: countersign.Null}
	a := p.send(p.message(r, step+question, forgery{}), moments{})
	o := request.Outcome{Certainty: request.Returned, Unsigned: a.unsigned != nil, Response: &countersign.Response{StatusCode: a.status}}
	if a.unsigned == nil {
		o.AnsweredBy = &countersign.AnsweredBy{}
	} else {
		o.Cause = a.unsigned.Error()
	}
	if exactjson.Check(a.body) == nil {
		o.Body = countersign.RawValue(string(a.body))
	}
	return run.Statement(o, key, sent), a
}

// tells judges what the receiver says of the first call's key and of one that it never saw.
func (p *play) tells(first answer, step string) {
	done, a := p.asks(step, "~settle-1", "GET", "", p.cfg.Now())
	unseen, _ := p.asks(p.step(), "~settle-1", "GET", "", p.cfg.Now())
	switch {
	case !done.Valid:
		p.report.set(countersign.RuleTellsFate, broken(a.words()+" to the question about the right call: "+done.Error))
	case done.State != countersign.KeyDone || done.StatusCode != int64(first.status) || done.Output.Digest() != first.digest && first.digest != "":
		p.report.set(countersign.RuleTellsFate, broken("of the right call it says "+said(done)+", which isn't the answer that it gave"))
	case !unseen.Valid || unseen.State != countersign.KeyUnseen && unseen.Said != countersign.KeyUnseen:
		p.report.set(countersign.RuleTellsFate, broken("of a key that it never saw it says "+said(unseen)+unseen.Error))
	case unseen.State != countersign.KeyUnseen:
		p.report.set(countersign.RuleTellsFate, holds("DONE "+strconv.FormatInt(done.StatusCode, 10)+", and UNSEEN of a key that it never saw; its memory goes back less than 5 minutes, so that the service takes that for UNKNOWN yet"))
	default:
		p.report.set(countersign.RuleTellsFate, holds("DONE "+strconv.FormatInt(done.StatusCode, 10)+", and UNSEEN of a key that it never saw"))
	}
}

// said is a statement in one word.
func said(r countersign.SettlementRecord) string {
	switch {
	case r.Said != "":
		return r.Said
	case r.State != "":
		return r.State
	}
	return "nothing: "
}

// withdraws has the key of a call withdrawn that comes only then.
func (p *play) withdraws(known string) {
	step := p.step()
	gone, a := p.asks(step, "~withdraw", "POST", "/withdraw", p.cfg.Now())
	late := p.right(p.requests[0], step)
	kept, _ := p.asks(known, "~withdraw", "POST", "/withdraw", p.cfg.Now())
	named := gone.State == countersign.KeyWithdrawn || gone.Said == countersign.KeyWithdrawn
	switch {
	case !gone.Valid || !named:
		p.report.set(countersign.RuleWithdraws, broken(a.words()+": it says "+said(gone)+gone.Error))
	case late.status != http.StatusGone || !request.SaysError(string(late.body), "key_withdrawn") || late.unsigned != nil:
		p.report.set(countersign.RuleWithdraws, broken("a call under the withdrawn key got "+late.words()+"; it is 410 with the error key_withdrawn, signed"))
	case kept.State != countersign.KeyDone:
		p.report.set(countersign.RuleWithdraws, broken("asked to withdraw the key of a call that it answered, it says "+said(kept)+kept.Error))
	default:
		p.report.set(countersign.RuleWithdraws, holds("WITHDRAWN, and a call under that key 410; a key that it knew is DONE"))
	}
}
