package models

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/difference"
)

// changesShown is how many changes the form lists.
const changesShown = 20

// changes are what saving would change in the stored model: none for a new one.
func (s *modelForm) changes() (list []difference.Difference, err error) {
	if s.id == "" {
		return nil, nil
	}
	stored, err := s.v.Control.Model(s.v.R.Context(), s.v.Actor, s.id)
	if err != nil {
		return nil, err
	}
	was, err := countersign.ValueOf(stored.Document)
	if err != nil {
		return nil, err
	}
	now, err := countersign.ValueOf(s.doc)
	return difference.Between(was, now), err
}

// Differences is how many there are in all.
func (d modelFormData) Differences() int { return len(d.Changes) + d.Unshown }
