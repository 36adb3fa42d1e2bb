package settlementmodel

import "strings"

// The model of settlement (contract 12.6, 12.4, 6, 11).

type storeKind uint8

const (
	sameTx  storeKind = iota // SQLTransactions: key, effect and answer in one transaction
	outside                  // SQLStore: claim committed, then the effect elsewhere, then finish
	memory                   // MemoryStore: as outside, forgets when its process ends
	adapter                  // 12.4: intent committed, then a call upstream that may arrive late
)

func (k storeKind) String() string { return [...]string{"same-tx", "outside", "memory", "adapter"}[k] }

type settleMode uint8

const (
	none settleMode = iota
	propose
	automatic
)

func (m settleMode) String() string { return [...]string{"none", "PROPOSE", "AUTOMATIC"}[m] }

type personKind uint8

const (
	nobody   personKind = iota
	truthful            // says what the receiver's records show at this moment
	anything            // says what they like
)

// rules are the proposed changes of the contract's words; all false is the contract as it is.
type rules struct {
	reach      bool // R1 WITHDRAWN only where the memory reaches back to the first sending (a MemoryStore: never), else UNKNOWN
	keepMarks  bool // R2 a WITHDRAWN mark is kept until no call of its key can be accepted
	unknown    bool // R3 a claim whose request has ended is UNKNOWN, not IN_PROGRESS
	judged     bool // R4 DONE is classified as the table of section 6 does, whatever its status
	once       bool // R5 with settlement nothing is sent a second time under a key
	stays      bool // R6 after a person's CONFIRMED_NOT_EXECUTED mayHaveHappened stays true, but for the receiver's word
	sticky     bool // R7 a 4xx answer of the handler is remembered too
	finalOnly  bool // R8 only an answer that is kept under the key is signed
	freshN     bool // R9 n is committed before the question leaves, and never used again
	pause      bool // R10 a restored receiver starts only after the signature window
	perAttempt bool // R11 (instead of R5) the signature covers the sending
	episode    bool // R12 (instead of R5) a statement counts only in the recovery in which it was asked for
	dead       bool // R13 (instead of R5) after a valid WITHDRAWN nothing is sent again; 410 is `withdrawn`
	firstSent  bool // R14 (instead of R5) a sending names the time of the first one; a memory that is younger refuses
}

// proposed are the rules of the report: a key is sent once.
func proposed() rules {
	return rules{reach: true, keepMarks: true, unknown: true, judged: true, once: true, stays: true, sticky: true, finalOnly: true, freshN: true, pause: true}
}

// resending are the rules for who wants to keep the resend beside settlement.
func resending() rules {
	r := proposed()
	r.once, r.perAttempt, r.episode, r.dead, r.firstSent = false, true, true, true, true
	return r
}

type config struct {
	name     string
	calls    int
	store    storeKind
	mode     settleMode
	person   personKind
	rules    rules
	replicas int
	cancel   bool
	noExpect bool // the step has no expectation
	plainKit bool // handler answers only ok or 4xx (smaller)
	lateCall bool // requests may be in the network after the sender gave up (else they are lost)

	crashes, rcvCrashes, restores, forgets, dups int
	declared                                     bool // the restore is declared to the kit (R1 sees it)
	proxy                                        bool // a lying proxy with captured statements
	retry                                        bool // an honest proxy that repeats a request and passes on the second answer
	bindKey                                      bool // the signature covers the key (12.6 has it)
	earlyAnswer                                  bool // broken kit: WITHDRAWN is answered before it is committed
	lookThenWrite                                bool // broken kit: looks, and writes the mark in a second statement
	reuseN                                       bool // n may be used twice (not committed before asking)
}

// step states
const (
	stWaitApproval uint8 = iota
	stApproved
	stIntent
	stSent
	stWaitsForCall // cancel asked, the call may still be answered (11)
	stRecovery
	stCompleted
	stAnswered  // FAILED, 2xx not as expected, mayHaveHappened
	stRefused   // FAILED receiver_refused: says that nothing happened
	stWithdrawn // FAILED withdrawn
	stRejected  // a later approval rejected
	stCancelled // cancelled after CONFIRMED_NOT_EXECUTED
	stAbandoned
)

