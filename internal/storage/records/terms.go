package records

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/search"
	"github.com/countersign/countersign/internal/storage/store"
)

// Term says that a run is found by something. All of it stands in the id: the kind, what
// it is found by, the age, so that the newest run comes first, and the run. What it is
// found by has no control character.
type Term struct{}

// Kinds of terms.
const (
	OpenTerm       = "o" // a text of the run that every reader may see
	SensitiveTerm  = "s" // the digest of one that only some may see
	ReasonTerm     = "r" // why the run ended: a code
	CapabilityTerm = "c" // a capability that the run calls, alone or behind its project
)

// Terms are what runs are found by.
var Terms = store.Collection[Term]{Table: store.Terms}

// TermID is the id of a term of a run.
func TermID(kind, by, runID string, created time.Time) string {
	return fmt.Sprintf("%s/%s\t%016x\t%s", kind, by, math.MaxInt64-created.UnixMicro(), runID)
}

// SensitiveBy is what a sensitive text is found by: nothing of it but all of it.
func SensitiveBy(text string) string { return countersign.SHA256Hex([]byte(text))[:32] }

// RunOfTerm is the run of a term's id.
func RunOfTerm(id string) string { return id[strings.LastIndexByte(id, '\t')+1:] }

// TermsBy asks for the terms of exactly this, the newest run first.
func TermsBy(kind, by string) []store.Filter {
	return idRange(kind+"/"+by+"\t", kind+"/"+by+"\n")
}

// TermsBeginning asks for the terms that begin so.
func TermsBeginning(kind, by string) []store.Filter {
	return idRange(kind+"/"+by, kind+"/"+by+"\U0010ffff")
}

// RemoveTerms removes what a run that leaves the store is found by.
func RemoveTerms(tx store.Tx, tenant string, r *countersign.Run) error {
	if err := RemoveTextTerms(tx, tenant, r); err != nil {
		return err
	}
	var ids []string
	add := func(kind, by string) { ids = append(ids, TermID(kind, by, r.ID, r.CreatedAt)) }
	for _, c := range search.Capabilities(r) {
		add(CapabilityTerm, c)
	}
	add(ReasonTerm, search.Reason(r))
	return removeTerms(tx, tenant, ids)
}

// RemoveTextTerms removes the texts that a run is found by. What else it is found by stays.
func RemoveTextTerms(tx store.Tx, tenant string, r *countersign.Run) error {
	var ids []string
	for t := range search.EveryTerm(r) {
		ids = append(ids, TermID(OpenTerm, t, r.ID, r.CreatedAt), TermID(SensitiveTerm, SensitiveBy(t), r.ID, r.CreatedAt))
	}
	return removeTerms(tx, tenant, ids)
}

func removeTerms(tx store.Tx, tenant string, ids []string) error {
	for _, id := range ids {
		if err := Terms.Delete(tx, tenant, id); err != nil {
			return err
		}
	}
	return nil
}

// IndexAnew has whoever is indexing a tenant's runs at this moment fail and read them anew: what
// was read before a run was redacted isn't written behind it.
func IndexAnew(tx store.Tx, tenant string) error {
	at, version, err := Indexing.Get(tx, tenant, IndexedID(tenant))
	if errors.Is(err, store.ErrNotFound) {
		at, version, err = &Indexed{}, 0, nil
	}
	if err != nil {
		return err
	}
	_, err = Indexing.Put(tx, tenant, IndexedID(tenant), at, version)
	return err
}

// Indexed is how far in its audit log a tenant's runs have been indexed.
type Indexed struct {
	Seq int64 `json:"seq"`
}

// Indexing is kept by tenant.
var Indexing = store.Collection[Indexed]{Table: store.Meta}

// IndexedID is the id of a tenant's entry.
func IndexedID(tenant string) string { return "indexed/" + tenant }
