package countersign

import (
	"strings"
)

// MaxIDLength is the longest id, in bytes.
const MaxIDLength = 128

// ValidID reports whether s matches ^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$. Ids
// travel in paths and in the string that is signed, so nothing that could
// traverse, separate or break a line is ever one.
func ValidID(s string) bool {
	if len(s) == 0 || len(s) > MaxIDLength || !isAlphanumeric(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !isAlphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// ValidTenantID reports whether s matches ^[a-z][a-z0-9]{1,31}$. It holds no
// hyphen, so `acme-` can be the beginning of one tenant's project ids only.
func ValidTenantID(s string) bool {
	if len(s) < 2 || len(s) > 32 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// OwnsProjectID reports whether a project id begins with the tenant's
// identifier and a hyphen (specification 2.6). It says how an id is spelt, not
// who owns the record: ownership is always a field.
func OwnsProjectID(tenant, projectID string) bool {
	return ValidID(projectID) && strings.HasPrefix(projectID, tenant+"-") && len(projectID) > len(tenant)+1
}

// MaxKeyLength is the longest idempotency key, in bytes (contract 6).
const MaxKeyLength = 255

// ValidIdempotencyKey reports whether s is 1 to MaxKeyLength visible ASCII
// characters: it travels in a header, to receivers too.
func ValidIdempotencyKey(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return s != "" && len(s) <= MaxKeyLength
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
