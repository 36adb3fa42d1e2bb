package cli

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/tools/cli/evidence"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	cosigner "github.com/countersign/countersign/internal/tools/witness"
)

// operator has the disk and the keys of an installation, and shows its log to honest witnesses.
type operator struct {
	t         *testing.T
	key       records.LogKey
	now       time.Time
	witnesses []*cosigner.Witness
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{t: t, key: records.LogKey{Installation: "inst-1", Seed: bytes.Repeat([]byte{9}, ed25519.SeedSize)}, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	next := o.epoch(1)
	for i := range 2 {
		w, err := cosigner.Open(t.TempDir(), fmt.Sprintf("w%d.example", i), []checkpoint.Key{o.signer("acme").Key, o.signer("beta").Key, next.signer("acme").Key}, func() time.Time { return o.now })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Close() })
		o.witnesses = append(o.witnesses, w)
	}
	next.witnesses = o.witnesses
	return o
}

// epoch is the operator in a later epoch of the logs.
func (o *operator) epoch(n int) *operator {
	next := *o
	next.key.Epoch, next.key.Seed = n, bytes.Repeat([]byte{byte(9 + n)}, ed25519.SeedSize)
	return &next
}

func (o *operator) signer(log string) checkpoint.Signer {
	return checkpoint.NewSigner(o.key.Origin(log), o.key.Seed)
}

// toldLog is a log: each record is a minute after the one before.
type toldLog struct {
	docs   [][]byte
	leaves map[int64]tlog.Hash
}

// tells makes a log of so many records, the first of which are of one story and the others of
// another.
func (o *operator) tells(same, others int, story string) (l toldLog) {
	o.t.Helper()
	l.leaves = map[int64]tlog.Hash{}
	for i := range same + others {
		r := countersign.AuditRecord{Seq: int64(i), At: time.Date(2026, 3, 1, 0, i, 0, 0, time.UTC), Actor: "user:a", Action: "x", Subject: "run/1", Outcome: countersign.AuditDone}
		if i >= same {
			r.Reason = story
		}
		leaf, doc, err := merkle.Seal(&r)
		if err != nil {
			o.t.Fatal(err)
		}
		l.docs, l.leaves[int64(i)] = append(l.docs, doc), leaf
	}
	return l
}

func (l toldLog) size() int64 { return int64(len(l.docs)) }

func (l toldLog) hash(size int64) tlog.Hash { return evidence.TreeHash(l.leaves, 0, size) }

// shows has the witnesses cosign the head of a log, from what they have cosigned last.
func (o *operator) shows(log string, l toldLog, from int64) string {
	o.t.Helper()
	h := checkpoint.Head{Origin: o.key.Origin(log), Size: l.size(), Hash: l.hash(l.size())}
	signed, err := checkpoint.Sign(h, o.signer(log))
	if err != nil {
		o.t.Fatal(err)
	}
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(at []int64) (out []tlog.Hash, err error) {
		for _, i := range at {
			out = append(out, stored[i])
		}
		return out, nil
	})
	for i := range l.size() {
		more, err := tlog.StoredHashesForRecordHash(i, l.leaves[i], read)
		if err != nil {
			o.t.Fatal(err)
		}
		stored = append(stored, more...)
	}
	var proof []tlog.Hash
	if from > 0 && from < l.size() {
		if proof, err = tlog.ProveTree(l.size(), from, read); err != nil {
			o.t.Fatal(err)
		}
	}
	text := checkpoint.Submission{Old: from, Proof: proof, Checkpoint: signed}.Text()
	for _, w := range o.witnesses {
		key, err := checkpoint.ParseWitnessKey(w.VKey())
		if err != nil {
			o.t.Fatal(err)
		}
		if line, err := w.Cosign(text); err == nil {
			if signed, err = checkpoint.Joined(signed, line, key); err != nil {
				o.t.Fatal(err)
			}
		}
	}
	return signed
}