// answers of the receiver to a call
const (
	aOK uint8 = iota + 1
	aBad
	a4
	a5
	a409
	a410
	a401
)

// settlement statements
const (
	sProgress uint8 = iota + 1
	sWithdrawn
	sDoneOK
	sDoneBad
	sDone4
	sUnknown
)

// a message: 0 none, 1 on its way to the receiver, 2 being performed, else an answer
const (
	msgNone uint8 = 0
	msgNet  uint8 = 1
	msgRcv  uint8 = 2
	msgAns  uint8 = 0x80 // | code | effect<<4
)

func ans(code, eff uint8) uint8 { return msgAns | code | eff<<4 }
func codeOf(m uint8) uint8      { return m & 0x0f }
func effOf(m uint8) uint8       { return m >> 4 & 0x07 }
func isAns(m uint8) bool        { return m&msgAns != 0 }

// rows of the key store
const (
	rowNone uint8 = iota
	rowClaimed
	rowDone
	rowWithdrawn
	rowUnknown // adapter: 504 for ever
)

// why a step is COMPLETED
const (
	byNone uint8 = iota
	byAnswer
	byPerson
	byReceiver
)

// violations that are noticed at a transition
const (
	vEffectAfterWithdrawn uint8 = 1 << iota
	vWrongCompletion
	vForeign
	vUseless
)

type call struct {
	step, att, by, approvals uint8
	prop                     uint8 // proposal: a settlement statement, 0 none
	cancel, zombie           bool
	req                      [3]uint8 // of attempt 1, 2; [2]: a duplicate by the proxy
	dupOf                    uint8    // attempt (1, 2) of req[2]
	q, oldQ                  uint8
	row, rowAns, rowEff      uint8
	exec, phase              uint8 // exec: 1+index of the request that is performed
	up                       uint8 // adapter: 0, 1 on its way, 2 performed, 3 refused
	effects, present         uint8
	saidWithdrawn            bool
	gap                      bool  // the memory lost something since the first sending
	told                     bool  // the receiver said UNKNOWN: it is a person's from now on
	tooOld                   uint8 // attempts up to this one are refused by their timestamp
	saw, pending             bool  // broken kits: looked and found nothing; answered before the commit
	bakRow, bakAns, bakEff   uint8
	bakPresent               uint8
	cap                      [2]uint8 // captured signed answers, by attempt, bit per code
	capS                     uint8    // captured statements
	viol                     uint8
}

type state struct {
	c                                            [2]call
	crashes, rcvCrashes, restores, forgets, dups uint8
	backup                                       bool
}

var order = []string{
	"P1 one effect a key",
	"P2 no effect after WITHDRAWN was answered",
	"P3w FAILED withdrawn: no effect, ever",
	"P3r FAILED receiver_refused: no effect, ever",
	"P3j rejected, expired or not sent after a CONFIRMED_NOT_EXECUTED, says nothing happened: no effect, ever",
	"P3c CANCELLED after a CONFIRMED_NOT_EXECUTED, says nothing was sent: no effect, ever",
	"P4 COMPLETED by answer or settlement: one effect, that answer",
	"P5 no more effects than approvals",
	"P6 no answer of one key taken for another",
	"U an approval is spent on a resend that can't be performed",
	"C1 sent only on what was approved and read twice",
	"C2 FAILED, rejected or CANCELLED without mayHaveHappened: nothing performed",
	"C3 performed only on the state that was approved",
	"C4 at most three approvals",
	"C5 no intent after a stop or a cancel was answered",
	"C6 no intent on an old read that was replayed while the state had changed",
	"W rewound is said only if a cosigned record is lost",
}

func (c *call) end(step, by uint8) {
	c.step, c.by, c.prop, c.told = step, by, 0, false
	c.hangUp()
}

