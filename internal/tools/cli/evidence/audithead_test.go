package evidence

import (
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
)

// TestTheHeadOfAnyNumberOfRecordsIsTheLogsOwn: the head is the one that the service's
// library computes.
func TestTheHeadOfAnyNumberOfRecordsIsTheLogsOwn(t *testing.T) {
	var stored []tlog.Hash
	leaves := map[int64]tlog.Hash{}
	read := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(at))
		for i, x := range at {
			out[i] = stored[x]
		}
		return out, nil
	})
	for n := range int64(70) {
		text := []byte(strings.Repeat("r", int(n)))
		more, err := tlog.StoredHashes(n, text, read)
		if err != nil {
			t.Fatal(err)
		}
		stored, leaves[n] = append(stored, more...), tlog.RecordHash(text)
		want, err := tlog.TreeHash(n+1, read)
		if err != nil || TreeHash(leaves, 0, n+1) != want {
			t.Errorf("%d records: another head, %v", n+1, err)
		}
	}
}

// TestARecordThatIsNotWhatItsHashSaysIsNamed.
func TestARecordThatIsNotWhatItsHashSaysIsNamed(t *testing.T) {
	const want = "record 7 does not match its hash; a command older than the service computes other hashes, so try the service's version first"
	if _, err := leafOf(countersign.AuditRecord{Seq: 7, Hash: "00"}); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}
