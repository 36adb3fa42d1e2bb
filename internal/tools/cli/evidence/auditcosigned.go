package evidence

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// uncosignedFor is how long a record may stand in a log and in no cosigned head: the service shows
// a log that grows to its witnesses each minute.
const uncosignedFor = 5 * time.Minute

// A head that a witness has just cosigned may have another's cosignature a moment later.
const (
	cosignedAgain = 10
	cosignedPause = time.Second
)

// checkCosigned asks the witnesses that were named for the log: that they have cosigned its newest
// cosigned head, that its records come to that, and that what came since is young. Without one it
// looks at the epoch alone.
func (v *AuditVerify) checkCosigned(t *terminal.Terminal, c *client.Client, now *countersign.AuditVerification, policy checkpoint.Policy) error {
	if policy.Asked() == 0 && now.Cosigned == nil {
		return nil
	}
	if now.Cosigned == nil {
		return fmt.Errorf("no witness has cosigned a head of this log")
	}
	log := ""
	if !v.Realm {
		session, err := c.Session(t.Context)
		if err != nil {
			return err
		}
		log = session.TenantID
	}
	judged, err := v.judged(t, c, now, policy, log)
	if err != nil || policy.Asked() == 0 {
		return err
	}
	if now.Records < judged.Head.Size {
		return fmt.Errorf("the log has %d records, and the head of %d was cosigned: it was cut off", now.Records, judged.Head.Size)
	}
	head, next, err := v.headThen(t, c, now, judged.Head.Size)
	if err != nil {
		return err
	}
	if want := hex.EncodeToString(judged.Head.Hash[:]); head != want {
		return fmt.Errorf("the first %d records have the head %s, and witnesses have cosigned %s: they were changed", judged.Head.Size, head, want)
	}
	if next != nil && time.Since(next.At) > uncosignedFor {
		return fmt.Errorf("record %d, of %s, is in no head that was cosigned, and the last cosigned one is of %s: the log was rewound, or the witnesses do not cosign it any more", next.Seq, words.Moment(next.At), words.Moment(latest(judged)))
	}
	if err := v.saidRewound(t, c, judged, policy); err != nil {
		return err
	}
	fmt.Fprintf(t.Errs, "the first %d records are those that %d of the %d witnesses have cosigned, last at %s\n", judged.Head.Size, len(judged.By), len(policy.Witnesses), words.Moment(latest(judged)))
	return nil
}

// saidRewound looks for the log's own word that one of the witnesses has cosigned more than it has,
// since that cosigned last: within the minutes in which nothing need be cosigned, nothing else shows it.
func (v *AuditVerify) saidRewound(t *terminal.Terminal, c *client.Client, judged checkpoint.Judged, policy checkpoint.Policy) error {
	for _, w := range policy.Witnesses {
		f := client.AuditFilter{Subject: "witness/" + w.Name(), Action: "audit.rewound", Realm: v.Realm, Paging: client.Paging{Limit: 1}}
		found, err := c.AuditRecords(t.Context, f)
		if err != nil {
			return err
		}
		if len(found.Items) > 0 && found.Items[0].At.After(latest(judged)) {
			return fmt.Errorf("record %d, of %s, says: %s", found.Items[0].Seq, words.Moment(found.Items[0].At), found.Items[0].Reason)
		}
	}
	return nil
}

// judged judges the newest cosigned head, and reads it again while cosignatures may be on their way.
func (v *AuditVerify) judged(t *terminal.Terminal, c *client.Client, now *countersign.AuditVerification, policy checkpoint.Policy, log string) (checkpoint.Judged, error) {
	newest := now.Cosigned
	judged, err := policy.Judge(newest.Checkpoint, log)
	for again := 0; err != nil && len(judged.By) < policy.Asked() && again < cosignedAgain && time.Since(cosignedLast(newest)) < uncosignedFor; again++ {
		select {
		case <-t.Context.Done():
			return judged, t.Context.Err()
		case <-time.After(cosignedPause):
		}
		var failed error
		if newest, failed = c.AuditCheckpoint(t.Context, v.Realm); failed != nil {
			return judged, failed
		}
		now.Records = max(now.Records, newest.Records) // the log may have grown meanwhile
		judged, err = policy.Judge(newest.Checkpoint, log)
	}
	return judged, err
}

func latest(j checkpoint.Judged) (at time.Time) {
	for _, by := range j.By {
		if by.At.After(at) {
			at = by.At
		}
	}
	return at
}

// cosignedLast is when the service says that a head was cosigned last.
func cosignedLast(c *countersign.AuditCheckpoint) (at time.Time) {
	for _, by := range c.Cosignatures {
		if by.At.After(at) {
			at = by.At
		}
	}
	return at
}

// cosignedHead says what the service says of its newest cosigned head.
func cosignedHead(c *countersign.AuditCheckpoint) string {
	return fmt.Sprintf("the head of %d records, by %d witnesses of the service's settings, last at %s", c.Records, len(c.Cosignatures), words.First(words.Moment(cosignedLast(c)), "no time"))
}
