package notify

import (
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// address puts something into somebody's letter, unless there was one within a minute.
func (c *claiming) address(claim *claimed, email string, i item) error {
	l := c.letters[email]
	if l == nil {
		l = c.round.letters[email]
	}
	if l == nil {
		next, err := c.open(email)
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

// open notes that somebody is being mailed now, or gives the time from which that may
// be: a minute after the last mail was sent, wherever.
func (c *claiming) open(email string) (time.Time, error) {
	if next, known := c.mailed[email]; known {
		return next, nil
	}
	rec, version, err := mailedOf(c.tx, email)
	if err != nil {
		return time.Time{}, err
	}
	now := c.cfg.Now()
	if next := mayMail(rec, now); now.Before(next) {
		c.mailed[email] = next
		return next, nil
	}
	_, err = records.Mails.Put(c.tx, store.Realm, records.MailedID(email), &records.Mailed{At: now, Until: now.Add(sending)}, version)
	return time.Time{}, err
}

// mayMail is when an address may be mailed again. While another process is at it, that
// is looked up anew before long: it may end soon. A clock set back holds nobody up.
func mayMail(rec *records.Mailed, now time.Time) time.Time {
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
