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

// The people: ann asks for runs and may approve those of others only.
var (
	ada = person("ada", countersign.RoleAdmin, countersign.RoleOperator)
	ann = person("ann", countersign.RoleOperator, countersign.RoleApprover)
)

// reviewer is one of many.
func reviewer(i int) control.Actor {
	return person(fmt.Sprintf("reviewer%d", i), countersign.RoleApprover)
}

func background() context.Context { return context.Background() }

// oneOf reports one of the codes; "" stands for success.
func oneOf(err error, codes ...countersign.Code) bool {
	return slices.Contains(codes, countersign.ErrorCode(err))
}
