package runs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/rules/search"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// SearchService finds records by what people have in hand.
type SearchService struct {
	*core.Core
	searches *semaphore.Semaphore // one read of a span of a search at a time
}

// NewSearch returns the use cases.
func NewSearch(c *core.Core) *SearchService {
	return &SearchService{Core: c, searches: semaphore.New(1)}
}

// Bounds of a search. A text that more runs have than are looked at is found in the newest.
const (
	maxHits    = 20
	lookedAt   = 200  // runs
	listedBy   = 1000 // runs of a list that is narrowed by the index
	namedAtAll = 1000 // tokens

	spanRuns  = 16        // runs that one read of the store looks at
	spanBytes = 512 << 10 // and of how many bytes; the run that reaches them is its last
	minBegin  = 3         // characters that the beginning of a text has at least
)

// Search finds records by what people have in hand: the idempotency key of a start, a text
// or number in a step's inputs or answers, a token's name. Sensitive fields are found by
// all of their value, by whoever may see them.
func (s *SearchService) Search(ctx context.Context, a core.Actor, text string) (out countersign.SearchResult, err error) {
	out = countersign.SearchResult{Items: []countersign.SearchHit{}}
	q := search.Fold(text)
	var ids []string
	err = s.View(ctx, a, access.Search, func(tx store.Tx) (err error) {
		out.Items = []countersign.SearchHit{}
		if err := s.runOfKey(tx, a, strings.TrimSpace(text), &out); err != nil {
			return err
		}
		ids, err = candidates(tx, a, q, lookedAt)
		return err
	})
	if err != nil {
		return out, err
	}
	if err := s.runsWith(ctx, a, ids, q, &out); err != nil {
		return out, err
	}
	err = s.View(ctx, a, access.Search, func(tx store.Tx) error {
		named, err := tokensNamed(tx, a, q, maxHits-len(out.Items))
		if err == nil {
			out.Items = append(out.Items, named...)
		}
		return err
	})
	return out, err
}

