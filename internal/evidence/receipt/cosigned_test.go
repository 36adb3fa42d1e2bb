package receipt

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
)

// cosigning is what is cosigned: with nothing set, the head that the log had, by both witnesses.
type cosigning struct {
	log       string              // its id
	suffix    string              // of the origin
	hash      func(*tlog.Hash)    // of the head
	by        []note.Signer       // nil: both
	at        int64               // seconds since 1970
	text      func(string) string // of the whole note
	extension string              // lines of the text
}

func witness(n byte, at int64) checkpoint.Cosigner {
	seed := sha256.Sum256([]byte{n})
	return checkpoint.NewCosigner(fmt.Sprintf("w%d.example/witness", n), seed[:], at)
}

// acmeLog stands for the tenant acme in the origin of its log.
const acmeLog = "822b33ad87c148a0"

var cosignedAt = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// cosignedHead is the head that a log of a size had with fewer records, and the path between them.
func cosignedHead(t testing.TB, read tlog.HashReader, had, size int64, c cosigning) *Cosigned {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if c.log == "" {
		c.log = "acme"
	}
	if c.at == 0 {
		c.at = cosignedAt.Unix()
	}
	sum := sha256.Sum256([]byte(c.log))
	origin := "countersign/inst-1/" + hex.EncodeToString(sum[:8]) + c.suffix
	root, err := tlog.TreeHash(had, read)
	must(err)
	if c.hash != nil {
		c.hash(&root)
	}
	signers := []note.Signer{checkpoint.NewSigner(origin, make([]byte, 32))}
	if c.by == nil {
		c.by = []note.Signer{witness(1, c.at), witness(2, c.at+1)}
	}
	data, err := note.Sign(&note.Note{Text: checkpoint.Head{Origin: origin, Size: had, Hash: root}.Text() + c.extension}, append(signers, c.by...)...)
	must(err)
	signed := string(data)
	if c.text != nil {
		signed = c.text(signed)
	}
	out := &Cosigned{Checkpoint: signed, Proof: []string{}}
	if had < size {
		proof, err := tlog.ProveTree(size, had, read)
		must(err)
		for _, h := range proof {
			out.Proof = append(out.Proof, hex.EncodeToString(h[:]))
		}
	}
	return out
}

// asking is what a reader asks of a cosigned head.
type asking struct {
	Witnesses []string `json:"witnesses,omitempty"`
	Quorum    int      `json:"quorum,omitempty"`
	Epoch     int64    `json:"epoch,omitempty"`
}

