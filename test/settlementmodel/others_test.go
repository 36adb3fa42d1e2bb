package settlementmodel

// The smaller models: preconditions (12.5), the witnesses' rewind rule (12.7), and the clocks
// that the signature window, `since` and the marks rest on.

// ---- 12.5

type pstate struct {
	v       uint8 // what the API would answer to the precondition's read; 2: `when` is false
	changes uint8
	stopped bool
	r       [2]prun
}

type prun struct {
	step     uint8
	approved uint8 // value that the approver saw
	sampled  uint8 // value that the second read took
	asked    uint8 // approvals asked for
	att      uint8
	net      uint8 // a request on its way: 1
	zombie   bool
	effects  uint8
	on       uint8 // 1+value on which it was performed
	sentBad  bool  // sent though the second read differed from what was approved
	unsafe   bool  // intent committed while stopped or cancelled
	replayed bool  // the second read's answer was the first one's
	stale    bool  // intent committed on a replayed answer though the state had changed
	cancel   bool
}

const (
	pStart uint8 = iota
	pAsk         // first read sampled
	pWaits
	pApproved
	pReading // the second read is on its way (sampled)
	pRead    // its answer is here
	pIntent
	pSent
	pRecovery
	pDone
	pFailed // precondition_failed or unknown: says that nothing was sent
	pRejected
	pCancelled
)

type pconfig struct {
	runs    int
	recheck bool // proposed: stop, cancel, expiry, drift and budgets are judged again in the intent's commit
	stays   bool // proposed R6: mayHaveHappened stays for a step that was sent before
	proxy   bool // a lying proxy that keeps the first read's signed answer
	freshN  bool // proposed: every read has a key of its own, so that its signed answer fits no other
	crashes int
}

func (p pconfig) next(s pstate, emit func(string, bool, pstate)) {
	names := [2]string{"", ""}
	if p.runs == 2 {
		names = [2]string{"[1] ", "[2] "}
	}
	if s.changes < 2 {
		for v := uint8(0); v < 3; v++ {
			if v != s.v {
				t := s
				t.v = v
				t.changes++
				emit("the state changes to "+string('0'+rune(v)), false, t)
			}
		}
	}
	t := s
	t.stopped = !s.stopped
	if s.stopped {
		emit("go", true, t)
	} else {
		emit("an ADMIN stops LIVE steps", false, t)
	}
	for i := range p.runs {
		r := s.r[i]
		do := func(what string, fair bool, f func(t *pstate, r *prun)) {
			t := s
			f(&t, &t.r[i])
			emit(names[i]+what, fair, t)
		}
		reset := func(r *prun) { r.approved, r.sampled = 0, 0 }
		switch r.step {
		case pStart:
			do("first read", true, func(t *pstate, r *prun) {
				switch {
				case t.v == 2:
					r.step = pFailed
				case r.asked == 3:
					r.step = pFailed
				default:
					r.step, r.approved = pWaits, t.v
					r.asked++
				}
			})
			do("first read fails", false, func(t *pstate, r *prun) { r.step = pFailed })
		case pWaits:
			do("approver approves", true, func(t *pstate, r *prun) { r.step = pApproved })
			do("approver rejects", false, func(t *pstate, r *prun) { r.step = pRejected })
		case pApproved:
			if !s.stopped {
				do("last check holds; the second read is sampled", true, func(t *pstate, r *prun) { r.step, r.sampled = pReading, t.v })
			}
			if p.proxy && !p.freshN && !s.stopped {
				do("last check holds; a proxy answers the second read with the first one's signed answer", false, func(t *pstate, r *prun) {
					r.step, r.sampled, r.replayed = pRead, r.approved, true
				})
			}
		case pReading:
			do("second read's answer arrives", true, func(t *pstate, r *prun) { r.step = pRead })
			do("second read fails", false, func(t *pstate, r *prun) { r.step = pFailed })
		case pRead:
			switch {
			case p.recheck && s.stopped:
				do("stopped: the run waits", true, func(t *pstate, r *prun) { r.step, r.sampled = pApproved, 0 })
			case p.recheck && r.cancel:
				do("cancelled", true, func(t *pstate, r *prun) { r.step = pCancelled })
			case r.sampled == 2:
				do("`when` is false", true, func(t *pstate, r *prun) { r.step = pFailed })
			case r.sampled != r.approved:
				do("values differ: a new approval", true, func(t *pstate, r *prun) { reset(r); r.step = pStart })
			default:
				do("intent committed", true, func(t *pstate, r *prun) {
					r.unsafe = r.unsafe || t.stopped || r.cancel
					r.stale = r.stale || r.replayed && t.v != r.approved
					r.step = pIntent
					r.att++
				})
			}
		case pIntent:
			do("sends", true, func(t *pstate, r *prun) {
				r.step, r.net = pSent, 1
				r.sentBad = r.sentBad || r.sampled != r.approved || r.sampled == 2
			})
		case pSent:
			do("gives up waiting", true, func(t *pstate, r *prun) { r.step = pRecovery })
		case pRecovery:
			if r.att < 2 && r.effects == 0 {
				do("person looks, sees nothing: CONFIRMED_NOT_EXECUTED", false, func(t *pstate, r *prun) { reset(r); r.step = pStart })
			}
			do("person ends it", true, func(t *pstate, r *prun) { r.step = pDone })
		}
		if !r.cancel && r.step > pStart && r.step <= pRead && r.step != pWaits {
			do("operator cancels", false, func(t *pstate, r *prun) {
				if r.step == pReading || r.step == pRead {
					r.cancel = true // CANCELLED is answered: a read is in flight
				} else {
					r.step = pCancelled
				}
			})
		}
		if r.net == 1 {
			do("request reaches the API, which performs it", true, func(t *pstate, r *prun) {
				r.net = 0
				r.effects++
				r.on = t.v + 1
				if r.step == pSent {
					r.step = pDone
				}
				t.v = 2 // its own effect shows
			})
			do("request is lost", false, func(t *pstate, r *prun) { r.net = 0 })
		}
		if r.zombie {
			do("the fenced replica sends anyway", false, func(t *pstate, r *prun) { r.zombie, r.net = false, 1 })
		}
		if p.crashes > 0 && r.att+r.asked < 5 {
			switch r.step {
			case pReading, pRead:
				do("service killed between read and intent; starts again", false, func(t *pstate, r *prun) { r.step, r.sampled = pApproved, 0 })
			case pIntent:
				do("service killed after the intent (or fenced); recovery", false, func(t *pstate, r *prun) { r.step = pRecovery; r.zombie = true })
			}
		}
	}
}