// hangUp: nobody waits for an answer any more, so answers on their way vanish.
func (c *call) hangUp() {
	for k := range c.req[:2] {
		if isAns(c.req[k]) {
			c.req[k] = msgNone
		}
	}
}

func (cfg *config) bad(s state) (out []string) {
	say := func(broken bool, id string) {
		if broken {
			out = append(out, property(id))
		}
	}
	for i := range cfg.calls {
		c := &s.c[i]
		effects := c.effects
		if cfg.store == sameTx && cfg.restores > 0 {
			effects = c.present
		}
		say(effects > 1, "P1")
		say(c.viol&vEffectAfterWithdrawn != 0, "P2")
		say(c.step == stWithdrawn && effects > 0, "P3w")
		say(c.step == stRefused && (c.att < 2 || !cfg.rules.stays || cfg.rules.sticky) && effects > 0, "P3r")
		say(c.step == stRejected && !cfg.rules.stays && effects > 0, "P3j")
		say(c.step == stCancelled && !cfg.rules.stays && effects > 0, "P3c")
		say(c.viol&vWrongCompletion != 0, "P4")
		say(c.effects > c.approvals, "P5")
		say(c.viol&vForeign != 0, "P6")
		say(c.viol&vUseless != 0, "U")
	}
	return out
}

func property(id string) string {
	for _, p := range order {
		if strings.HasPrefix(p, id+" ") {
			return p
		}
	}
	panic(id)
}

// open: an unknown stands, and no proposal lies before a person.
func (cfg *config) open(s state) bool {
	if cfg.mode == none { // a person's work, always
		return false
	}
	for i := range cfg.calls {
		c := &s.c[i]
		switch c.step {
		case stIntent, stSent, stWaitsForCall:
			return true
		case stRecovery:
			if c.prop == 0 && !c.told {
				return true
			}
		}
	}
	return false
}

// classify is the table of section 6 for an answer that came on the connection of its call.
func (cfg *config) classify(c *call, a uint8) {
	code, eff := codeOf(a), effOf(a)
	if c.step == stWaitsForCall { // kept as late; decides nothing
		c.step = stRecovery
		c.hangUp()
		return
	}
	switch code {
	case aOK:
		cfg.completed(c, eff, byAnswer)
	case aBad:
		c.end(stAnswered, byAnswer)
	case a4, a401:
		if code == a401 && cfg.rules.finalOnly {
			c.step = stRecovery
			c.hangUp()
			return
		}
		c.end(stRefused, byAnswer)
	case a410:
		if cfg.rules.dead || cfg.rules.once {
			c.end(stWithdrawn, byReceiver)
		} else {
			c.end(stRefused, byAnswer)
		}
	case a409:
		if c.att == 1 && !cfg.rules.finalOnly {
			c.end(stRefused, byAnswer)
			return
		}
		fallthrough
	default:
		c.step = stRecovery
		c.hangUp()
	}
}

func (cfg *config) completed(c *call, eff, by uint8) {
	wrong := eff == 0 || c.effects != 1
	if cfg.store == sameTx && cfg.restores > 0 { // a restore has undone what was in that database
		wrong = eff == 0 || c.present > 1
	}
	if wrong {
		c.viol |= vWrongCompletion
	}
	c.end(stCompleted, by)
}

// settled applies a statement that has a valid signature.
func (cfg *config) settled(c *call, a uint8) {
	code, eff := codeOf(a), effOf(a)
	if c.step != stRecovery { // kept only
		return
	}
	switch code {
	case sProgress:
		return
	case sUnknown:
		c.told = true
		return
	case sDoneBad:
		if !cfg.rules.judged { // CONFIRMED_COMPLETED: 409 expectation_not_met, nothing changes
			if cfg.noExpect {
				cfg.decide(c, code, eff)
			}
			return
		}
	case sDone4:
		if !cfg.rules.judged && !cfg.noExpect {
			return // as above
		}
	}
	cfg.decide(c, code, eff)
}

