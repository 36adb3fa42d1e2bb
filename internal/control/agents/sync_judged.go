package agents

import (
	"context"
	"maps"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/storage/store"
)

// judgedManifest is a manifest with its problems by some facts.
type judgedManifest struct {
	*countersign.Manifest
	facts    registry.Facts
	problems []countersign.Problem
}

// by gives the problems if these are the facts that they were found by.
func (j judgedManifest) by(f registry.Facts) error {
	if f.Project.Revision != j.facts.Project.Revision || !maps.Equal(f.Models, j.facts.Models) {
		return core.ErrMoved
	}
	return core.Wrong(j.problems)
}

// judgeManifest checks a manifest.
func (s *SyncService) judgeManifest(ctx context.Context, a core.Actor, projectID string, m *countersign.Manifest) (judgedManifest, error) {
	j := judgedManifest{Manifest: m}
	err := s.Read(ctx, func(tx store.Tx) (err error) {
		j.facts, err = manifestFacts(tx, a, projectID, m)
		return err
	})
	if err != nil {
		return j, err
	}
	err = s.Judge(ctx, a, func(m *cost.Meter) {
		facts := j.facts
		facts.Meter = m
		j.problems = registry.Check(j.Manifest, facts)
	})
	return j, err
}
