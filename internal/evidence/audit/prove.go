package audit

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// Sealed is a record with the text that its leaf hash was taken over.
type Sealed struct {
	Record countersign.AuditRecord
	Text   string
}

// Proven is some records of a log with the proof of each that it stands in the
// tree of this size and root (RFC 6962, 2.1.1).
type Proven struct {
	Size    int64
	Root    string
	Records []Sealed
	Proofs  [][]string
}

// maxRefused bounds the refusals that are kept of one thing: whoever may ask can add
// as many as they like, while what was done is bounded by what a run may do.
const maxRefused = 500

// About reads all records about some subjects, in the log's order. Of refusals it
// leaves out those beyond a bound, and says how many.
func About(tx store.Tx, tenant string, subjects []string) (found []Sealed, leftOut int, err error) {
	refused := 0
	for _, subject := range subjects {
		rows, err := tx.List(store.Audit, tenant, store.Query{Where: []store.Filter{store.Equal("subject", subject)}, Order: []store.Order{{Column: "seq"}}})
		if err != nil {
			return nil, 0, err
		}
		for _, row := range rows {
			s, err := unseal(row)
			if err != nil {
				return nil, 0, err
			}
			if s.Record.Outcome != countersign.AuditDone {
				if refused++; refused > maxRefused {
					leftOut++
					continue
				}
			}
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b Sealed) int { return cmp.Compare(a.Record.Seq, b.Record.Seq) })
	return found, leftOut, nil
}

func unseal(row store.Row) (s Sealed, err error) {
	if err := store.Decode(row.Doc, &s.Record); err != nil {
		return s, fmt.Errorf("audit record %s: %w", row.ID, err)
	}
	s.Record.Hash = ""
	bare, err := countersign.Marshal(s.Record)
	s.Text = string(bare)
	return s, err
}

// Broken reports that a log can prove nothing: a record or the head can't be read, or
// the records don't come to the head.
func Broken(err error) bool { return errors.Is(err, errUnproven) || errors.Is(err, store.ErrDamaged) }

// errUnproven is what a log gives that does not come to its own head.
var errUnproven = errors.New("audit: the records do not come to the head of the log; verify it")

// tileLevel is that of the complete subtrees whose hashes a Prover remembers: 256
// records each, an eighth of a byte a record.
const tileLevel = 8

// Prover proves that records stand in a log. It remembers the hashes of complete
// subtrees, which never change; [Prover.Warm] reads those that it doesn't know yet.
// Every proof is checked against the log's head before it is given out, so that what
// it remembers is never trusted.
type Prover struct {
	mu    sync.Mutex
	tiles map[string]map[int64]tlog.Hash // by tenant
}

// Prove proves some records of a tenant's log.
func (p *Prover) Prove(tx store.Tx, tenant string, records []Sealed) (Proven, error) {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return Proven{}, err
	}
	out, err := p.attempt(tx, tenant, h, records)
	if errors.Is(err, errUnproven) {
		p.forget(tenant) // a store that was put back leads to another tree
		out, err = p.attempt(tx, tenant, h, records)
	}
	return out, err
}

func (p *Prover) attempt(tx store.Tx, tenant string, h *head, records []Sealed) (Proven, error) {
	out := Proven{Size: h.Size, Root: h.Hash(), Records: records}
	root := merkle.ParseHash(out.Root)
	r := &subtrees{prover: p, tx: tx, tenant: tenant, leaves: map[int64][]tlog.Hash{}, known: map[[2]int64]tlog.Hash{}}
	for _, s := range records {
		proof, err := tlog.ProveRecord(h.Size, s.Record.Seq, r)
		if err != nil {
			return out, err
		}
		if tlog.CheckRecord(proof, h.Size, root, s.Record.Seq, tlog.RecordHash([]byte(s.Text))) != nil {
			return out, errUnproven
		}
		path := make([]string, len(proof))
		for i, node := range proof {
			path[i] = hex.EncodeToString(node[:])
		}
		out.Proofs = append(out.Proofs, path)
	}
	return out, nil
}

func (p *Prover) tile(tenant string, n int64) (h tlog.Hash, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok = p.tiles[tenant][n]
	return h, ok
}

func (p *Prover) remember(tenant string, n int64, h tlog.Hash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tiles == nil {
		p.tiles = map[string]map[int64]tlog.Hash{}
	}
	if p.tiles[tenant] == nil {
		p.tiles[tenant] = map[int64]tlog.Hash{}
	}
	p.tiles[tenant][n] = h
}

func (p *Prover) forget(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tiles, tenant)
}