func (cfg *config) decide(c *call, code, eff uint8) {
	if cfg.mode == propose {
		c.prop = code | eff<<4
		return
	}
	cfg.carryOut(c, code, eff)
}

func (cfg *config) carryOut(c *call, code, eff uint8) {
	switch code {
	case sDoneOK:
		cfg.completed(c, eff, byReceiver)
	case sDoneBad:
		if cfg.rules.judged && !cfg.noExpect {
			c.end(stAnswered, byReceiver)
		} else {
			cfg.completed(c, eff, byReceiver)
		}
	case sDone4:
		if cfg.rules.judged {
			c.end(stRefused, byReceiver)
		} else {
			cfg.completed(c, eff, byReceiver)
		}
	case sWithdrawn:
		if cfg.mode == propose && !cfg.rules.dead && !cfg.rules.once { // the form says CONFIRMED_NOT_EXECUTED
			cfg.notExecuted(c)
			return
		}
		c.end(stWithdrawn, byReceiver)
	}
}

func (cfg *config) notExecuted(c *call) {
	if cfg.rules.episode && c.q != msgNone {
		if c.q == msgNet && c.oldQ == msgNone {
			c.oldQ = msgNet
		}
		c.q = msgNone
	}
	if c.cancel || cfg.rules.once && cfg.mode != none {
		c.end(stCancelled, byPerson)
		return
	}
	c.end(stWaitApproval, byNone)
}

func (c *call) effect() {
	c.effects++
	c.present++
	if c.saidWithdrawn {
		c.viol |= vEffectAfterWithdrawn
	}
}

// answer puts the receiver's answer to request k on its way, if somebody waits for it.
func (cfg *config) answer(c *call, k int, code, eff uint8) {
	att := uint8(k + 1)
	if k == 2 {
		att = c.dupOf
	}
	signed := !cfg.rules.finalOnly || code == aOK || code == aBad || code == a4 || code == a410
	if cfg.proxy && signed {
		c.cap[att-1] |= 1 << code
	}
	c.req[k] = msgNone
	if k == 2 && cfg.retry && att == c.att && c.step == stSent {
		cfg.classify(c, ans(code, eff)) // the proxy has given up the first one, and passes this on
		return
	}
	if k < 2 && att == c.att && (c.step == stSent || c.step == stWaitsForCall) {
		c.req[k] = ans(code, eff)
	}
}

// asked is what the receiver does about a question. ok is false where it has to wait.
func (cfg *config) asked(c *call) (statement uint8, ok bool) {
	switch c.row {
	case rowNone:
		if c.exec != 0 {
			return 0, false // the other transaction goes first
		}
		if cfg.earlyAnswer {
			c.pending = true
		} else {
			c.row = rowWithdrawn
		}
		if (c.gap || cfg.store == memory) && cfg.rules.reach {
			return sUnknown, true // nothing runs from now on, but it may have run
		}
		c.saidWithdrawn = true
		return sWithdrawn, true
	case rowWithdrawn:
		if (c.gap && !c.saidWithdrawn || cfg.store == memory) && cfg.rules.reach {
			return sUnknown, true
		}
		c.saidWithdrawn = true
		return sWithdrawn, true
	case rowDone:
		switch c.rowAns {
		case aOK:
			return sDoneOK | c.rowEff<<4, true
		case aBad:
			return sDoneBad | c.rowEff<<4, true
		default:
			return sDone4, true
		}
	case rowClaimed:
		if c.exec == 0 && cfg.rules.unknown {
			return sUnknown, true
		}
		return sProgress, true
	default:
		return sUnknown, true // 12.4 says so for the adapter
	}
}

