package access

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// A reading token reads figures or audit logs and does nothing else (contract 12.7): it has no
// role, no mode and no user. What reaches what stands in the table of rules; an operation that
// names no reading is refused, so one that is added later is closed to them.

// ReadsOnly reports a reading token.
func (p Principal) ReadsOnly() bool { return p.Reads != nil }

// reads is nil when a reading token may ask for an operation.
func reads(p Principal, r rule) error {
	switch {
	case len(p.Reads) == 0:
		return countersign.Errorf(countersign.CodeRoleRequired, "this token reads by the role ADMIN of whoever made it, who doesn't have it in the whole tenant any more")
	case r.readers, r.reading != "" && slices.Contains(p.Reads, r.reading):
		return nil
	}
	return onlyReads(p, "anything else needs another token")
}

// RealmToo is nil when the principal may read the realm's log and figures, besides what it reads
// of its tenant.
func RealmToo(p Principal) error {
	switch {
	case !p.ReadsOnly():
		return Allow(p, ReadTenants)
	case slices.Contains(p.Reads, countersign.ReadsRealm):
		return nil
	}
	return onlyReads(p, "the realm's needs one that a realm administrator makes for it")
}

func onlyReads(p Principal, but string) error {
	var words []string
	for _, r := range p.Reads {
		words = append(words, r.Words())
	}
	return countersign.Errorf(countersign.CodeRoleRequired, "this token reads %s, and renews itself; %s", strings.Join(words, " and "), but)
}

// StillReads are those of a reading token's readings that its maker gives at this moment: none
// unless one of the maker's principals may make tokens of the tenant, and the realm's only of a
// realm administrator.
func StillReads(reads []countersign.Reading, tenant string, maker ...Principal) []countersign.Reading {
	out := []countersign.Reading{}
	makes := slices.DeleteFunc(slices.Clone(maker), func(p Principal) bool {
		return Allow(p, CreateToken) != nil || p.Tenant != tenant && !p.Realm
	})
	if len(makes) == 0 {
		return out
	}
	realm := slices.ContainsFunc(makes, func(p Principal) bool { return p.Realm })
	for _, r := range reads {
		if r != countersign.ReadsRealm || realm {
			out = append(out, r)
		}
	}
	return out
}
