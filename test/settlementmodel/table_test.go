package settlementmodel

import "fmt"

// settlements are the experiments about settlement. Each is run with the contract as it is and
// with the proposed rules.
func settlements(limit int) (out []experiment) {
	add := func(group string, cfg config) {
		if cfg.calls == 0 {
			cfg.calls = 1
		}
		if cfg.replicas == 0 {
			cfg.replicas = 1
		}
		cfg.lateCall = true
		out = append(out, experiment{group, cfg.name, settle(cfg, limit)})
	}
	both := func(group, name string, cfg config) {
		cfg.bindKey = true
		cfg.name = name + ", as it is"
		add(group, cfg)
		cfg.name, cfg.rules = name+", proposed", proposed()
		add(group, cfg)
		if cfg.mode != none && cfg.person != nobody {
			cfg.name, cfg.rules = name+", resending", resending()
			add(group, cfg)
		}
	}
	who := [...]string{"nobody", "truthful person", "any person"}
	g := "A one call: crashes of both sides, two replicas, cancel, late messages"
	for _, k := range []storeKind{sameTx, outside, memory, adapter} {
		for _, m := range []settleMode{none, propose, automatic} {
			for _, p := range []personKind{nobody, truthful, anything} {
				if m == none && p == nobody {
					continue
				}
				both(g, fmt.Sprintf("%s %s %s", k, m, who[p]),
					config{store: k, mode: m, person: p, crashes: 2, rcvCrashes: 2, replicas: 2, cancel: true})
			}
		}
	}
	g = "B one call: the receiver is restored from a backup, or its retention ends (AUTOMATIC)"
	for _, k := range []storeKind{sameTx, outside, adapter} {
		for _, p := range []personKind{nobody, truthful} {
			base := config{store: k, mode: automatic, person: p, crashes: 1, rcvCrashes: 1, replicas: 2}
			base.restores = 1
			both(g, k.String()+" restored, not declared, "+who[p], base)
			base.declared = true
			both(g, k.String()+" restored, declared to the kit, "+who[p], base)
			base.restores, base.forgets = 0, 1
			both(g, k.String()+" retention ends early, "+who[p], base)
		}
	}
	g = "C one call: a proxy that lies with captured signed answers"
	for _, k := range []storeKind{sameTx, outside} {
		for _, m := range []settleMode{none, automatic} {
			both(g, fmt.Sprintf("%s %s", k, m),
				config{store: k, mode: m, person: truthful, proxy: true, dups: 2, reuseN: true, rcvCrashes: 1})
		}
	}
	both(g, "outside AUTOMATIC, restored and declared", config{store: outside, mode: automatic, person: truthful, proxy: true, dups: 1, reuseN: true, restores: 1, declared: true})
	for _, m := range []settleMode{none, automatic} {
		both(g+" (here: an honest one that only repeats)", "outside "+m.String(), config{store: outside, mode: m, person: nobody, retry: true, dups: 1})
	}
	g = "T today's projects, without answerKey and settlement: only R6, and 409 in_progress/in_doubt uncertain at any attempt"
	for _, k := range []storeKind{sameTx, outside, adapter} {
		cfg := config{name: k.String(), store: k, person: truthful, crashes: 2, rcvCrashes: 2, replicas: 2, cancel: true, rules: rules{stays: true, finalOnly: true}}
		add(g, cfg)
		cfg.name, cfg.retry, cfg.dups, cfg.crashes = k.String()+", a proxy repeats", true, 1, 0
		add(g, cfg)
	}
	g = "D one call: no expectation (AUTOMATIC)"
	for _, k := range []storeKind{outside, adapter} {
		both(g, k.String(), config{store: k, mode: automatic, noExpect: true, plainKit: true, rcvCrashes: 1, crashes: 1})
	}
	g = "E two calls (AUTOMATIC, shared crashes)"
	for _, k := range []storeKind{sameTx, outside, adapter} {
		both(g, k.String(), config{calls: 2, store: k, mode: automatic, person: nobody, plainKit: true, crashes: 1, rcvCrashes: 1, replicas: 2})
	}
	both(g, "same-tx, truthful person", config{calls: 2, store: sameTx, mode: automatic, person: truthful, plainKit: true, crashes: 1})
	x := config{calls: 2, store: sameTx, mode: automatic, plainKit: true, proxy: true, rules: proposed()}
	x.name = "proxy, if the signature did not cover the key"
	add(g, x)
	x.name, x.bindKey = "proxy, the signature covers the key (12.6)", true
	add(g, x)

	g = "F kits that are wrong (proposed rules)"
	wrong := config{store: sameTx, mode: automatic, rcvCrashes: 1, rules: proposed(), bindKey: true}
	wrong.name, wrong.earlyAnswer = "WITHDRAWN answered before its commit", true
	add(g, wrong)
	wrong.name, wrong.earlyAnswer, wrong.lookThenWrite = "looks, then writes the mark (two statements)", false, true
	add(g, wrong)

	g = "G each proposed rule left out alone: what it is for (truthful person)"
	for i, n := range []string{"R1 reach", "R2 keep marks", "R3 unknown", "R4 judged", "R5 once", "R6 stays", "R7 sticky 4xx",
		"R8 sign kept answers only", "R9 fresh n", "R10 pause after a restore"} {
		for _, k := range []storeKind{sameTx, outside, memory, adapter} {
			for _, m := range []settleMode{none, propose, automatic} {
				cfg := config{store: k, mode: m, person: truthful, cancel: true, crashes: 1, rcvCrashes: 1, replicas: 2, bindKey: true, rules: proposed()}
				r := &cfg.rules
				*[]*bool{&r.reach, &r.keepMarks, &r.unknown, &r.judged, &r.once, &r.stays, &r.sticky, &r.finalOnly, &r.freshN, &r.pause}[i] = false
				switch i {
				case 0, 9:
					cfg.restores, cfg.declared = 1, true
				case 1:
					cfg.forgets = 1
				case 6, 7, 8:
					cfg.proxy, cfg.dups, cfg.reuseN, cfg.crashes, cfg.replicas = true, 1, true, 0, 1
				}
				if m == none && i != 5 && i != 6 && i != 7 {
					continue
				}
				cfg.name = fmt.Sprintf("without %s: %s %s", n, k, m)
				add(g, cfg)
			}
		}
	}
	return out
}
