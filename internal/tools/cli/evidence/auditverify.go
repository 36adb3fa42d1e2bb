package evidence

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// AuditVerify is the command `audit verify`.
type AuditVerify struct {
	File    string `arg:"" optional:"" help:"An export to verify without the service; - for standard input." placeholder:"FILE"`
	Realm   bool   `help:"The realm's log; realm administrators only."`
	Head    string `and:"kept" help:"A head that was kept elsewhere." placeholder:"HEX"`
	Records int64  `and:"kept" help:"How many records it was of." placeholder:"N"`
	Witnesses
	service.Asking
}

// Help explains what a kept head is for.
func (AuditVerify) Help() string {
	return "The service computes its log anew from the records. A log that was cut off together with its head verifies as a shorter log: so keep the head and the number of records elsewhere, and give them later. The records are then read and the head computed here, from what they say. An export is checked line by line; from standard input too. Of a filtered export only that each record is what its own hash says can be checked, and not that it stands in the log: the answer is then neither yes nor no, and the exit status 6. With --witness the newest cosigned head must have cosignatures of the witnesses that are named, and the log's records must come to it; a record that is older than 5 minutes and not contained in it fails, since the service shows the log to its witnesses each minute."
}

// Run verifies the log, and that the kept head is the head of its first records.
func (v *AuditVerify) Run(t *terminal.Terminal) error {
	if v.Head != "" && v.Records < 1 {
		return terminal.Unusablef("--records must be the number of records that the head was of")
	}
	policy, err := v.policy()
	if err != nil {
		return err
	}
	if v.File != "" {
		return v.verifyFile(t, policy)
	}
	c, err := v.Client(t)
	if err != nil {
		return err
	}
	now, err := c.VerifyAudit(t.Context, v.Realm)
	if err != nil {
		return err
	}
	if err := v.Print(t, now, func(w io.Writer) { printAudit(w, now) }); err != nil {
		return err
	}
	if !now.Intact {
		return terminal.VerdictOf(false, nil)
	}
	if err := v.checkCosigned(t, c, now, policy); err != nil || v.Head == "" {
		return err
	}
	return v.compare(t, c, now)
}

func printAudit(w io.Writer, v *countersign.AuditVerification) {
	intact := "yes"
	if !v.Intact {
		intact = "no"
	}
	var epoch, by [2]string
	if c := v.Cosigned; c != nil {
		epoch, by = [2]string{"epoch", epochText(c.Epoch, c.Origin)}, [2]string{"cosigned", cosignedHead(c)}
	}
	facts := [][2]string{epoch, {"intact", intact}, {"records", words.Sequence(v.Records)}, {"head", v.Head}, by}
	if v.FirstBroken != nil {
		facts = append(facts, [2]string{"first broken", "record " + words.Sequence(*v.FirstBroken)})
	}
	terminal.Facts(w, facts...)
}

// compare checks the log against the kept head, and prints the result to standard error.
func (v *AuditVerify) compare(t *terminal.Terminal, c *client.Client, now *countersign.AuditVerification) error {
	if now.Records < v.Records {
		return fmt.Errorf("the log has %d records and had %d when the head was kept: it was cut off", now.Records, v.Records)
	}
	head, _, err := v.headThen(t, c, now, v.Records)
	if err != nil {
		return err
	}
	if !strings.EqualFold(head, v.Head) {
		return fmt.Errorf("the first %d records have the head %s, not %s: they were changed", v.Records, head, v.Head)
	}
	fmt.Fprintf(t.Errs, "the first %d records are those of the head that was kept\n", v.Records)
	return nil
}

// headThen computes the head that the log had at a size, from its records, and reads the record
// behind it, if there is one.
func (v *AuditVerify) headThen(t *terminal.Terminal, c *client.Client, now *countersign.AuditVerification, size int64) (head string, next *countersign.AuditRecord, err error) {
	leaves := make(map[int64]tlog.Hash, size)
	bar := terminal.NewBar(t, "reading records")
	defer bar.Done()
	f := client.AuditFilter{Realm: v.Realm, Paging: client.Paging{Limit: countersign.MaxPageLimit, Offset: int(max(now.Records-size-1, 0))}} // lists begin with the newest record
	for r, err := range c.AllAuditRecords(t.Context, f) {
		if err != nil {
			return "", nil, err
		}
		if r.Seq == size {
			next = &r
		}
		if r.Seq < size {
			if leaves[r.Seq], err = leafOf(r); err != nil {
				return "", nil, err
			}
			bar.Set(int64(len(leaves)), size)
		}
	}
	if int64(len(leaves)) != size {
		return "", nil, fmt.Errorf("the service lists %d of the first %d records", len(leaves), size)
	}
	root := TreeHash(leaves, 0, size)
	return hex.EncodeToString(root[:]), next, nil
}

// leafOf returns a record's hash if it matches the record's content.
func leafOf(r countersign.AuditRecord) (tlog.Hash, error) {
	leaf, _, err := merkle.Seal(&r)
	if err == nil && hex.EncodeToString(leaf[:]) != r.Hash {
		err = fmt.Errorf("record %d does not match its hash; a command older than the service computes other hashes, so try the service's version first", r.Seq)
	}
	return leaf, err
}

// TreeHash is the RFC 6962 hash of the leaves [from, to); there is at least one.
func TreeHash(leaves map[int64]tlog.Hash, from, to int64) tlog.Hash {
	if to-from == 1 {
		return leaves[from]
	}
	half := int64(1)
	for half*2 < to-from {
		half *= 2
	}
	return tlog.NodeHash(TreeHash(leaves, from, from+half), TreeHash(leaves, from+half, to))
}
