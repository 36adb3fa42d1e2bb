package notify

import (
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// address adds an item to the letter of an address. If the address was mailed within the
// last minute, it sets when the notice is due again instead.
func (c *claiming) address(claim *claimed, email string, i item) error {
	l := c.letters[email]
	if l == nil {
		l = c.round.letters[email]
	}
	if l == nil {
		next, err := c.reserve(email)
		if err != nil {
			return err
		}
		if !next.IsZero() {
			if claim.later.IsZero() || next.Before(claim.later) {
				claim.later = next
			}
			return nil
		}
		l = &letter{to: email}
		c.letters[email] = l
	}
	l.add(i)
	claim.to = append(claim.to, email)
	return nil
}

// reserve records that this process is mailing an address now and returns the zero time. If the
// address was mailed within the last minute, by any process and for any tenant, it returns
// when it may be mailed again.
func (c *claiming) reserve(email string) (time.Time, error) {
	if next, known := c.mailed[email]; known {
		return next, nil
	}
	rec, version, err := mailedOf(c.tx, email)
	if err != nil {
		return time.Time{}, err
	}
	now := c.cfg.Now()
	if next := nextMailAt(rec, now); now.Before(next) {
		c.mailed[email] = next
		return next, nil
	}
	_, err = records.Mails.Put(c.tx, store.Realm, records.MailedID(email), &records.Mailed{At: now, Until: now.Add(claimFor)}, version)
	return time.Time{}, err
}

// nextMailAt is when an address may be mailed again. While another process is sending to it,
// that is at most a minute from now, since the process may finish any time. A clock that was
// set back delays nothing: a mail sent in the future is ignored.
func nextMailAt(rec *records.Mailed, now time.Time) time.Time {
	switch {
	case now.Before(rec.At):
		return now
	case now.Before(rec.Until):
		return earlier(rec.Until, now.Add(mailEvery))
	}
	return rec.At.Add(mailEvery)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