// exports writes the log, with a cosigned head.
func (o *operator) exports(l toldLog, signed string) string {
	o.t.Helper()
	end := countersign.AuditExportEnd{Export: &countersign.AuditExport{TenantID: "acme", At: o.now, Records: l.size(), Size: l.size()}}
	root := l.hash(l.size())
	end.Export.Head = fmt.Sprintf("%x", root[:])
	if signed != "" {
		end.Export.Cosigned = &countersign.AuditCheckpoint{Checkpoint: signed, Origin: o.key.Origin("acme"), Epoch: int64(o.key.Epoch)}
	}
	last, err := json.Marshal(end)
	if err != nil {
		o.t.Fatal(err)
	}
	file := filepath.Join(o.t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(file, append(bytes.Join(l.docs, []byte("\n")), append([]byte("\n"), last...)...), 0o600); err != nil {
		o.t.Fatal(err)
	}
	return file
}

func (o *operator) asking(more ...string) []string {
	out := []string{}
	for _, w := range o.witnesses {
		out = append(out, "--witness", w.VKey())
	}
	return append(out, more...)
}

// TestAnOperatorWithDiskAndKeyIsSeenByWhoAsksWitnesses: who rewinds, cuts, forks or rebuilds a log
// that honest witnesses have cosigned, in whatever way the log and its heads are then shown.
func TestAnOperatorWithDiskAndKeyIsSeenByWhoAsksWitnesses(t *testing.T) {
	o := newOperator(t)
	early := o.tells(20, 0, "")
	first := o.shows("acme", early, 0)
	o.now = o.now.Add(40 * time.Minute)
	whole := o.tells(40, 0, "")
	second := o.shows("acme", whole, 20)

	verify := func(file string, more ...string) ended {
		t.Helper()
		return command(t, append(append([]string{"audit", "verify", file}, o.asking()...), more...)...)
	}
	if got := verify(o.exports(whole, second)); got.status != 0 || !strings.HasPrefix(got.out, "epoch         the first, of countersign/inst-1/") {
		t.Fatalf("an honest log: %+v", got)
	}
	o.now = o.now.Add(4 * time.Minute)
	if got := verify(o.exports(o.tells(43, 0, ""), second)); got.status != 0 {
		t.Errorf("an honest log that has grown: %+v", got)
	}
	o.now = o.now.Add(time.Hour)
	forked := o.tells(25, 30, "another story")
	rebuilt := o.tells(0, 45, "another story")
	other := o.shows("beta", rebuilt, 0) // the witnesses cosign it, as the log of another tenant
	later := o.epoch(1)
	next := later.shows("acme", rebuilt, 0) // and as a log of a new epoch
	for what, c := range map[string]struct {
		log    toldLog
		signed string
		want   string
	}{
		"rewound, with the head of then":       {early, second, "the log has 20 records, and the head of 40 was cosigned: it was cut off"},
		"rewound, gone on, with an early head": {o.tells(20, 30, "another story"), first, "record 20, of 2026-03-01 00:20:00, is in no head that was cosigned, and the last cosigned one is of 2026-03-01 00:00:00"},
		"cut":                                  {o.tells(39, 0, ""), second, "the log has 39 records, and the head of 40 was cosigned: it was cut off"},
		"forked, with the head of then":        {forked, second, "the first 40 records have the head"},
		"forked, with a head of its own":       {forked, o.shows("acme", forked, 40), "0 of the 2 witnesses that were given have cosigned the head of 55 records, and 2 were asked for"},
		"forked, with an early head":           {forked, first, "record 20, of 2026-03-01 00:20:00, is in no head that was cosigned"},
		"rebuilt":                              {rebuilt, second, "the first 40 records have the head"},
		"rebuilt, as another tenant's":         {rebuilt, other, "the cosigned head is of another log"},
		"rebuilt, as of a new epoch":           {rebuilt, next, "is of epoch 1 of its log"},
		"without a head":                       {whole, "", "no witness has cosigned a head of this log"},
	} {
		if got := verify(o.exports(c.log, c.signed)); got.status != terminal.ExitFailed || !strings.Contains(got.out, c.want) {
			t.Errorf("%s: exit status %d\n%s%s", what, got.status, got.out, got.errs)
		}
	}
	o.now = o.now.Add(-time.Hour)
	if got := verify(later.exports(rebuilt, next), "--epoch", "1"); got.status != 0 || !strings.HasPrefix(got.out, "epoch         1, of countersign/inst-1/") || !strings.Contains(got.out, "another log than the first") {
		t.Errorf("an epoch that is named: %+v", got)
	}
	if got := verify(later.exports(rebuilt, next), "--epoch", "2"); got.status != terminal.ExitFailed {
		t.Errorf("another epoch than is named: %+v", got)
	}
}

// TestTheServicesOwnLogIsHeldAgainstItsWitnesses: its records are read, and what it says of itself
// counts for nothing.
func TestTheServicesOwnLogIsHeldAgainstItsWitnesses(t *testing.T) {
	t.Setenv(terminal.EnvToken, "a-token-for-a-test")
	o := newOperator(t)
	o.now = time.Now()
	whole := o.tells(40, 0, "")
	signed := o.shows("acme", whole, 0)
	other := o.tells(39, 1, "x")
	root, otherRoot := whole.hash(40), other.hash(40)
	for what, c := range map[string]struct {
		log             toldLog
		signed, rewound string
		want            string
	}{
		"":          {whole, signed, "other.example", "the first 40 records are those that 2 of the 2 witnesses have cosigned"},
		"said so":   {whole, signed, "w1.example", "says: the log is not what it has cosigned"},
		"forked":    {other, signed, "", fmt.Sprintf("the first 40 records have the head %x, and witnesses have cosigned %x: they were changed", otherRoot[:], root[:])},
		"cut":       {o.tells(39, 0, ""), signed, "", "the log has 39 records, and the head of 40 was cosigned: it was cut off"},
		"gone on":   {o.tells(45, 0, "x"), signed, "", "record 40, of 2026-03-01 00:40:00, is in no head that was cosigned"},
		"unsigned":  {whole, signed[:strings.Index(signed, "— w0")], "", "0 of the 2 witnesses that were given"},
		"no head":   {whole, "", "", "no witness has cosigned a head of this log"},
		"other log": {whole, o.shows("beta", whole, 0), "", "the cosigned head is of another log"},
	} {
		service := httptest.NewServer(served(c.log, c.signed, c.rewound))
		got := command(t, append([]string{"audit", "verify", "--url", service.URL}, o.asking()...)...)
		service.Close()
		if failed := got.status == terminal.ExitFailed; failed != (what != "") || !strings.Contains(got.errs, c.want) {
			t.Errorf("%s: exit status %d\n%s%s", what, got.status, got.out, got.errs)
		}
	}
}

// served is a service that says that its log is intact.
func served(l toldLog, signed, rewound string) http.Handler {
	root := l.hash(l.size())
	v := countersign.AuditVerification{Intact: true, Records: l.size(), Head: fmt.Sprintf("%x", root[:])}
	if signed != "" {
		v.Cosigned = &countersign.AuditCheckpoint{Checkpoint: signed}
	}
	mux := http.NewServeMux()
	say := func(path string, answer func(r *http.Request) any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer(r))
		})
	}
	say("/audit/verify", func(*http.Request) any { return v })
	say("/audit/checkpoint", func(*http.Request) any { return v.Cosigned })
	say("/session", func(*http.Request) any { return countersign.Session{TenantID: "acme"} })
	say("/audit", func(r *http.Request) any {
		if name, is := strings.CutPrefix(r.URL.Query().Get("subject"), "witness/"); is {
			p := countersign.Page[countersign.AuditRecord]{Items: []countersign.AuditRecord{}}
			if name == rewound {
				p.Items = []countersign.AuditRecord{{Seq: 40, At: time.Now().Add(time.Minute), Reason: "the log is not what it has cosigned"}}
			}
			return p
		}
		var p countersign.Page[json.RawMessage]
		var offset int
		_, _ = fmt.Sscan(r.URL.Query().Get("offset"), &offset)
		for i := len(l.docs) - 1 - offset; i >= 0; i-- {
			p.Items = append(p.Items, l.docs[i])
		}
		p.Total = len(l.docs)
		return p
	})
	return http.StripPrefix(client.PrefixAlias, mux)
}

