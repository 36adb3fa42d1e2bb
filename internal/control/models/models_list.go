package models

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ListedModel is a model as lists show it: counts and names from its document, and the
// document's text unless it is long.
type ListedModel struct {
	countersign.Model
	States    int `json:"-"`
	Scenarios int `json:"-"`
}

// Models lists the tenant's models by id. A page has up to 200 documents of up to a
// mebibyte. They are read one at a time, as text, and what a list shows of them is cached,
// so that a page takes neither the memory of all documents nor their decoding twice.
func (s *ModelService) Models(ctx context.Context, a core.Actor, l core.List) (page countersign.Page[ListedModel], err error) {
	err = s.View(ctx, a, access.ReadModels, func(tx store.Tx) error {
		show := func(h *records.ModelHead) (ListedModel, error) { return s.listedModel(tx, a.Tenant, *h) }
		page, err = core.ShowPage(s.Core, tx, a.Tenant, records.Models, l, l.Query(nil, l.Current()...), show)
		return err
	})
	return page, err
}

// cachedModels is how many listed documents are cached, each at most 16 KiB.
const cachedModels = 1024

// documentKey identifies a document revision, which never changes.
type documentKey struct{ tenant, revision string }

func (s *ModelService) listedModel(tx store.Tx, tenant string, h records.ModelHead) (ListedModel, error) {
	k := documentKey{tenant, records.RevisionID(h.ID, h.DocumentRevision)}
	known, ok := s.documents.Get(k)
	if !ok {
		rev, _, err := records.ModelTexts.Get(tx, tenant, k.revision)
		if err == nil {
			known, err = listedDocument(rev.Document)
		}
		if err != nil {
			return known, fmt.Errorf("document of model %s: %w", h.ID, err)
		}
		s.documents.Put(k, known)
	}
	known.Model = reach.AssembleModel(h, known.Document)
	return known, nil
}

// listedDocument reads what a list shows of a document.
func listedDocument(text countersign.Value) (m ListedModel, err error) {
	var doc struct {
		Name          string     `json:"name"`
		SchemaVersion string     `json:"schemaVersion"`
		States        []struct{} `json:"states"` // only counted
		Scenarios     []struct{} `json:"scenarios"`
	}
	if err := json.Unmarshal([]byte(text.Raw()), &doc); err != nil {
		return m, err
	}
	m.States, m.Scenarios = len(doc.States), len(doc.Scenarios)
	m.Document.Name, m.Document.SchemaVersion = doc.Name, doc.SchemaVersion
	m.Document.KeepVerbatim(countersign.Listed(text))
	return m, nil
}
