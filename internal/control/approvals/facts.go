package approvals

import (
	"slices"

	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// An approval is compared with thousands of others and of runs, each of which may have mebibytes, and
// of which a word or two count. What was found out of a record at a version is so for good, so it is
// kept in memory: who looks again reads ids, versions and columns, and the records that are new or
// have changed.

// compared is what is kept of what approvals are compared with.
type compared struct {
	runs      *cache.Cache[factKey, runFact]
	approvals *cache.Cache[factKey, approvalFact]
	numbers   *cache.Cache[factKey, numberFact]
}

// keptFacts is how many of each kind are kept, some 150 bytes each: of a few agents, as far back as
// anybody looks.
const keptFacts = 4 * maxCompared

func newCompared() compared {
	return compared{
		runs:      cache.New[factKey, runFact](keptFacts),
		approvals: cache.New[factKey, approvalFact](keptFacts),
		numbers:   cache.New[factKey, numberFact](keptFacts),
	}
}

// factKey is a record at a version, and what is asked of it if that isn't all one.
type factKey struct {
	tenant, id string
	version    int64
	of         string
}

// noted is a record that spans pass, with what is known of it.
type noted[F any] struct {
	factKey
	created int64
	fact    F
	err     error // why nothing is known
}

// notedIn are spans of records with what is known of each. note finds it out of the record.
func notedIn[R, F any](s *core.Core, of core.Spans[R], kept *cache.Cache[factKey, F], note func(tx store.Tx, k factKey, r *R) (F, error)) core.Spans[noted[F]] {
	return core.Spans[noted[F]]{
		Of: store.Collection[noted[F]]{Table: of.Of.Table}, Op: of.Op, Where: of.Where, Turns: of.Turns, Most: of.Most,
		Key: func(n *noted[F]) (string, int64) { return n.id, n.created },
		Read: func(tx store.Tx, tenant string, q store.Query, each func(*noted[F]) error, damaged func(store.Row, error) error) error {
			q.Bare = true
			rows, err := tx.List(of.Of.Table, tenant, q)
			if err != nil {
				return err
			}
			r := reading[R, F]{of: of.Of, kept: kept, note: note, facts: map[string]noted[F]{}, unread: map[string]error{}}
			if err := r.read(tx, tenant, rows); err != nil {
				return err
			}
			for _, row := range rows {
				if err := r.unread[row.ID]; err != nil {
					if err := damaged(row, err); err != nil {
						return err
					}
					continue
				}
				n := r.facts[row.ID]
				n.created = row.Keys[0].(int64)
				if err := each(&n); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// reading finds out what is known of some rows.
type reading[R, F any] struct {
	of     store.Collection[R]
	kept   *cache.Cache[factKey, F]
	note   func(tx store.Tx, k factKey, r *R) (F, error)
	facts  map[string]noted[F]
	unread map[string]error
}

func (r *reading[R, F]) read(tx store.Tx, tenant string, rows []store.Row) error {
	var missing []string
	for _, row := range rows {
		k := factKey{tenant: tenant, id: row.ID, version: row.Version}
		fact, known := r.kept.Get(k)
		if r.facts[row.ID] = (noted[F]{factKey: k, fact: fact}); !known {
			missing = append(missing, row.ID)
		}
	}
	for ids := range slices.Chunk(missing, core.ReadAtOnce) {
		rows, err := tx.List(r.of.Table, tenant, store.Query{Where: []store.Filter{core.Within("id", ids)}})
		if err != nil {
			return err
		}
		for _, row := range rows {
			r.found(tx, tenant, row)
		}
	}
	return nil
}

func (r *reading[R, F]) found(tx store.Tx, tenant string, row store.Row) {
	record := new(R)
	if r.unread[row.ID] = records.Decode(row, record); r.unread[row.ID] != nil {
		return
	}
	n := noted[F]{factKey: factKey{tenant: tenant, id: row.ID, version: row.Version}}
	if n.fact, n.err = r.note(tx, n.factKey, record); n.err == nil {
		r.kept.Put(n.factKey, n.fact)
	}
	r.facts[row.ID] = n
}