func (cfg *config) next(s state, emit func(string, bool, state)) {
	n := [2]string{"", ""}
	if cfg.calls == 2 {
		n = [2]string{"[1] ", "[2] "}
	}
	for i := range cfg.calls {
		do := func(what string, fair bool, f func(c *call)) {
			t := s
			f(&t.c[i])
			emit(n[i]+what, fair, t)
		}
		cfg.service(&s.c[i], do)
		cfg.people(&s.c[i], do)
		cfg.receiver(&s.c[i], do)
		cfg.network(&s.c[i], do)
		if cfg.proxy {
			cfg.lies(&s.c[i], do)
		}
		if cfg.proxy || cfg.retry {
			if int(s.dups) < cfg.dups {
				for att := s.c[i].tooOld + 1; att <= s.c[i].att && att <= 2; att++ {
					if s.c[i].req[2] == msgNone && s.c[i].step > stIntent && (!cfg.retry || s.c[i].step == stSent) {
						t := s
						t.dups++
						t.c[i].req[2], t.c[i].dupOf = msgNet, att
						emit(n[i]+"proxy sends the request of attempt "+string('0'+rune(att))+" again", false, t)
					}
				}
			}
			if cfg.calls == 2 && !cfg.bindKey && s.c[i].step == stRecovery && isAns(s.c[1-i].q) {
				do("proxy answers with the statement about the other key", false, func(c *call) {
					c.viol |= vForeign
					cfg.settled(c, s.c[1-i].q)
				})
			}
		}
	}
	cfg.disasters(s, emit)
}

func (cfg *config) service(c *call, do func(string, bool, func(*call))) {
	switch c.step {
	case stApproved:
		do("service commits the intent", true, func(c *call) { c.step = stIntent; c.att++ })
	case stIntent:
		do("service sends", true, func(c *call) { c.step = stSent; c.req[c.att-1] = msgNet })
	case stSent, stWaitsForCall:
		if a := c.req[c.att-1]; isAns(a) {
			do("answer reaches the service", true, func(c *call) { c.req[c.att-1] = msgNone; cfg.classify(c, a) })
		}
		do("service gives up waiting", true, func(c *call) {
			c.step = stRecovery
			if !cfg.lateCall && c.req[c.att-1] == msgNet {
				c.req[c.att-1] = msgNone
			}
			c.hangUp()
		})
	case stRecovery:
		if cfg.mode != none && c.q == msgNone && c.prop == 0 {
			do("service asks (settle)", true, func(c *call) { c.q = msgNet })
		}
	}
	if isAns(c.q) {
		a := c.q
		do("statement "+statement(a)+" reaches the service", true, func(c *call) { c.q = msgNone; cfg.settled(c, a) })
	}
	if c.zombie {
		do("the fenced replica sends anyway (it stood still between look and send)", false, func(c *call) {
			c.zombie = false
			c.req[c.att-1] = msgNet
		})
	}
}

func (cfg *config) people(c *call, do func(string, bool, func(*call))) {
	switch c.step {
	case stWaitApproval:
		if c.att < 2 {
			do("approver approves", false, func(c *call) {
				if c.row == rowWithdrawn {
					c.viol |= vUseless
				}
				c.step = stApproved
				c.approvals++
			})
		}
		if c.att > 0 {
			do("approver rejects (or it expires)", false, func(c *call) { c.end(stRejected, byPerson) })
		}
	case stSent:
		if cfg.cancel && !c.cancel {
			do("operator cancels", false, func(c *call) { c.cancel = true; c.step = stWaitsForCall })
		}
	case stRecovery:
		if c.prop != 0 {
			p := c.prop
			do("reviewer confirms the filled form "+statement(p), false, func(c *call) { cfg.carryOut(c, codeOf(p), p>>4&7) })
		}
		if cfg.person == nobody {
			return
		}
		if cfg.person == anything || c.present == 0 {
			if !((cfg.rules.dead || cfg.rules.once) && codeOf(c.prop) == sWithdrawn) {
				do("person: CONFIRMED_NOT_EXECUTED", false, func(c *call) { cfg.notExecuted(c) })
			}
		}
		if cfg.person == anything || c.present > 0 {
			do("person: CONFIRMED_COMPLETED", false, func(c *call) { c.end(stCompleted, byPerson) })
		}
		do("person: ABANDON", false, func(c *call) { c.end(stAbandoned, byPerson) })
	}
}

