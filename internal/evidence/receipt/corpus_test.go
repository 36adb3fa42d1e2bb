package receipt

import (
	"bufio"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/countersign/countersign/internal/evidence/signature"
)

// COUNTERSIGN_ALL writes every forgery; else one of forgeryShare is drawn anew each time.
var (
	written      = flag.String("write", "", "also write the receipts and mutants to this file, for the verifiers of the SDKs")
	forgeryShare = 8
)

// judged is a receipt with what this verifier says of it.
type judged struct {
	How     string  `json:"how"`
	Key     string  `json:"key"`
	File    []byte  `json:"file"`
	Verdict Verdict `json:"verdict"`
	asking

	AnswerKeys []string `json:"answerKeys,omitempty"` // that the reader knows
}

// writeCorpus writes a line each.
func writeCorpus(t *testing.T, pairs []pair) {
	t.Helper()
	f, err := os.Create(*written)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	judge := func(file []byte, key ed25519.PublicKey, how string) error {
		return e.Encode(judged{How: how, Key: KeyText(key), File: file, Verdict: Verify(file, key)})
	}
	knowing := func(how string, file []byte, known ...ed25519.PublicKey) {
		one := judged{How: how, Key: KeyText(public(keyOf(1))), File: file, Verdict: VerifyKnowing(file, public(keyOf(1)), Known{AnswerKeys: known})}
		for _, key := range known {
			one.AnswerKeys = append(one.AnswerKeys, signature.AnswerKeyText(key))
		}
		err = errors.Join(err, e.Encode(one))
	}
	answeredCorpus(t, knowing)
	stateCorpus(t, knowing)
	forged(t, func(u untruth, file []byte, known []ed25519.PublicKey) { knowing("untruth: "+u.name, file, known...) })
	for _, p := range pairs {
		err = errors.Join(err, judge(p.good, public(p.key), "as it was made"), judge(p.bad.file, public(p.key), p.bad.how))
	}
	misusedRuns(t, func(how string, file []byte) { err = errors.Join(err, judge(file, public(keyOf(1)), how)) })
	cosignedCases(t, func(how string, file []byte, asked asking) {
		err = errors.Join(err, e.Encode(judged{How: how, Key: KeyText(public(keyOf(1))), File: file, Verdict: VerifyKnowing(file, public(keyOf(1)), Known{Policy: asked.policy(t)}), asking: asked}))
	})
	if os.Getenv("COUNTERSIGN_ALL") != "" {
		forgeryShare = 1
	}
	n := rand.IntN(forgeryShare)
	for _, file := range unmaskedRuns(t) {
		forgedMembers(t, file, func(path, how string, seal func() []byte) {
			if n++; n%forgeryShare != 0 {
				return
			}
			err = errors.Join(err, judge(seal(), public(keyOf(1)), "signed another "+path+": "+how))
		})
	}
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
