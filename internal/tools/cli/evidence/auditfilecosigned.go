package evidence

import (
	"encoding/hex"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// note keeps what a cosigned head is compared with.
func (c *fileCheck) note(r countersign.AuditRecord, leaf tlog.Hash) {
	if c.leaves == nil {
		c.leaves = map[int64]tlog.Hash{}
	}
	c.leaves[c.lines] = leaf
	c.times = append(c.times, r.At)
}

// cosigned compares a whole export, which is intact, with the cosigned head that its last line has.
// Age is as of the export.
func (c *fileCheck) cosigned(end countersign.AuditExport, policy checkpoint.Policy) (problem string) {
	switch {
	case end.Cosigned == nil && policy.Asked() == 0:
		return ""
	case end.Cosigned == nil:
		return "no witness has cosigned a head of this log"
	}
	judged, err := policy.Judge(end.Cosigned.Checkpoint, end.TenantID)
	size := judged.Head.Size
	switch {
	case err != nil:
		return err.Error()
	case policy.Asked() == 0:
		return ""
	case size < 1 || size > end.Size:
		return fmt.Sprintf("the log has %d records, and the head of %d was cosigned: it was cut off", end.Size, size)
	}
	root := TreeHash(c.leaves, 0, size)
	switch {
	case root != judged.Head.Hash:
		return fmt.Sprintf("the first %d records have the head %s, and witnesses have cosigned %s: they were changed", size, hex.EncodeToString(root[:]), hex.EncodeToString(judged.Head.Hash[:]))
	case size < end.Size && end.At.Sub(c.times[size]) > uncosignedFor:
		return fmt.Sprintf("record %d, of %s, is in no head that was cosigned, and the last cosigned one is of %s: the log was rewound, or the witnesses do not cosign it any more", size, c.times[size].UTC().Format(time.DateTime), words.Moment(latest(judged)))
	}
	return ""
}