func (cfg *config) receiver(c *call, do func(string, bool, func(*call))) {
	for k := range c.req {
		if c.req[k] != msgNet {
			continue
		}
		what := [...]string{"request 1 reaches the receiver", "request 2 reaches the receiver", "the duplicate reaches the receiver"}[k]
		switch c.row {
		case rowNone:
			if c.gap && cfg.rules.firstSent {
				do(what+": 409 forgotten (the memory is younger than the first sending)", true, func(c *call) { cfg.answer(c, k, a409, 0) })
			} else if c.exec == 0 {
				do(what+": claims the key", true, func(c *call) {
					c.exec, c.phase, c.req[k] = uint8(k+1), 1, msgRcv
					if cfg.store != sameTx {
						c.row = rowClaimed
					}
				})
			}
		case rowClaimed:
			do(what+": 409 in_progress/in_doubt", true, func(c *call) { cfg.answer(c, k, a409, 0) })
		case rowDone:
			do(what+": the kept answer again", true, func(c *call) { cfg.answer(c, k, c.rowAns, c.rowEff) })
		case rowWithdrawn:
			do(what+": 410 key_withdrawn", true, func(c *call) { cfg.answer(c, k, a410, 0) })
		case rowUnknown:
			do(what+": 504 outcome_unknown", true, func(c *call) { cfg.answer(c, k, a5, 0) })
		}
	}
	for _, old := range []bool{false, true} {
		if !old && c.q != msgNet || old && c.oldQ != msgNet {
			continue
		}
		t := *c
		if cfg.lookThenWrite && !c.saw && c.row == rowNone {
			do("question reaches the receiver, which looks and finds no key", true, func(c *call) { c.saw = true })
			continue
		}
		if c.saw {
			t.row, t.exec = rowNone, 0
		}
		st, ok := cfg.asked(&t)
		if !ok {
			continue
		}
		what := "question reaches the receiver: "
		if old {
			what = "the late question reaches the receiver: "
		}
		do(what+statement(st), true, func(c *call) {
			if c.saw {
				c.saw = false
				c.saidWithdrawn = true
				if c.row == rowNone {
					c.row = rowWithdrawn
				}
			} else {
				cfg.asked(c)
			}
			if cfg.proxy {
				c.capS |= 1 << codeOf(st)
			}
			if old {
				c.oldQ = msgNone
			} else {
				c.q = msgAns | st
			}
		})
	}
	if c.pending {
		do("the kit commits the WITHDRAWN mark", true, func(c *call) {
			c.pending = false
			if c.row == rowNone {
				c.row = rowWithdrawn
			}
		})
	}
	if c.exec == 0 {
		cfg.upstream(c, do)
		return
	}
	k := int(c.exec - 1)
	finish := func(c *call, code, eff uint8) {
		c.row, c.rowAns, c.rowEff = rowDone, code, eff
		c.exec, c.phase = 0, 0
		cfg.answer(c, k, code, eff)
	}
	refuse := func(c *call, sticky bool) {
		c.exec, c.phase = 0, 0
		c.row = rowNone
		if sticky {
			c.row, c.rowAns, c.rowEff = rowDone, a4, 0
		}
		cfg.answer(c, k, a4, 0)
	}
	fail := func(c *call) {
		c.exec, c.phase = 0, 0
		cfg.answer(c, k, a5, 0)
	}
	switch {
	case cfg.store == sameTx:
		do("receiver commits effect, key and answer (as expected)", true, func(c *call) { c.effect(); finish(c, aOK, c.effects) })
		if !cfg.plainKit {
			do("receiver commits effect, key and answer (not as expected)", true, func(c *call) { c.effect(); finish(c, aBad, c.effects) })
			do("handler answers 5xx: rolled back", true, func(c *call) { c.row = rowNone; fail(c) })
		}
		do("handler answers 4xx: nothing happened", true, func(c *call) { refuse(c, cfg.rules.sticky) })
	case cfg.store == adapter && c.phase == 1:
		do("adapter calls upstream", true, func(c *call) { c.phase, c.up = 2, 1 })
		do("adapter: 424 not_called", true, func(c *call) { refuse(c, cfg.rules.sticky) })
	case cfg.store == adapter:
		switch c.up {
		case 2:
			do("adapter keeps the upstream's answer", true, func(c *call) { c.up = 0; finish(c, aOK, c.effects) })
			if !cfg.plainKit {
				do("adapter keeps the upstream's answer (not as expected)", true, func(c *call) { c.up = 0; finish(c, aBad, c.effects) })
			}
		case 3:
			do("adapter keeps the upstream's refusal (422)", true, func(c *call) { c.up = 0; refuse(c, true) })
		}
		do("adapter gives up: 504 outcome_unknown", true, func(c *call) { c.row = rowUnknown; fail(c) })
	case c.phase == 1:
		do("the effect happens", true, func(c *call) { c.effect(); c.phase = 2 })
		do("handler answers 4xx: nothing happened", true, func(c *call) { refuse(c, cfg.rules.sticky) })
		if !cfg.plainKit {
			do("handler answers 5xx before the effect: in doubt", true, fail)
		}
	default:
		do("receiver keeps the answer (as expected)", true, func(c *call) { finish(c, aOK, c.effects) })
		if !cfg.plainKit {
			do("receiver keeps the answer (not as expected)", true, func(c *call) { finish(c, aBad, c.effects) })
			do("handler answers 5xx after the effect: in doubt", true, fail)
		}
	}
	cfg.upstream(c, do)
}

