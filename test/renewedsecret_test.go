package test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// renewed is a file with a secret, as the agent of a vault keeps it: a new one is renamed
// over it, so that it is there whole at any moment.
type renewed struct {
	t    *testing.T
	path string
}

func (r renewed) write(secret string) {
	r.t.Helper()
	next := r.path + ".next"
	if err := os.WriteFile(next, []byte(secret+"\n"), 0o600); err != nil {
		r.t.Error(err)
	}
	if err := os.Rename(next, r.path); err != nil {
		r.t.Error(err)
	}
}

// secretFrom is a world whose project's secret stands in such a file.
func secretFrom(t *testing.T, secrets ...string) (*world, renewed) {
	t.Helper()
	w := ownWorld(t)
	for _, secret := range secrets {
		w.Keep(secret)
	}
	file := renewed{t, filepath.Join(t.TempDir(), "secret")}
	file.write(secrets[0])
	w.Stop()
	w.Restart(harness.Env(harness.SecretEnv, ""), harness.Env(harness.SecretEnv+"_FILE", file.path))
	return w, file
}

// TestARunGoesOnWithTheSecretOfTheMoment: a call on its way isn't touched when its file
// changes, and the next step of the run, or one that waited for a person, has the new one.
func TestARunGoesOnWithTheSecretOfTheMoment(t *testing.T) {
	t.Parallel()
	secrets := []string{"vault-lease-one-0123456789abcdef", "vault-lease-two-0123456789abcdef", "vault-lease-three-0123456789abcd"}
	w, file := secretFrom(t, secrets...)
	gate := make(chan struct{})
	w.shop.On("POST", "/notes", harness.After(gate, harness.Answering(200, `{"ok":true}`)))
	run := w.run(t, step("first", "note", doc{"n": 1}), step("second", "note", doc{"n": 2}), step("third", "refund", doc{"orderId": "o"}))
	first := w.shop.Await(t, "POST", "/notes", 1)
	file.write(secrets[1])
	close(gate)
	id := w.approval(t, run).At("id").Text()
	file.write(secrets[2])
	w.approver.Post("/approvals/"+id+"/decision", doc{"decision": "APPROVED", "reason": "fine"}).OK(t)
	w.reaches(t, run, "COMPLETED")
	for i, sent := range []harness.Request{first, w.shop.Await(t, "POST", "/notes", 2), w.shop.Await(t, "POST", "/refunds", 1)} {
		if err := harness.CheckSignature(sent, secrets[i]); err != nil {
			t.Errorf("step %d isn't signed with secret %d: %v", i+1, i+1, err)
		}
	}
}

// TestNoCallFindsAFileHalfRenewed: while its file is renewed again and again, each call is
// signed with one of the secrets, whole, and none fails.
func TestNoCallFindsAFileHalfRenewed(t *testing.T) {
	t.Parallel()
	const calls = 25
	secrets := []string{"vault-lease-even-0123456789abcdef", "vault-lease-odd-0123456789abcdef-and-longer"}
	w, file := secretFrom(t, secrets...)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				file.write(secrets[i%2])
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for i := range calls {
		run := w.call(w.operator, doc{"capability": "note", "mode": "LIVE", "inputs": doc{"n": i}}).OK(t).At("id").Text()
		w.reaches(t, run, "COMPLETED")
	}
	for i := range calls {
		sent := w.shop.Await(t, "POST", "/notes", i+1)
		even, odd := harness.CheckSignature(sent, secrets[0]), harness.CheckSignature(sent, secrets[1])
		if even != nil && odd != nil {
			t.Errorf("call %d is signed with neither secret: %v", i+1, even)
		}
	}
}
