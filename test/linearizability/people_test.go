package linearizability

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

const tenant = "acme"

func person(name string, roles ...countersign.Role) control.Actor {
	email := name + "@example.com"
	return control.Actor{Principal: access.Principal{ID: "user:" + email, Tenant: tenant, Roles: roles, Email: email}, RequestID: "req-" + name}
}

// The principals: ann starts runs, and may approve only those of others.
var (
	ada = person("ada", countersign.RoleAdmin, countersign.RoleOperator)
	ann = person("ann", countersign.RoleOperator, countersign.RoleApprover)
)

// reviewer is the i-th reviewer.
func reviewer(i int) control.Actor {
	return person(fmt.Sprintf("reviewer%d", i), countersign.RoleApprover)
}

func background() context.Context { return context.Background() }

// oneOf reports whether the error has one of the codes; "" is success.
func oneOf(err error, codes ...countersign.Code) bool {
	return slices.Contains(codes, countersign.ErrorCode(err))
}
