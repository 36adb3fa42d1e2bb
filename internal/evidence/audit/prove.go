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

// Sealed is a record with the text that its leaf hash covers.
type Sealed struct {
	Record countersign.AuditRecord
	Text   string
}

// Proven is records of a log with their inclusion proofs in the tree of this size and
// root (RFC 6962, 2.1.1).
type Proven struct {
	Size    int64
	Root    string
	Records []Sealed
	Proofs  [][]string
}

// maxRefused bounds the refusals listed for one subject: callers can cause any number
// of refusals, while a run bounds the other records.
const maxRefused = 500

// About reads all records about some subjects, in the log's order. It omits refusals
// beyond maxRefused and returns their number.
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

// Sealing reads one record with its text; store.ErrNotFound for none.
func Sealing(tx store.Tx, tenant string, seq int64) (Sealed, error) {
	row, err := tx.Get(store.Audit, tenant, recordID(seq))
	if err != nil {
		return Sealed{}, err
	}
	return unseal(row)
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

// Broken reports that a log can prove nothing: a record or the head is unreadable, or
// the records do not match the head.
func Broken(err error) bool { return errors.Is(err, errUnproven) || errors.Is(err, store.ErrDamaged) }

// errUnproven reports a log that does not match its own head.
var errUnproven = errors.New("audit: the records do not come to the head of the log; verify it")

// Prover proves the inclusion of records in a log. It reads and caches the hashes of complete
// subtrees that are kept with the log, and computes those that are missing; [Prover.Warm] does
// that for what an earlier release has appended, which kept none. Every proof is checked against
// the head of the log, so neither the cache nor what is kept is ever trusted.
type Prover struct {
	mu    sync.Mutex
	known map[string]*subtreeHashes // by tenant
}

// subtreeHashes are the known hashes of a log's complete subtrees.
type subtreeHashes struct {
	hashes map[subtree]tlog.Hash
	tiles  int64 // so many of tileLevel are known, from the beginning of the log on
	kept   bool  // those of tileLevel were kept with the log when they were counted
}

// Prove proves some records of a tenant's log.
func (p *Prover) Prove(tx store.Tx, tenant string, records []Sealed) (Proven, error) {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return Proven{}, err
	}
	out, err := p.attempt(tx, tenant, h, records, kept)
	if errors.Is(err, errUnproven) {
		p.forget(tenant) // a restored store has another tree
		out, err = p.attempt(tx, tenant, h, records, noneKept)
	}
	return out, err
}

func (p *Prover) attempt(tx store.Tx, tenant string, h *head, records []Sealed, kept reading) (Proven, error) {
	out := Proven{Size: h.Size, Root: h.Hash(), Records: records}
	root := merkle.ParseHash(out.Root)
	r := newSubtrees(p, tx, tenant, kept)
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

func (p *Prover) hash(tenant string, at subtree) (h tlog.Hash, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.known[tenant]; k != nil {
		h, ok = k.hashes[at]
	}
	return h, ok
}

func (p *Prover) remember(tenant string, at subtree, h tlog.Hash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.of(tenant)
	k.hashes[at] = h
	for known := true; known; {
		if _, known = k.hashes[subtree{tileLevel, k.tiles}]; known {
			k.tiles++
		}
	}
}

// of is what is known of a log, which may be nothing. The caller has the lock.
func (p *Prover) of(tenant string) *subtreeHashes {
	if p.known == nil {
		p.known = map[string]*subtreeHashes{}
	}
	k := p.known[tenant]
	if k == nil {
		k = &subtreeHashes{hashes: map[subtree]tlog.Hash{}}
		p.known[tenant] = k
	}
	return k
}

func (p *Prover) noteKept(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of(tenant).kept = true
}

func (p *Prover) areKept(tenant string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.known[tenant]
	return k != nil && k.kept
}

// Tiles is how many tiles of a log have known hashes, from its beginning on: [Prover.Keep] begins
// there.
func (p *Prover) Tiles(tenant string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.known[tenant]; k != nil {
		return k.tiles
	}
	return 0
}

func (p *Prover) forget(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, tenant)
}
