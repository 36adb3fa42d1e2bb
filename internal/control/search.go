package control

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/search"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Bounds of a search. A text that more runs have than are looked at is found in the newest.
const (
	maxHits    = 20
	lookedAt   = 200  // runs
	listedBy   = 1000 // runs of a list that is narrowed by the index
	namedAtAll = 1000 // tokens
	minBegin   = 3    // characters that the beginning of a text has at least
)

// Search finds records by what people have in hand: the idempotency key of a start, a text
// or number in a step's inputs or answers, a token's name. Sensitive fields are found by
// all of their value, by whoever may see them.
func (s *Service) Search(ctx context.Context, a Actor, text string) (out countersign.SearchResult, err error) {
	out = countersign.SearchResult{Items: []countersign.SearchHit{}}
	err = s.view(ctx, a, access.Search, func(tx store.Tx) error {
		out.Items = []countersign.SearchHit{}
		if err := s.runOfKey(tx, a, strings.TrimSpace(text), &out); err != nil {
			return err
		}
		if err := s.runsWith(tx, a, search.Fold(text), &out); err != nil {
			return err
		}
		return tokensNamed(tx, a, search.Fold(text), &out)
	})
	return out, err
}

// runOfKey finds the run that an idempotency key started.
func (s *Service) runOfKey(tx store.Tx, a Actor, key string, out *countersign.SearchResult) error {
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
func (s *Service) showsKey(tx store.Tx, a Actor, of *Started, key string) (bool, error) {
	if !masks(a) || !isCallKey(key) {
		return true, nil
	}
	if of.archived {
		return false, nil
	}
	r := of.Run
	err := s.maskFor(tx, a, &r)
	return err == nil && r.IdempotencyKey == key, err
}

func hitOf(r *countersign.Run, where string) countersign.SearchHit {
	return countersign.SearchHit{Kind: "run", ID: r.ID, Where: where, Status: string(r.Status), Mode: r.Mode, At: r.CreatedAt}
}

// runsWith finds the runs that have a text, those that have it as a whole value first.
func (s *Service) runsWith(tx store.Tx, a Actor, q string, out *countersign.SearchResult) error {
	ids, err := candidates(tx, a, q, lookedAt)
	if err != nil {
		return err
	}
	var begin []countersign.SearchHit
	for _, id := range ids {
		if len(out.Items) >= maxHits {
			break
		}
		hit, whole, err := s.hitIn(tx, a, id, q)
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(out.Items, func(h countersign.SearchHit) bool { return h.ID == id })
		switch {
		case hit == nil || known:
		case whole:
			out.Items = append(out.Items, *hit)
		default:
			begin = append(begin, *hit)
		}
	}
	slices.SortStableFunc(begin, func(x, y countersign.SearchHit) int { return y.At.Compare(x.At) })
	out.Items = append(out.Items, begin[:min(len(begin), max(0, maxHits-len(out.Items)))]...)
	return nil
}

// hitIn looks the text up in the run as the actor sees it: the index says where to look,
// never what somebody may know. nil: the actor doesn't find it there.
func (s *Service) hitIn(tx store.Tx, a Actor, id, q string) (*countersign.SearchHit, bool, error) {
	rec, err := s.runs.Read(tx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil // it was archived
	}
	if err != nil {
		return nil, false, err
	}
	if access.InRun(a.Principal, rec.AgentID, rec.Projects...) != nil {
		return nil, false, nil
	}
	r := rec.Run
	if err := s.maskFor(tx, a, &r); err != nil {
		return nil, false, err
	}
	found, ok := search.In(&r, q)
	if !ok || !found.Whole && !s.openIn(tx, a, rec, q) {
		return nil, false, nil
	}
	hit := hitOf(&r, found.Where)
	hit.Value = found.Value
	if len(hit.Value) > search.MaxTerm {
		hit.Value = ""
	}
	return &hit, found.Whole, nil
}

// openIn reports whether every reader sees the text there: a sensitive value is found by
// all of it only.
func (s *Service) openIn(tx store.Tx, a Actor, rec *records.Run, q string) bool {
	r := rec.Run
	anybody := Actor{Principal: access.Principal{Tenant: a.Tenant, Roles: []countersign.Role{countersign.RoleViewer}}}
	if s.maskFor(tx, anybody, &r) != nil {
		return false
	}
	_, ok := search.In(&r, q)
	return ok
}

// candidates are the runs that the index has for a text, in the order in which they are
// looked at: all of a value before its beginning, and the newest first.
func candidates(tx store.Tx, a Actor, q string, most int) ([]string, error) {
	if q == "" {
		return nil, nil
	}
	by := [][]store.Filter{records.TermsBy(records.OpenTerm, q)}
	if !masks(a) {
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
func tokensNamed(tx store.Tx, a Actor, q string, out *countersign.SearchResult) error {
	if q == "" || access.Allow(a.Principal, access.ReadTokens) != nil {
		return nil
	}
	return records.Tokens.Each(tx, a.Tenant, store.Query{Limit: namedAtAll}, 100, func(t *records.Token) error {
		if len(out.Items) < maxHits && (t.ID == q || strings.Contains(strings.ToLower(t.Name), q)) {
			out.Items = append(out.Items, countersign.SearchHit{Kind: "token", ID: t.ID, Where: "name", Value: t.Name, At: t.CreatedAt, Status: tokenStatus(t)})
		}
		return nil
	})
}

func tokenStatus(t *records.Token) string {
	if !t.RevokedAt.IsZero() {
		return "revoked"
	}
	return cmp.Or(map[bool]string{true: "expired"}[t.Lapsed], "")
}

// narrowed are the runs that a list's text, reason and capability leave, nil where it has
// none of them: the newest of each, at most listedBy.
func (s *Service) narrowed(tx store.Tx, a Actor, f RunFilter) ([]store.Filter, error) {
	var out []store.Filter
	by := func(ids []string) {
		in := store.Filter{Column: "id", Op: store.In}
		for _, id := range ids {
			in.Values = append(in.Values, id)
		}
		out = append(out, in)
	}
	if f.Text != "" {
		ids, err := s.runsFound(tx, a, search.Fold(f.Text))
		if err != nil {
			return nil, err
		}
		by(ids)
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

// runsFound are the runs that have a text where the actor sees it.
func (s *Service) runsFound(tx store.Tx, a Actor, q string) ([]string, error) {
	ids, err := candidates(tx, a, q, listedBy)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range ids {
		hit, _, err := s.hitIn(tx, a, id, q)
		if err != nil {
			return nil, err
		}
		if hit != nil {
			out = append(out, id)
		}
	}
	return out, nil
}
