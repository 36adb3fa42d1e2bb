package runs

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/search"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// SearchTerms are the ids of the terms by which a run is found, none for a run that is
// archived, and how many bytes were read for them. What a VIEWER doesn't see of it is sensitive.
func (s *SearchService) SearchTerms(tx store.Tx, tenant, id string) (terms []string, size int, err error) {
	anybody := core.Actor{Principal: access.Principal{Tenant: tenant, Roles: []countersign.Role{countersign.RoleViewer}}}
	rec, size, err := s.Repo.ReadSized(tx, runrepo.Ref{Tenant: tenant, RunID: id})
	if errors.Is(err, store.ErrNotFound) {
		return nil, 0, nil // it is archived
	}
	if err != nil {
		return nil, 0, err
	}
	whole := rec.Run
	shown := whole
	if err := s.MaskFor(tx, anybody, &shown); err != nil {
		return nil, size, err
	}
	add := func(kind, by string) { terms = append(terms, records.TermID(kind, by, id, whole.CreatedAt)) }
	open, words := search.Terms(&shown)
	for t := range words {
		open[t] = true
	}
	for t := range open {
		add(records.OpenTerm, t)
	}
	all, _ := search.Terms(&whole)
	for t := range all {
		if !open[t] {
			add(records.SensitiveTerm, records.SensitiveBy(t))
		}
	}
	for _, c := range search.Capabilities(&whole) {
		add(records.CapabilityTerm, c)
	}
	if code := search.Reason(&whole); code != "" {
		add(records.ReasonTerm, code)
	}
	return terms, size, nil
}
