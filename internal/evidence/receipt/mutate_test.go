package receipt

import (
	"bytes"
	"crypto/ed25519"
	"flag"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mutant is a receipt that must fail.
type mutant struct {
	file    []byte
	section string // "": any
	how     string
}

// mutate alters a good receipt somehow: as anybody can, or as only who has the key
// can.
func (d *drawn) mutate(file []byte, key ed25519.PrivateKey) mutant {
	if d.IntN(2) == 0 {
		return d.alter(file)
	}
	for {
		if m, ok := d.resign(file, key); ok {
			return m
		}
	}
}

// alter changes bytes and signs nothing.
func (d *drawn) alter(file []byte) mutant {
	at := d.IntN(len(file))
	out := slices.Clone(file)
	switch d.IntN(5) {
	case 0, 1:
		out[at] ^= 1 << d.IntN(8)
		return mutant{out, partAt(partsOf(file), at), "flipped a bit of byte " + strconv.Itoa(at)}
	case 2:
		b := pick(d, []byte("\"\\{}[],:0e- \n\x00\xff")...)
		if b == out[at] {
			b ^= 1
		}
		out[at] = b
		return mutant{out, partAt(partsOf(file), at), "overwrote byte " + strconv.Itoa(at)}
	case 3:
		return mutant{slices.Insert(out, at, byte(d.IntN(256))), "", "inserted at " + strconv.Itoa(at)}
	default:
		return mutant{slices.Delete(out, at, at+1), "", "deleted byte " + strconv.Itoa(at)}
	}
}

// lie is a change that a signer makes to a section before signing it.
type lie struct {
	section string // that the change is made to
	found   string // that must be named
	old     *regexp.Regexp
	made    string
}

// untold reports a lie that nothing in a masked receipt contradicts: the record that
// would is left out.
func (l lie) untold(sections map[string][]byte) bool {
	masked := bytes.Contains(sections[Statement], []byte(`"masked":true`))
	if masked && l.section == Plan && l.made == "" { // the plan's digest is that of what masking left out
		return true
	}
	return masked && l.found == Audit && (l.section != Audit || l.made == `"records":[]`)
}

func lies() []lie {
	re := regexp.MustCompile
	return []lie{
		{Run, Run, re(`"status":"(COMPLETED|FAILED|CANCELLED)","steps"`), `"status":"RUNNING","steps"`},
		{Run, Statement, re(`"id":"run-`), `"id":"other-`},
		{Run, Plan, re(`"planDigest":"..`), `"planDigest":"zz`},
		{Run, Audit, re(`"by":"token:t-1"`), `"by":"token:t-2"`},
		{Run, Audit, re(`"evidence":"`), `"evidence":"not `},
		{Run, Requests, re(`"requestDigest":"..`), `"requestDigest":"zz`},
		{Run, Run, re(`"mode":`), `"mode": `},                                          // a blank
		{Run, Run, re(`"attempt":0`), `"attempt":0.0`},                                 // a number in another spelling
		{Run, Run, re(`"mode":"`), `"mode":"\u0041`},                                   // an escape that isn't needed
		{Run, Run, re(`\{"cancelRequested"`), `{"zz":1,"cancelRequested"`},             // keys out of order
		{Run, Run, re(`"cancelRequested":`), `"cancelRequested":1,"cancelRequested":`}, // a key twice
		{Run, Run, re(`$`), `}`},
		{Run, Run, re(`"mode"`), "\"mod\xff\""},
		{Run, Run, re(`"input":\{`), `"input":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `,"inqut":{`},
		{Run, Run, re(`"cancelRequested":false`), `"cancelRequested":1e-0`},
		{Run, Run, re(`"cancelRequested":false`), `"cancelRequested":10e21`},
		{Run, Run, re(`"cancelRequested":false`), `"cancelRequested":1e5`},
		{Run, Run, re(`"cancelRequested":false`), `"cancelRequested":-0`},
		{Run, Run, re(`"cancelRequested":false`), `"cancelRequested":False`},
		{Statement, Statement, re(`"masked":(true|false)`), `"masked":"true"`},
		{Statement, Audit, re(`"tenantId":"acme"`), `"tenantId":"acme2"`},
		{Plan, Plan, re(`"id":"plan-1"`), `"id":"plan-2"`},
		{Plan, Plan, re(`"gate":3`), `"gate":4`},
		{Plan, Plan, re(`"gate":3,`), ``},
		{Approvals, Approvals, re(`"runId":"run`), `"runId":"ran`},
		{Approvals, Requests, re(`"requestDigest":"..`), `"requestDigest":"zz`},
		{Approvals, Audit, re(`user:mara@`), `user:ines@`},
		{Approvals, Audit, re(` it came back"`), ` it went well"`},
		{Requests, Requests, re(`"method":"POST"`), `"method":"PUT"`},
		{Requests, Requests, re(`"body":"`), `"body":" `},
		{Requests, Requests, re(`"projectRevision":3`), `"projectRevision":4`},
		{Audit, Audit, re(`"proof":\["`), `"proof":["` + strings.Repeat("0", 64) + `","`},
		{Audit, Audit, re(`"proof":\["[0-9a-f]`), `"proof":["F`},
		{Audit, Audit, re(`"root":"..`), `"root":"zz`},
		{Audit, Audit, re(`"signature":"..`), `"signature":"zz`},
		{Audit, Audit, re(`"size":`), `"size":1`},
		{Audit, Audit, re(`\{\\"seq\\":`), `{\"seq\":1`},
		{Audit, Audit, re(`runs\.start`), `runs.stert`},
		{Audit, Audit, re(`"leftOut":0`), `"leftOut":-1`},
		{Audit, Audit, re(`"records":\[.*\]`), `"records":[]`},
	}
}

// formatOf is the format that a receipt says that it is of.
func formatOf(file []byte) string {
	if bytes.HasPrefix(file, []byte(`{"contents":{"format":"`+Format2)) {
		return Format2
	}
	return Format
}

// resign applies a lie, and signs as if it were true.
func (d *drawn) resign(file []byte, key ed25519.PrivateKey) (m mutant, ok bool) {
	l := pick(d, lies()...)
	sections := sectionsOf(file)
	changed := l.old.ReplaceAllLiteral(sections[l.section], []byte(l.made))
	if bytes.Equal(changed, sections[l.section]) || l.untold(sections) {
		return m, false
	}
	sections[l.section] = changed
	return mutant{Seal(formatOf(file), sections, key), l.found, "signed a lie: " + l.section + " " + l.old.String() + " to " + l.made}, true
}

func sectionsOf(file []byte) map[string][]byte {
	whole, _, _ := open(file)
	out := map[string][]byte{}
	for i, name := range Sections {
		out[name] = slices.Clone(whole.sections[i])
	}
	return out
}

var first = flag.Uint64("receipts", 0, "the first of the seeds that receipts and mutants are drawn from; in -short 0 draws it")

// TestMutantsFailInTheSectionThatWasAltered: a thousand receipts that hold, and of
// each a mutant that doesn't; in -short some others each time.
func TestMutantsFailInTheSectionThatWasAltered(t *testing.T) {
	t.Parallel()
	from, n := *first, uint64(1000)
	if testing.Short() {
		n = 100
		if from == 0 {
			from = rand.Uint64N(1 << 40)
		}
		t.Logf("repeat with -receipts=%d", from)
	}
	pairs := corpus(t, from, n)
	if *written != "" {
		writeCorpus(t, pairs)
	}
	for _, c := range pairs {
		v := Verify(c.good, public(c.key))
		if !v.OK {
			t.Fatalf("%d: %s: %s\n%s", c.seed, v.Section, v.Problem, c.good)
		}
		v = Verify(c.bad.file, public(c.key))
		if v.OK || v.Section == "" || c.bad.section != "" && v.Section != c.bad.section {
			t.Fatalf("%d: %s: %q named, %q expected: %s", c.seed, c.bad.how, v.Section, c.bad.section, v.Problem)
		}
	}
}

type pair struct {
	seed uint64
	key  ed25519.PrivateKey
	good []byte
	bad  mutant
}

func corpus(t *testing.T, from, n uint64) []pair {
	t.Helper()
	out := make([]pair, n)
	for i := range n {
		seed := from + i
		d := &drawn{Rand: newRand(seed), t: t}
		p := &out[i]
		p.seed, p.key = seed, d.key()
		p.good = built(t, draw(t, seed), p.key)
		p.bad = d.mutate(p.good, p.key)
	}
	return out
}

// TestEveryLieIsToldAtLeastOnce: no change that a signer makes is one that never
// finds what it would change.
func TestEveryLieIsToldAtLeastOnce(t *testing.T) {
	var good [][]byte
	for seed := range uint64(100) {
		good = append(good, built(t, draw(t, seed), keyOf(1)))
	}
	for _, l := range lies() {
		told := false
		for i := 0; i < len(good) && !told; i++ {
			sections := sectionsOf(good[i])
			changed := l.old.ReplaceAllLiteral(sections[l.section], []byte(l.made))
			if told = !bytes.Equal(changed, sections[l.section]) && !l.untold(sections); !told {
				continue
			}
			sections[l.section] = changed
			if v := Verify(Seal(formatOf(good[i]), sections, keyOf(1)), nil); v.OK || v.Section != l.found {
				t.Errorf("%s %s to %s: %q named, %q expected: %s", l.section, l.old, l.made, v.Section, l.found, v.Problem)
			}
		}
		if !told {
			t.Errorf("%s %s is never there", l.section, l.old)
		}
	}
}
