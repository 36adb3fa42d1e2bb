package countersign_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// answered are the records of the API; what they hold is looked through, too.
var answered = []reflect.Type{
	reflect.TypeFor[countersign.Run](), reflect.TypeFor[countersign.Approval](), reflect.TypeFor[countersign.Plan](), reflect.TypeFor[countersign.Project](), reflect.TypeFor[countersign.Model](),
	reflect.TypeFor[countersign.Agent](), reflect.TypeFor[countersign.Team](), reflect.TypeFor[countersign.User](), reflect.TypeFor[countersign.Token](), reflect.TypeFor[countersign.SignInLink](),
	reflect.TypeFor[countersign.Delegation](), reflect.TypeFor[countersign.Group](), reflect.TypeFor[countersign.StopState](), reflect.TypeFor[countersign.AuditRecord](), reflect.TypeFor[countersign.Webhook](),
	reflect.TypeFor[countersign.Tenant](), reflect.TypeFor[countersign.TenantSettings](),
}

// TestANameStandsBesideEachPrincipal fails for a member that names a principal without one for its name.
func TestANameStandsBesideEachPrincipal(t *testing.T) {
	seen := []reflect.Type{}
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			look(of.Elem())
		case reflect.Struct:
			if slices.Contains(seen, of) {
				return
			}
			seen = append(seen, of)
			for i := range of.NumField() {
				f := of.Field(i)
				if f.Type.Kind() == reflect.String && (f.Name == "Actor" || strings.HasSuffix(f.Name, "By")) {
					if beside, has := of.FieldByName(f.Name + "Name"); !has || beside.Type.Kind() != reflect.String {
						t.Errorf("%s.%s names a principal, and there is no %sName beside it", of, f.Name, f.Name)
					}
				}
				look(f.Type)
			}
		}
	}
	for _, of := range answered {
		look(of)
	}
}
