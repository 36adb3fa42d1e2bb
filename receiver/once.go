package receiver

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// once runs next if this request gets the key. Otherwise it answers from the entry of the
// request that has the key.
func (rc *Receiver) once(w http.ResponseWriter, r *http.Request, next http.Handler, c Claim) {
	ctx := context.WithoutCancel(r.Context()) // a caller that disconnects must not interrupt the effect
	tx, err := rc.begin(ctx)
	if err != nil {
		rc.unavailable(w, c, err)
		return
	}
	defer tx.Rollback()
	rc.running.Store(c.By, c.Key) // before the claim: another request may see the claim at once
	defer rc.running.Delete(c.By)
	e, got, err := tx.Claim(ctx, c)
	if err == nil && !got && rc.hasEnded(e) {
		e, got, err = tx.Claim(ctx, c)
	}
	switch {
	case err != nil:
		rc.unavailable(w, c, err)
	case !got:
		tx.Rollback() // returns the connection before the answer is written: the caller may read slowly
		rc.repeat(w, e, c)
	default:
		rc.perform(w, r.WithContext(ctx), next, tx, c.Key)
	}
}

// begin begins a transaction if the Store is a Transactor. Any other Store makes each change
// at once.
func (rc *Receiver) begin(ctx context.Context) (Transaction, error) {
	if t, ok := rc.cfg.Store.(Transactor); ok {
		return t.Begin(ctx)
	}
	return withoutTransaction{rc.cfg.Store}, nil
}

// perform runs next and then frees the key, finishes it or leaves it in doubt, depending on
// the answer.
func (rc *Receiver) perform(w http.ResponseWriter, r *http.Request, next http.Handler, tx Transaction, key string) {
	d := &delivery{tx: tx.Tx()}
	ctx := withDelivery(r.Context(), d)
	ended := false
	defer func() { // a Release before a panic of next counts
		if !ended && d.released.Load() {
			rc.release(ctx, tx, key)
		}
	}()
	if err := rc.savepoint(ctx, tx); err != nil {
		rc.unavailable(w, Claim{Key: key}, err)
		return
	}
	rec := newRecorder()
	next.ServeHTTP(rec, r.WithContext(ctx))
	ended = true
	rc.settle(ctx, w, tx, key, rec, d.released.Load())
}

// settle frees or finishes the key, or leaves it in doubt, and answers the caller: the handler's
// answer, or an error if that could not be remembered. Only what is remembered is signed.
func (rc *Receiver) settle(ctx context.Context, w http.ResponseWriter, tx Transaction, key string, rec *recorder, released bool) {
	var err error
	fate := rc.fateOf(rec.status, released)
	switch {
	case fate == freed:
		rc.release(ctx, tx, key)
	case fate == kept && !rec.tooLarge:
		err = rc.keep(ctx, tx, key, rec)
	}
	if err != nil || rec.tooLarge {
		rc.cfg.Log.Error("an answer could not be remembered", "key", key, "larger than 1 MiB", rec.tooLarge, "error", err)
		problem{http.StatusInternalServerError, "not_remembered", "the answer could not be remembered, so it is not given: look up what happened under this key"}.write(w)
		return
	}
	if fate != kept {
		w = unsigned(w)
	}
	rec.write(w)
}

// effect names the savepoint before what the handler does in the transaction of its key.
const effect = "countersign_effect"

// savepoint marks where to go back to if the handler refuses: with an answer key its refusal is
// kept, and the effect isn't.
func (rc *Receiver) savepoint(ctx context.Context, tx Transaction) error {
	if rc.cfg.AnswerKey == nil || tx.Tx() == nil {
		return nil
	}
	_, err := tx.Tx().ExecContext(ctx, "SAVEPOINT "+effect)
	return err
}

// keep finishes the key, without the effect if the handler has refused.
func (rc *Receiver) keep(ctx context.Context, tx Transaction, key string, rec *recorder) error {
	if rec.status >= 400 && tx.Tx() != nil {
		if _, err := tx.Tx().ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+effect); err != nil {
			return err
		}
	}
	return tx.Finish(ctx, key, rec.answer())
}

// fate is what happens to a key after the handler has answered.
type fate int

const (
	doubtful fate = iota
	freed
	kept
)

// fateOf derives the fate of a key from the status of the answer; see Handler. With an answer
// key no refusal frees a key: a signed refusal and then an effect under the same key would be two
// words of one API that contradict each other.
func (rc *Receiver) fateOf(status int, released bool) fate {
	switch {
	case released:
		return freed
	case status >= 500, status == http.StatusRequestTimeout: // Countersign treats neither as a refusal
		return doubtful
	case status >= 400 && rc.cfg.AnswerKey == nil:
		return freed
	default:
		return kept
	}
}

// release frees the key. If that fails the key stays in doubt, which is safe: the handler
// does not run again.
func (rc *Receiver) release(ctx context.Context, tx Transaction, key string) {
	if err := tx.Release(ctx, key); err != nil {
		rc.cfg.Log.Error("a key could not be released", "key", key, "error", err)
	}
}

// repeat answers a request whose key another request has claimed.
func (rc *Receiver) repeat(w http.ResponseWriter, e Entry, c Claim) {
	switch {
	case e.State == Withdrawn:
		problem{http.StatusGone, "key_withdrawn", "this idempotency key was withdrawn before any call under it was seen: nothing was done, and nothing will be"}.write(w)
	case e.Payload != c.Payload:
		problem{http.StatusConflict, "idempotency_conflict", "this idempotency key came with another method, target or body"}.write(w)
	case e.State == Finished:
		e.Answer.replay(w)
	case rc.inProgress(e.Claim, c.At):
		w.Header().Set("Retry-After", "1")
		problem{http.StatusConflict, "in_progress", "another request under this idempotency key is at work; ask again for its answer"}.write(unsigned(w))
	default:
		problem{http.StatusConflict, "in_doubt", "an earlier request under this idempotency key never came to an end: nobody knows whether it had its effect, so it is not tried again. Look up what happened"}.write(unsigned(w))
	}
}

// hasEnded reports whether the claim was made by a request of this process that has ended
// since the store was read. The store has the outcome now, so the caller claims again.
func (rc *Receiver) hasEnded(e Entry) bool {
	if e.State != Claimed || !strings.HasPrefix(e.By, rc.instance+".") {
		return false
	}
	_, running := rc.running.Load(e.By)
	return !running
}

// inProgress reports whether the request that made a claim is still in progress. For requests of
// this process that is known. Another process may have died, so its requests count as in
// progress until Config.InProgress has passed.
func (rc *Receiver) inProgress(c Claim, now time.Time) bool {
	if strings.HasPrefix(c.By, rc.instance+".") {
		_, running := rc.running.Load(c.By)
		return running
	}
	return now.Sub(c.At) < rc.cfg.InProgress
}

func (rc *Receiver) unavailable(w http.ResponseWriter, c Claim, err error) {
	rc.cfg.Log.Error("the store of idempotency keys failed", "key", c.Key, "error", err)
	w.Header().Set("Retry-After", "1")
	problem{http.StatusServiceUnavailable, "unavailable", "the store of idempotency keys could not be asked; nothing was done"}.write(w)
}