func (a asking) policy(t *testing.T) checkpoint.Policy {
	t.Helper()
	p, err := checkpoint.NewPolicy(a.Witnesses, a.Quorum, a.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func vkey(n byte) string { return witness(n, 0).Key.String() }

// cosignedCases are receipts of one run with all kinds of cosigned heads, each with what is asked.
func cosignedCases(t *testing.T, judge func(how string, file []byte, asked asking)) {
	t.Helper()
	f := draw(t, 0)
	for seed := uint64(1); f.Masked || strings.Contains(fmt.Sprint(f.Log.Records), "passkeys.create") || len(f.Run.Steps) == 0 || f.Log.Cosigned == nil || f.Log.Size == lastOf(f)+1; seed++ {
		f = draw(t, seed)
	}
	var leaves []tlog.Hash
	for i := range f.Log.Records { // a log of its own, whose hashes are all known
		r := &f.Log.Records[i]
		_, after, _ := strings.Cut(r.Text, ",")
		r.Text = fmt.Sprintf(`{"seq":%d,%s`, i, after)
		leaves = append(leaves, tlog.RecordHash([]byte(r.Text)))
	}
	records := int64(len(leaves))
	for i := range 9 {
		leaves = append(leaves, tlog.RecordHash(fmt.Append(nil, "another", i)))
	}
	read := relog(&f, leaves)
	size := f.Log.Size
	both := asking{Witnesses: []string{vkey(1), vkey(2)}}
	for _, a := range []asking{{}, both, {Witnesses: both.Witnesses, Quorum: 1}, {Witnesses: both.Witnesses, Epoch: 2}, {Witnesses: []string{vkey(3)}}, {Witnesses: []string{vkey(3), vkey(1)}, Quorum: 1}} {
		f.Log.Cosigned = nil
		judge("no head is cosigned", built(t, f, keyOf(1)), a)
		for _, had := range []int64{records - 1, records, records + 1, size - 1, size} {
			f.Log.Cosigned = cosignedHead(t, read, had, size, cosigning{})
			judge(fmt.Sprintf("%d of %d are cosigned", had, size), built(t, f, keyOf(1)), a)
		}
		for how, c := range miscosigned() {
			f.Log.Cosigned = cosignedHead(t, read, records+1, size, c)
			judge(how, built(t, f, keyOf(1)), a)
		}
		for how, change := range map[string]func(*Cosigned){
			"no path":            func(c *Cosigned) { c.Proof = []string{} },
			"a longer path":      func(c *Cosigned) { c.Proof = append(c.Proof, c.Proof[0]) },
			"another path":       func(c *Cosigned) { c.Proof[0] = strings.Repeat("0", 64) },
			"a path in capitals": func(c *Cosigned) { c.Proof[0] = strings.ToUpper(c.Proof[0]) },
			"no checkpoint":      func(c *Cosigned) { c.Checkpoint = "" },
		} {
			f.Log.Cosigned = cosignedHead(t, read, records+1, size, cosigning{})
			change(f.Log.Cosigned)
			judge(how, built(t, f, keyOf(1)), a)
		}
		f.Log.Cosigned = cosignedHead(t, read, size, size, cosigning{})
		f.Log.Cosigned.Proof = []string{strings.Repeat("0", 64)}
		judge("a path where there is no way", built(t, f, keyOf(1)), a)
		f.Log.Cosigned = cosignedHead(t, read, records+1, size, cosigning{})
		judge("a cosigned head in the first format", reformatted(t, built(t, f, keyOf(1)), Format), a)
	}
}

func lastOf(f Facts) int64 { return seqOf(f.Log.Records[len(f.Log.Records)-1].Text) }

// reformatted is a receipt signed anew as one of another format.
func reformatted(t *testing.T, file []byte, format string) []byte {
	t.Helper()
	return Seal(format, sectionsOf(file), keyOf(1))
}

// miscosigned are notes that aren't what both witnesses sign of the head.
func miscosigned() map[string]cosigning {
	replace := func(old, with string) cosigning {
		return cosigning{text: func(s string) string { return strings.Replace(s, old, with, 1) }}
	}
	line := func(change func(lines []string) []string) cosigning {
		return cosigning{text: func(s string) string { return strings.Join(change(strings.SplitAfter(s, "\n")), "") }}
	}
	out := map[string]cosigning{
		"by one alone":             {by: []note.Signer{witness(2, 7)}},
		"by none":                  {by: []note.Signer{}},
		"by another":               {by: []note.Signer{witness(3, 7)}},
		"by three":                 {by: []note.Signer{witness(3, 7), witness(2, 8), witness(1, 9)}},
		"at the beginning of time": {by: []note.Signer{witness(1, 0), witness(2, 1)}},
		"late":                     {at: 253402300798},
		"too late":                 {at: 253402300800},
		"much too late":            {at: 1 << 62},
		"of another log":           {log: "acme2"},
		"of the realm's log":       {log: " "},
		"of another hash":          {hash: func(h *tlog.Hash) { h[0] ^= 1 }},
		"of another product":       replace("countersign/", "countersigned/"),
		"of no epoch":              replace("\n", "/0\n"),
		"of an epoch in words":     replace("\n", "/two\n"),
		"with an extension":        {extension: "an extension\n"},
		"with nothing below":       {text: func(s string) string { return s[:strings.Index(s, "\n\n")+2] }},
		"without its end":          {text: func(s string) string { return s[:len(s)-1] }},
		"with more below":          {text: func(s string) string { return s + "more\n" }},
		"with an empty line below": {text: func(s string) string { return s + "\n" }},
		"with a tab":               replace("— w1", "— \tw1"),
		"with a carriage return":   replace("\n\n", "\r\n\n"),
		"by a hyphen":              replace("— w1", "- w1"),
		"with two spaces":          replace("— w1.example/witness ", "— w1.example/witness  "),
		"with a plus":              replace("— w1", "— w+1"),
		"with a wide space":        replace("— w1", "— w\u30001"),
		"with the next line":       replace("— w1", "— w\u00851"),
		"with a mark":              replace("— w1", "— \ufeffw1"),
		"of an unknown name":       replace("— w1", "— w9"),
		"of a long name":           replace("— countersign", "— "+strings.Repeat("x", 70<<10)),
		"twice":                    line(func(l []string) []string { return append(l, l[len(l)-2]) }),
		"a hundred times":          line(func(l []string) []string { return append(l[:5], append(repeated(l[5], 98), l[6])...) }),
		"too often":                line(func(l []string) []string { return append(l[:5], append(repeated(l[5], 100), l[6])...) }),
		"first badly, then well": line(func(l []string) []string {
			bad := resigned(l[5], func(b []byte) []byte { b[20] ^= 1; return b })
			return append([]string{l[0], l[1], l[2], l[3], l[4], bad}, l[5:]...)
		}),
		"for another time": line(func(l []string) []string {
			l[5] = resigned(l[5], func(b []byte) []byte { b[11] ^= 1; return b })
			return l
		}),
		"by another hash of key": line(func(l []string) []string {
			l[5] = resigned(l[5], func(b []byte) []byte { b[0] ^= 1; return b })
			return l
		}),
		"too short": line(func(l []string) []string { l[5] = resigned(l[5], func(b []byte) []byte { return b[:75] }); return l }),
		"too long": line(func(l []string) []string {
			l[5] = resigned(l[5], func(b []byte) []byte { return append(b, 0) })
			return l
		}),
		"a hash alone":         line(func(l []string) []string { l[5] = resigned(l[5], func(b []byte) []byte { return b[:4] }); return l }),
		"without padding":      {text: func(s string) string { return strings.Replace(s, "=\n— w2", "\n— w2", 1) }},
		"another size":         line(func(l []string) []string { l[1] = "1\n"; return l }),
		"size with a zero":     line(func(l []string) []string { l[1] = "0" + l[1]; return l }),
		"a size too large":     line(func(l []string) []string { l[1] = "99999999999999999999\n"; return l }),
		"a hash too short":     line(func(l []string) []string { l[2] = "AAAA\n"; return l }),
		"without a hash":       line(func(l []string) []string { l[2] = ""; return l }),
		"a hash unpadded":      line(func(l []string) []string { l[2] = strings.Replace(l[2], "=", "", 1); return l }),
		"an empty line within": line(func(l []string) []string { l[2] += "\nx\n"; return l }),
	}
	for _, epoch := range []string{"/1", "/2", "/02", "/999999999", "/1000000000", "/-1"} {
		out["of epoch "+epoch] = cosigning{suffix: epoch}
	}
	return out
}

// resigned is a line with other bytes behind the name.
func resigned(line string, change func([]byte) []byte) string {
	at := strings.LastIndex(line, " ") + 1
	data, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(line[at:], "\n"))
	if err != nil {
		panic(err)
	}
	return line[:at] + base64.StdEncoding.EncodeToString(change(data)) + "\n"
}

func repeated(line string, n int) (out []string) {
	for range n {
		out = append(out, line)
	}
	return out
}

// TestACosignedHeadCounts: for whom, and in what, and which epoch.
func TestACosignedHeadCounts(t *testing.T) {
	wrong := map[string]bool{
		"at the beginning of time": false, "late": false, "with an extension": false, "by three": false, "twice": false, "a hundred times": false, "first badly, then well": false,
		"of an unknown name": true, "by one alone": true,
	}
	seen := 0
	cosignedCases(t, func(how string, file []byte, asked asking) {
		v := VerifyKnowing(file, public(keyOf(1)), Known{Policy: asked.policy(t)})
		if len(asked.Witnesses) != 2 || asked.Quorum != 0 || asked.Epoch != 0 {
			return
		}
		seen++
		refused, listed := wrong[how]
		want := listed && !refused || strings.HasSuffix(how, "are cosigned") && !strings.HasPrefix(how, fmt.Sprint(lastOfFile(file))+" ")
		if v.OK != want {
			t.Errorf("%s: %+v", how, v)
		}
		if v.OK && (v.Cosigned == nil || len(v.Cosigned.By) != 2 || !strings.HasPrefix(v.Summary, "of the first epoch of its log: valid")) {
			t.Errorf("%s: %+v %+v", how, v, v.Cosigned)
		}
	})
	if seen < 50 {
		t.Errorf("%d cases", seen)
	}
}

func lastOfFile(file []byte) int64 {
	records := parse(sectionsOf(file)[Audit]).at("records").list()
	return seqOf(records[len(records)-1].at("text").text())
}

// TestWhatAWitnessDoesNotCosignDoesNotCount for a quorum.
func TestWhatAWitnessDoesNotCosignDoesNotCount(t *testing.T) {
	want := map[string]string{
		"no head is cosigned":                 notCosigned,
		"by one alone":                        "1 of the 2 witnesses that were given have cosigned the head of",
		"by none":                             "0 of the 2 witnesses that were given have cosigned the head of",
		"of epoch /2":                         "is of epoch 2 of its log, countersign/inst-1/" + acmeLog + "/2, and that epoch was not named",
		"of another log":                      "the cosigned head is of another log: countersign/inst-1/",
		"no path":                             "is not proven to be on the way to the receipt's own",
		"with more below":                     checkpoint.ErrCheckpoint.Error(),
		"a cosigned head in the first format": "this format has no cosigned head",
	}
	cosignedCases(t, func(how string, file []byte, asked asking) {
		v := VerifyKnowing(file, public(keyOf(1)), Known{Policy: asked.policy(t)})
		if text := want[how]; text != "" && len(asked.Witnesses) == 2 && asked.Quorum == 0 && asked.Epoch == 0 && (v.Section != Audit || !strings.Contains(v.Problem, text)) {
			t.Errorf("%s: %+v", how, v)
		}
		named := how == "of epoch /2" && asked.Epoch == 2
		if named && (!v.OK || v.Cosigned.Epoch != 2 || !strings.HasPrefix(v.Summary, "of epoch 2 of its log: valid")) {
			t.Errorf("%s, named: %+v", how, v)
		}
		if how == "by one alone" && asked.Quorum == 1 && len(asked.Witnesses) == 2 && asked.Witnesses[0] == vkey(1) && (!v.OK || len(v.Cosigned.By) != 1) {
			t.Errorf("%s, of which one is asked for: %+v", how, v)
		}
	})
}

// TestWhoAsksWitnessesNamesThem in one spelling, each once, and a quorum that can be had.
func TestWhoAsksWitnessesNamesThem(t *testing.T) {
	renamed := checkpoint.WitnessKey("elsewhere.example", witness(1, 0).PublicKey())
	for want, a := range map[string]asking{
		"a quorum must be between 1 and the number of witnesses": {Witnesses: []string{vkey(1)}, Quorum: 2},
		"it is no vkey of an Ed25519 key":                        {Witnesses: []string{"w"}},
		"the same key stands twice: one witness counts once":     {Witnesses: []string{vkey(1), renamed.String()}},
		"an epoch is no less than 0":                             {Epoch: -1},
		"it is no vkey of a witness":                             {Witnesses: []string{checkpoint.NewSigner("w", make([]byte, 32)).Key.String()}},
	} {
		if _, err := checkpoint.NewPolicy(a.Witnesses, a.Quorum, a.Epoch); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