func (p pconfig) bad(s pstate) (out []string) {
	both := 0
	for i := range p.runs {
		r := &s.r[i]
		if r.sentBad {
			out = append(out, property("C1"))
		}
		if r.effects > 0 && (r.step == pFailed || r.step == pRejected || r.step == pCancelled) && !(p.stays && r.att > 0) {
			out = append(out, property("C2"))
		}
		if r.effects > 0 && r.on != r.approved+1 && r.step != pStart {
			out = append(out, property("C3"))
		}
		if r.asked > 3 {
			out = append(out, property("C4"))
		}
		if r.stale {
			out = append(out, property("C6"))
		}
		if r.unsafe {
			out = append(out, property("C5"))
		}
		if r.effects > 0 {
			both++
		}
	}
	return out
}

func (p pconfig) open(s pstate) bool {
	for i := range p.runs {
		if s.r[i].step < pDone {
			return true
		}
	}
	return false
}

// ---- 12.7

// A log is its first `kept` records of the first life and then those of the second. sub is a
// checkpoint on its way to the witness: its size, and whether it is of the second life.
type wstate struct {
	size, kept uint8 // kept = 255 before the restore
	wSize      uint8 // the witness's tree
	wSecond    bool  // the witness has cosigned a tree of the second life
	known      uint8 // what the service remembers as cosigned
	backup     uint8 // 1+size at the backup
	bakKnown   uint8
	sub        [2]wsub // two senders (replicas, or a retry)
	rewound    bool
	started    bool // the service has started and submitted nothing since
}

type wsub struct {
	on     bool
	size   uint8
	second bool
	answer uint8 // 0 on its way, 1 cosigned, 2 refused: 409 with its size, 3 refused: proof doesn't fit
	wSize  uint8
}

type wconfig struct {
	senders int
	unfit   bool // proposed: a proof that doesn't fit means set back, too
	atStart bool // proposed: a checkpoint is submitted at each start, grown or not
	reread  bool // proposed: the head is read again before it is said
}

const firstLife = 255