// TestWhoVerifiesNamesWitnessesThatAreSome.
func TestWhoVerifiesNamesWitnessesThatAreSome(t *testing.T) {
	o := newOperator(t)
	vkey := o.witnesses[0].VKey()
	for want, args := range map[string][]string{
		"--quorum must be between 1 and the number of --witness, which is 0": {"--quorum", "1"},
		"--quorum must be between 1 and the number of --witness, which is 1": {"--quorum", "2", "--witness", vkey},
		"the same key stands twice: one witness counts once":                 {"--witness", vkey, "--witness", vkey},
		"it is no vkey of an Ed25519 key: NAME+8 digits of hex+base64":       {"--witness", "w"},
		"an epoch is no less than 0":                                         {"--epoch=-1"},
	} {
		for _, of := range [][]string{{"audit", "verify", "-"}, {"receipt", "verify", "-"}} {
			if got := command(t, append(of, args...)...); got.status != terminal.ExitUnusable || !strings.Contains(got.errs, want) {
				t.Errorf("%v: %+v", args, got)
			}
		}
	}
}

// TestAReceiptIsWaitedForUntilItIsCosigned, for two minutes.
func TestAReceiptIsWaitedForUntilItIsCosigned(t *testing.T) {
	for after, want := range map[int]time.Duration{0: 0, 3: 15 * time.Second, 24: 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			asked, began := 0, time.Now()
			text, err := evidence.Cosigned(func(context.Context) ([]byte, error) {
				if asked++; asked > after {
					return []byte(`{"sections":{"audit":{"cosigned":{}}}}`), nil
				}
				return []byte(`{"sections":{"audit":{}}}`), nil
			})(t.Context())
			if err != nil || len(text) == 0 || time.Since(began) != want {
				t.Errorf("after %d: %s, %v after %s", after, text, err, time.Since(began))
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		_, err := evidence.Cosigned(func(context.Context) ([]byte, error) { return []byte("{}"), nil })(t.Context())
		const want = "no witness has cosigned a head of the audit log that contains the receipt within 2 minutes: nothing was kept; look at SVC_PLATFORM_WITNESSES and at 'countersign health', or get the receipt without --cosigned"
		if err == nil || err.Error() != want {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := evidence.Cosigned(func(context.Context) ([]byte, error) { return []byte("{}"), nil })(ctx); err == nil {
			t.Error("who breaks off waits")
		}
	})
}