func (cfg *config) upstream(c *call, do func(string, bool, func(*call))) {
	if c.up == 1 {
		do("upstream performs the call", true, func(c *call) {
			c.effect()
			c.up = 2
			if c.exec == 0 {
				c.up = 0
			}
		})
		do("upstream refuses", true, func(c *call) {
			c.up = 3
			if c.exec == 0 {
				c.up = 0
			}
		})
	}
}

func (cfg *config) network(c *call, do func(string, bool, func(*call))) {
	for k := range c.req {
		if c.req[k] == msgNet {
			do("request "+string('1'+rune(k))+" is lost", false, func(c *call) { c.req[k] = msgNone })
		}
	}
	if c.q != msgNone {
		do("question or statement is lost", false, func(c *call) { c.q = msgNone })
	}
	if c.q == msgNet && c.oldQ == msgNone {
		do("service gives up on the question, which is still on its way", false, func(c *call) { c.q, c.oldQ = msgNone, msgNet })
	}
	if c.oldQ == msgNet {
		do("the late question is lost", false, func(c *call) { c.oldQ = msgNone })
	}
	if c.up == 1 {
		do("the call upstream is lost", false, func(c *call) { c.up = 0 })
	}
}

// lies are those of a proxy between service and receiver, which can't sign.
func (cfg *config) lies(c *call, do func(string, bool, func(*call))) {
	if c.step == stSent {
		for code := aOK; code <= a401; code++ {
			can := c.cap[c.att-1]
			if !cfg.rules.perAttempt {
				can = c.cap[0] | c.cap[1]
			}
			if !cfg.rules.finalOnly {
				can |= 1 << a401 // it sends the same request with a broken HMAC, and gets a signed 401
			}
			if can&(1<<code) != 0 {
				do("proxy answers with a captured signed "+[...]string{"", "2xx", "2xx", "4xx", "5xx", "409", "410", "401"}[code], false, func(c *call) {
					eff := uint8(0)
					if code == aOK || code == aBad {
						eff = 1
					}
					cfg.classify(c, ans(code, eff))
				})
			}
		}
	}
	if c.step == stRecovery && c.prop == 0 && cfg.mode != none && cfg.reuseN && !cfg.rules.freshN {
		for code := sProgress; code <= sUnknown; code++ {
			if c.capS&(1<<code) != 0 {
				do("proxy answers the question with a captured statement "+statement(code), false, func(c *call) {
					eff := uint8(0)
					if code == sDoneOK || code == sDoneBad {
						eff = 1
					}
					cfg.settled(c, msgAns|code|eff<<4)
				})
			}
		}
	}
}