// runOfKey finds the run that an idempotency key started.
func (s *SearchService) runOfKey(tx store.Tx, a core.Actor, key string, out *countersign.SearchResult) error {
	if key == "" || len(key) > 255 {
		return nil
	}
	claim, _, err := records.Claims.Get(tx, a.Tenant, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	earlier, err := startedAs(tx, a, claim.RunID)
	if countersign.ErrorCode(err) != "" {
		return nil // it is out of scope
	}
	if err != nil {
		return err
	}
	shown, err := s.showsKey(tx, a, earlier, key)
	if shown {
		out.Items = append(out.Items, hitOf(&earlier.Run, "idempotency key"))
	}
	return err
}

// showsKey reports whether the actor may see that a key started a run: that a guessed key of
// a call finds its run would reveal the inputs of which it is a digest. Nothing says which
// fields of an archived run are sensitive.
func (s *SearchService) showsKey(tx store.Tx, a core.Actor, of *Started, key string) (bool, error) {
	if !core.Masks(a) || !repeat.IsCall(key) {
		return true, nil
	}
	if of.archived {
		return false, nil
	}
	r := of.Run
	err := s.MaskFor(tx, a, &r)
	return err == nil && r.IdempotencyKey == key, err
}

func hitOf(r *countersign.Run, where string) countersign.SearchHit {
	return countersign.SearchHit{Kind: "run", ID: r.ID, Where: where, Status: string(r.Status), Mode: r.Mode, At: r.CreatedAt}
}

// runsWith finds among runs those that have a text, those that have it as a whole value first.
func (s *SearchService) runsWith(ctx context.Context, a core.Actor, ids []string, q string, out *countersign.SearchResult) error {
	var begin []countersign.SearchHit
	err := s.eachHit(ctx, a, access.Search, ids, q, func(hit countersign.SearchHit, whole bool) (more bool) {
		known := slices.ContainsFunc(out.Items, func(h countersign.SearchHit) bool { return h.ID == hit.ID })
		switch {
		case known:
		case whole:
			out.Items = append(out.Items, hit)
		default:
			begin = append(begin, hit)
		}
		return len(out.Items) < maxHits
	})
	slices.SortStableFunc(begin, func(x, y countersign.SearchHit) int { return y.At.Compare(x.At) })
	out.Items = append(out.Items, begin[:min(len(begin), max(0, maxHits-len(out.Items)))]...)
	return err
}

// seen is what a run shows of a text.
type seen struct {
	hit   countersign.SearchHit
	whole bool
}

// eachHit looks a text up in runs, in their order, until each says that it has enough. It reads
// them in spans, one at a time of all searches, and tenants take turns: the runs of one may be
// large, and another's search waits for one span of them.
func (s *SearchService) eachHit(ctx context.Context, a core.Actor, op access.Operation, ids []string, q string, each func(hit countersign.SearchHit, whole bool) (more bool)) error {
	for len(ids) > 0 {
		var found []seen
		looked := 0
		var err error
		busy := s.searches.Do(ctx, a.Tenant, func() {
			err = s.View(ctx, a, op, func(tx store.Tx) (err error) {
				found, looked, err = s.hitsIn(tx, a, ids, q)
				return err
			})
		})
		if err = cmp.Or(core.PublicRead(busy), err); err != nil {
			return err
		}
		for _, f := range found {
			if !each(f.hit, f.whole) {
				return nil
			}
		}
		ids = ids[looked:]
	}
	return nil
}

// hitsIn looks a text up in the first of these runs, at least one and as many as a span has.
func (s *SearchService) hitsIn(tx store.Tx, a core.Actor, ids []string, q string) (found []seen, looked int, err error) {
	for bytes := 0; looked < min(len(ids), spanRuns) && bytes < spanBytes; looked++ {
		hit, whole, size, err := s.hitIn(tx, a, ids[looked], q)
		if err := s.Config.Unreadable.Pass(unreadable.Record{Tenant: a.Tenant, Kind: "run", ID: ids[looked]}, err); err != nil {
			return nil, 0, err
		}
		if hit != nil {
			found = append(found, seen{*hit, whole})
		}
		bytes += size
	}
	return found, looked, nil
}

// hitIn looks the text up in the run as the actor sees it: the index says where to look,
// never what somebody may know. nil: the actor doesn't find it there. size is how much was read.
func (s *SearchService) hitIn(tx store.Tx, a core.Actor, id, q string) (hit *countersign.SearchHit, whole bool, size int, err error) {
	rec, size, err := s.Repo.ReadSized(tx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, size, nil // it was archived
	}
	if err != nil || access.InRun(a.Principal, rec.AgentID, rec.Projects...) != nil {
		return nil, false, size, err
	}
	r := rec.Run
	if err := s.MaskFor(tx, a, &r); err != nil {
		return nil, false, size, err
	}
	found, ok := search.In(&r, q)
	if !ok || !found.Whole && !s.openIn(tx, a, rec, q) {
		return nil, false, size, nil
	}
	h := hitOf(&r, found.Where)
	h.Value = found.Value
	if len(h.Value) > search.MaxTerm {
		h.Value = ""
	}
	return &h, found.Whole, size, nil
}

// openIn reports whether every reader sees the text there: a sensitive value is found by
// all of it only.
func (s *SearchService) openIn(tx store.Tx, a core.Actor, rec *records.Run, q string) bool {
	r := rec.Run
	anybody := core.Actor{Principal: access.Principal{Tenant: a.Tenant, Roles: []countersign.Role{countersign.RoleViewer}}}
	if s.MaskFor(tx, anybody, &r) != nil {
		return false
	}
	_, ok := search.In(&r, q)
	return ok
}

// candidates are the runs that the index has for a text, in the order in which they are
// looked at: all of a value before its beginning, and the newest first.
func candidates(tx store.Tx, a core.Actor, q string, most int) ([]string, error) {
	if q == "" {
		return nil, nil
	}
	by := [][]store.Filter{records.TermsBy(records.OpenTerm, q)}
	if !core.Masks(a) {
		by = append(by, records.TermsBy(records.SensitiveTerm, records.SensitiveBy(q)))
	}
	if len(q) >= minBegin {
		by = append(by, records.TermsBeginning(records.OpenTerm, q))
	}
	var out []string
	seen := map[string]bool{}
	for _, where := range by {
		ids, err := runsOfTerms(tx, a.Tenant, where, most)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if !seen[id] && len(out) < most {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out, nil
}

func runsOfTerms(tx store.Tx, tenant string, where []store.Filter, most int) ([]string, error) {
	rows, err := tx.List(store.Terms, tenant, store.Query{Where: where, Limit: most})
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = records.RunOfTerm(row.ID)
	}
	return out, err
}

// tokensNamed finds tokens by a part of their name, for whoever may list them.
func tokensNamed(tx store.Tx, a core.Actor, q string, most int) (out []countersign.SearchHit, err error) {
	if q == "" || access.Allow(a.Principal, access.ReadTokens) != nil {
		return nil, nil
	}
	err = records.Tokens.Each(tx, a.Tenant, store.Query{Limit: namedAtAll}, 100, func(t *records.Token) error {
		if len(out) < most && (t.ID == q || strings.Contains(strings.ToLower(t.Name), q)) {
			out = append(out, countersign.SearchHit{Kind: "token", ID: t.ID, Where: "name", Value: t.Name, At: t.CreatedAt, Status: tokenStatus(t)})
		}
		return nil
	})
	return out, err
}

func tokenStatus(t *records.Token) string {
	if !t.RevokedAt.IsZero() {
		return "revoked"
	}
	return cmp.Or(map[bool]string{true: "expired"}[t.Lapsed], "")
}

// narrowed are the runs that a list's text, reason and capability leave, nil where it has
// none of them: the newest of each, at most listedBy. found are those that have the text.
func narrowed(tx store.Tx, a core.Actor, f RunFilter, found []string) ([]store.Filter, error) {
	var out []store.Filter
	by := func(ids []string) {
		in := store.Filter{Column: "id", Op: store.In}
		for _, id := range ids {
			in.Values = append(in.Values, id)
		}
		out = append(out, in)
	}
	if f.Text != "" {
		by(found)
	}
	for kind, exactly := range map[string]string{records.ReasonTerm: f.Reason, records.CapabilityTerm: f.Capability} {
		if exactly == "" {
			continue
		}
		ids, err := runsOfTerms(tx, a.Tenant, records.TermsBy(kind, exactly), listedBy)
		if err != nil {
			return nil, err
		}
		by(ids)
	}
	return out, nil
}

// runsFound are the runs that have a text where the actor sees it, nil for none. The list that
// is narrowed by them is one snapshot, taken after them.
func (s *SearchService) runsFound(ctx context.Context, a core.Actor, text string) (out []string, err error) {
	if text == "" {
		return nil, nil
	}
	q := search.Fold(text)
	var ids []string
	err = s.View(ctx, a, access.ReadRuns, func(tx store.Tx) (err error) {
		ids, err = candidates(tx, a, q, listedBy)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.eachHit(ctx, a, access.ReadRuns, ids, q, func(hit countersign.SearchHit, _ bool) bool {
		out = append(out, hit.ID)
		return true
	})
	return out, err
}