func (w wconfig) next(s wstate, emit func(string, bool, wstate)) {
	if s.size < 4 {
		t := s
		t.size++
		emit("a record is appended", false, t)
	}
	if s.backup == 0 && s.size > 0 {
		t := s
		t.backup, t.bakKnown = s.size+1, s.known
		emit("backup", false, t)
	} else if s.backup != 0 && s.kept == firstLife {
		t := s
		t.size, t.kept, t.known = s.backup-1, s.backup-1, s.bakKnown
		t.sub = [2]wsub{} // the process ended
		t.started = w.atStart
		emit("service is restored from the backup", false, t)
	}
	for i := range w.senders {
		who := [...]string{"A ", "B "}[i]
		u := s.sub[i]
		if !u.on {
			if s.size > 0 && (s.known < s.size || s.started) {
				t := s
				t.started = false
				t.sub[i] = wsub{on: true, size: s.size, second: s.kept != firstLife && s.size > s.kept}
				emit(who+"submits a checkpoint of "+string('0'+rune(s.size)), true, t)
			}
			continue
		}
		if u.answer == 0 {
			t := s
			v := &t.sub[i]
			// does the witness's tree lie within the one that is submitted? The proof is made
			// from what the service has now, against the size that the witness names.
			fits := s.wSize <= u.size && (s.kept == firstLife || s.wSecond || s.wSize <= s.kept)
			switch {
			case s.wSize > u.size:
				v.answer, v.wSize = 2, s.wSize
			case !fits:
				v.answer = 3
			default:
				v.answer = 1
				t.wSize = u.size
				t.wSecond = s.wSecond || s.kept != firstLife
			}
			emit(who+"witness judges: "+[...]string{"", "cosigned", "refused, it knows a larger tree", "refused, the proof doesn't fit"}[v.answer], true, t)
			t = s
			t.sub[i] = wsub{}
			t.started = w.atStart // tried again
			emit(who+"submission is lost", false, t)
			continue
		}
		t := s
		t.sub[i] = wsub{}
		switch u.answer {
		case 1:
			t.known = max(t.known, u.size)
		case 2:
			if !w.reread || u.wSize > s.size {
				t.rewound = true
			} else {
				t.started = true // submitted anew at once, from what is there now
			}
		case 3:
			if w.unfit {
				t.rewound = true
			}
		}
		emit(who+"answer reaches the service", true, t)
		t = s
		t.sub[i] = wsub{}
		t.started = w.atStart
		emit(who+"answer is lost", false, t)
	}
}

func (w wconfig) lost(s wstate) bool { return s.kept != firstLife && !s.wSecond && s.wSize > s.kept }

func (w wconfig) bad(s wstate) (out []string) {
	if s.rewound && !w.lost(s) {
		out = append(out, property("W"))
	}
	return out
}

// open: a cosigned record is lost, and nothing says so yet. From every such state the
// submissions alone must lead to where it is said.
func (w wconfig) open(s wstate) bool { return w.lost(s) && !s.rewound }

func others(limit int) (out []experiment) {
	g := "H preconditions (12.5)"
	for _, x := range []struct {
		name string
		c    pconfig
	}{
		{"one run, as it is", pconfig{runs: 1, crashes: 1}},
		{"one run, proposed", pconfig{runs: 1, crashes: 1, recheck: true, stays: true}},
		{"one run, a lying proxy, answers signed, one key for both reads", pconfig{runs: 1, recheck: true, stays: true, proxy: true}},
		{"one run, a lying proxy, answers signed, a key of its own for each read", pconfig{runs: 1, recheck: true, stays: true, proxy: true, freshN: true}},
		{"two runs, as it is", pconfig{runs: 2}},
		{"two runs, proposed", pconfig{runs: 2, recheck: true, stays: true}},
	} {
		out = append(out, experiment{g, x.name, func() result { return explore(x.name, pstate{}, limit, x.c.next, x.c.bad, x.c.open) }})
	}
	g = "W witnesses (12.7)"
	for _, x := range []struct {
		name string
		c    wconfig
	}{
		{"one sender, as it is", wconfig{senders: 1}},
		{"one sender, as it is, but with a submission at each start", wconfig{senders: 1, atStart: true}},
		{"one sender, proposed", wconfig{1, true, true, true}},
		{"two senders, as it is", wconfig{senders: 2}},
		{"two senders, proposed but for reading the head again", wconfig{2, true, true, false}},
		{"two senders, proposed", wconfig{2, true, true, true}},
	} {
		out = append(out, experiment{g, x.name, func() result {
			return explore(x.name, wstate{kept: firstLife}, limit, x.c.next, x.c.bad, x.c.open)
		}})
	}
	return out
}