func (cfg *config) disasters(s state, emit func(string, bool, state)) {
	all := func(t *state, f func(c *call)) {
		for i := range cfg.calls {
			f(&t.c[i])
		}
	}
	if int(s.crashes) < cfg.crashes {
		t := s
		t.crashes++
		all(&t, func(c *call) {
			switch c.step {
			case stIntent, stSent, stWaitsForCall:
				c.zombie = cfg.replicas == 2 && c.step == stIntent
				c.step = stRecovery
				c.hangUp()
			}
			if c.q == msgNet && c.oldQ == msgNone {
				c.oldQ = msgNet
			}
			c.q = msgNone
		})
		what := "service is killed and starts again"
		if cfg.replicas == 2 {
			what = "the other replica fences this one and takes over"
		}
		emit(what, false, t)
	}
	if int(s.rcvCrashes) < cfg.rcvCrashes {
		t := s
		t.rcvCrashes++
		all(&t, func(c *call) {
			for k := range c.req {
				if c.req[k] == msgRcv {
					c.req[k] = msgNone
				}
			}
			if c.exec != 0 && cfg.store == adapter {
				c.row = rowUnknown
				if c.up > 1 {
					c.up = 0
				}
			}
			c.exec, c.phase, c.saw, c.pending = 0, 0, false, false
			if cfg.store == memory {
				c.row, c.rowAns, c.rowEff = rowNone, 0, 0
				c.gap = c.gap || c.att > 0
			}
		})
		emit("receiver is killed and starts again", false, t)
	}
	if int(s.restores) < cfg.restores {
		if !s.backup {
			t := s
			t.backup = true
			all(&t, func(c *call) { c.bakRow, c.bakAns, c.bakEff, c.bakPresent = c.row, c.rowAns, c.rowEff, c.present })
			emit("receiver's store is backed up", false, t)
		} else {
			t := s
			t.restores++
			all(&t, func(c *call) {
				for k := range c.req {
					if c.req[k] == msgRcv || c.req[k] == msgNet && cfg.rules.pause {
						c.req[k] = msgNone
					}
				}
				if cfg.rules.pause { // what was sent before is refused by its timestamp
					c.zombie = false
					c.tooOld = c.att
				}
				c.exec, c.phase, c.saw, c.pending = 0, 0, false, false
				c.row, c.rowAns, c.rowEff = c.bakRow, c.bakAns, c.bakEff
				if c.row == rowClaimed && cfg.store == adapter {
					c.row = rowUnknown
				}
				if cfg.store == sameTx {
					c.present = c.bakPresent
				}
				c.gap = c.gap || c.att > 0 && cfg.declared
			})
			emit("receiver is restored from the backup", false, t)
		}
	}
	if int(s.forgets) < cfg.forgets {
		for i := range cfg.calls {
			c := &s.c[i]
			mark := c.row == rowWithdrawn
			if !mark && c.row != rowDone {
				continue
			}
			if mark && cfg.rules.keepMarks && (c.req[0] == msgNet || c.req[1] == msgNet || c.req[2] == msgNet || c.zombie || c.step < stCompleted) {
				continue
			}
			t := s
			t.forgets++
			t.c[i].row, t.c[i].rowAns, t.c[i].rowEff = rowNone, 0, 0
			t.c[i].gap = true
			emit("the receiver's retention drops the key", false, t)
		}
	}
}

func statement(a uint8) string {
	return [...]string{"?", "IN_PROGRESS", "WITHDRAWN", "DONE as expected", "DONE not as expected", "DONE 4xx", "UNKNOWN"}[codeOf(a)]
}
