package postgres

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/countersign/countersign/internal/storage/batches"
)

// Each batch notes in countersign_turns which rows it has changed, in its own transaction. A
// batch of another process, once it has the lock, drops those rows from its cache: the others
// hold, since nothing else writes. If a turn since its own last one isn't noted, such as one
// of an earlier release, of a migration or of long ago, it drops all.

const (
	// keptTurns are the rows of countersign_turns. Who has missed more has a cold cache anyway.
	keptTurns = 32
	// maxNoted bounds what is noted of a turn; of more nothing is.
	maxNoted = 4096
)

// note is the statement that notes what a turn has changed.
func note(turn int64, changed []batches.Sum) call {
	var sums []byte
	if len(changed) <= maxNoted {
		sums = make([]byte, 0, 8*len(changed))
		for _, sum := range changed {
			sums = binary.BigEndian.AppendUint64(sums, sum)
		}
	}
	return call{change: noteTurn, values: [][]byte{integer(turn % keptTurns), integer(turn), sums}}
}

var noteTurn = change{
	name: "countersign_turn",
	text: "INSERT INTO countersign_turns AS kept (slot, turn, changed) VALUES ($1, $2, $3)" +
		" ON CONFLICT (slot) DO UPDATE SET turn = excluded.turn, changed = excluded.changed",
	oids: []uint32{oidInteger, oidInteger, oidBytes},
}

func integer(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// changedSince selects how many turns between one and that of the batch at hand are noted, and
// what they have changed. It finds them by their slots: mostly they are few, and all slots hold
// what would take longer to read than all else that begins a batch.
func changedSince(turn string) string {
	slots := strconv.Itoa(keptTurns)
	return "count(kept.changed), COALESCE(encode(string_agg(kept.changed, ''), 'hex'), '') FROM countersign_writer w," +
		" generate_series(GREATEST(" + turn + " + 1, w.turn - " + slots + "), w.turn - 1) missed," +
		" countersign_turns kept WHERE w.id = " + writerRow + " AND kept.slot = missed % " + slots + " AND kept.turn = missed"
}

// missed is what others have changed since the batch that the cache is of, nil if that isn't
// known. row is the answer to beginning.
func (w *writer) missed(before inTurn, row []any) ([]batches.Sum, error) {
	turns := before.turn - w.last.turn
	// Without our last batch the database isn't the one that the cache is of.
	if w.outdated || before.batch != w.last.batch || turns < 0 || row[3] != turns {
		return nil, nil
	}
	text, _ := row[4].(string)
	bytes, err := hex.DecodeString(text)
	if err != nil || len(bytes)%8 != 0 {
		return nil, fmt.Errorf("countersign_turns has %d bytes that are no sums: restore the store from a backup", len(bytes))
	}
	changed := make([]batches.Sum, 0, len(bytes)/8)
	for ; len(bytes) > 0; bytes = bytes[8:] {
		changed = append(changed, binary.BigEndian.Uint64(bytes))
	}
	return changed, nil
}
