package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// notProven is the verdict on a filtered export whose records match their own hashes.
// Anybody can write such records, and nothing in the file connects them to the head.
const notProven = "not proven"

// fileVerdict is what an export's last line claims, and what its records prove.
type fileVerdict struct {
	Intact    *bool  `json:"intact"` // null: notProven
	NotProven string `json:"notProven,omitempty"`
	word      string // yes, no, or notProven
	countersign.AuditExport
	Computed    string `json:"computed,omitempty"` // tree hash of the records; empty for a filtered export
	FirstBroken string `json:"firstBroken,omitempty"`
}

// verifyFile checks an export without the service: each record against its own hash, and all
// of them together against the head. A filtered export can't be checked against the head.
func (v *AuditVerify) verifyFile(t *terminal.Terminal, policy checkpoint.Policy) error {
	in := t.In
	if v.File != "-" {
		f, err := os.Open(v.File)
		if err != nil {
			return terminal.Unusablef("%v", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	check := fileCheck{keep: v.Records, next: -1, every: policy.Asked() > 0}
	found := check.run(bufio.NewReaderSize(in, 64<<10))
	if v.Head != "" && found.word == notProven {
		return terminal.Unusablef("a filtered export can't be compared with a head, since it lacks records: export the log without a filter")
	}
	if v.Head != "" && found.word == "yes" && !strings.EqualFold(check.kept, v.Head) {
		found.word, found.FirstBroken = "no", fmt.Sprintf("the first %d records have the head %s, not the one that was kept", v.Records, words.First(check.kept, "of a shorter log"))
	}
	if found.word == "yes" {
		if problem := check.cosigned(found.AuditExport, policy); problem != "" {
			found.word, found.FirstBroken = "no", problem
		}
	}
	if policy.Asked() > 0 && found.word == notProven {
		return terminal.Unusablef("a filtered export can't be compared with a cosigned head, since it lacks records: export the log without a filter")
	}
	if intact := found.word == "yes"; found.word == notProven {
		found.NotProven = "that these records stand in the log of that head, and that none is missing: only a whole export shows it"
	} else {
		found.Intact = &intact
	}
	err := v.Print(t, found, func(w io.Writer) { printFile(w, found) })
	if err == nil && found.word == notProven {
		return terminal.StatusError{Status: terminal.ExitUnproven}
	}
	return terminal.VerdictOf(found.word == "yes", err)
}

func printFile(w io.Writer, v fileVerdict) {
	part := words.Sequence(v.Size)
	if v.Filtered {
		part += ", of which the filter left some out"
	}
	var epoch, by [2]string
	if c := v.Cosigned; c != nil {
		epoch, by = [2]string{"epoch", epochText(c.Epoch, c.Origin)}, [2]string{"cosigned", cosignedHead(c)}
	}
	facts := [][2]string{epoch, {"intact", v.word}, {"records", words.Sequence(v.Records)}, {"of the log's", part}, {"head", v.Head}, {"at", words.Moment(v.At)}, by}
	if v.word == notProven {
		facts = append(facts, [2]string{"checked", "each record against its own hash"},
			[2]string{"not checked", v.NotProven})
	}
	if v.FirstBroken != "" {
		facts = append(facts, [2]string{"first broken", v.FirstBroken})
	}
	terminal.Facts(w, facts...)
}

// fileCheck reads an export line by line, so that it needs memory for one line only.
type fileCheck struct {
	tree  merkle.Tree
	lines int64
	next  int64 // the last sequence number; the following one must be higher
	keep  int64 // the log size whose head is compared
	kept  string
	gap   bool // sequence numbers are missing

	every  bool // keep the leaves: which head is cosigned stands in the last line
	leaves map[int64]tlog.Hash
	times  []time.Time
}

func (c *fileCheck) run(in *bufio.Reader) (v fileVerdict) {
	v.word = "no"
	for {
		line, err := readLine(in)
		if err != nil {
			v.FirstBroken = fmt.Sprintf("line %d: the file ends without the line that says what it is of: it broke off (%v)", c.lines+1, err)
			return v
		}
		if bytes.HasPrefix(line, []byte(`{"export":`)) {
			return c.end(in, line)
		}
		if err := c.record(line); err != nil {
			v.FirstBroken = fmt.Sprintf("line %d: %v", c.lines+1, err)
			return v
		}
		c.lines++
	}
}

// record checks one record and adds it to the tree.
func (c *fileCheck) record(line []byte) error {
	var r countersign.AuditRecord
	if json.Unmarshal(line, &r) != nil {
		return errors.New("it is no audit record")
	}
	leaf, doc, err := merkle.Seal(&r)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(doc, line):
		return fmt.Errorf("record %d does not match its hash; a command older than the service computes other hashes, so try the service's version first", r.Seq)
	case r.Seq <= c.next:
		return fmt.Errorf("record %d follows record %d", r.Seq, c.next)
	}
	c.gap = c.gap || r.Seq != c.next+1
	c.next = r.Seq
	if c.every {
		c.note(r, leaf)
	}
	if c.tree.Add(leaf); c.tree.Size == c.keep && !c.gap {
		c.kept = c.tree.Hash()
	}
	return nil
}

// end compares the records with the summary in the last line.
func (c *fileCheck) end(in *bufio.Reader, line []byte) (v fileVerdict) {
	v.word = "no"
	var end countersign.AuditExportEnd
	if json.Unmarshal(line, &end) != nil || end.Export == nil {
		v.FirstBroken = fmt.Sprintf("line %d: the last line can't be read", c.lines+1)
		return v
	}
	v.AuditExport = *end.Export
	if !v.Filtered {
		v.Computed = c.tree.Hash()
	}
	_, after := in.Peek(1)
	switch {
	case after == nil:
		v.FirstBroken = fmt.Sprintf("line %d: something stands behind the last line", c.lines+2)
	case c.lines != v.Records:
		v.FirstBroken = fmt.Sprintf("there are %d records, and the last line says %d", c.lines, v.Records)
	case c.next >= v.Size:
		v.FirstBroken = fmt.Sprintf("record %d is none of a log of %d", c.next, v.Size)
	case !v.Filtered && (c.gap || c.lines != v.Size):
		v.FirstBroken = fmt.Sprintf("there are %d records of the log's %d, and no filter left any out", c.lines, v.Size)
	case !v.Filtered && v.Computed != v.Head:
		v.FirstBroken = "the records have the head " + v.Computed
	case v.Filtered:
		v.word = notProven
	default:
		v.word = "yes"
	}
	return v
}

// longestLine is longer than any record: a reason comes in a request body of at most 1 MiB,
// and an escape sequence turns one byte into six.
const longestLine = 6*countersign.MaxBodyBytes + 64<<10

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0: // an editor may have removed the last line end
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > longestLine:
			return nil, fmt.Errorf("a line is longer than %d bytes", longestLine)
		}
	}
}
