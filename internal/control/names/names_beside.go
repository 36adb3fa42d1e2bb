package names

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/storage/store"
)

// Named returns a record, or a page of records, with the name of each principal beside it: a
// member that names a principal has one of the same name with Name behind it. Names that are
// there stay, and what is given isn't changed, since records in memory are shared. If the store
// can't be read, it is returned without names: what was written stays so.
func Named[T any](ctx context.Context, s *core.Core, a core.Actor, v T) T {
	given := reflect.ValueOf(&v).Elem()
	if given.Kind() == reflect.Interface {
		given = given.Elem()
	}
	if !given.IsValid() || !namesPrincipals(given.Type()) {
		return v
	}
	out := v
	err := s.Read(ctx, func(tx store.Tx) error {
		out = v
		n := naming{tx: tx, known: map[principalName]string{}}
		return n.fill(reflect.ValueOf(&out).Elem(), a.Tenant)
	})
	if err != nil {
		return v
	}
	return out
}

// naming reads each name once.
type naming struct {
	tx    store.Tx
	known map[principalName]string
}

func (n naming) fill(v reflect.Value, tenant string) error {
	if v.Kind() != reflect.Interface && !namesPrincipals(v.Type()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		copied := reflect.New(v.Elem().Type())
		copied.Elem().Set(v.Elem())
		if err := n.fill(copied.Elem(), tenant); err != nil {
			return err
		}
		if v.Kind() == reflect.Pointer {
			v.Set(copied)
		} else {
			v.Set(copied.Elem())
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return nil
		}
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		v.Set(copied)
		for i := range v.Len() {
			if err := n.fill(v.Index(i), tenant); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return n.fillStruct(v, tenant)
	}
	return nil
}

func (n naming) fillStruct(v reflect.Value, tenant string) error {
	if of := v.FieldByName("TenantID"); of.IsValid() && of.Kind() == reflect.String && of.String() != "" {
		tenant = of.String() // another tenant's record, that a realm administrator reads
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		if at := nameBeside(v.Type(), field); at != nil {
			if name := v.FieldByIndex(at.Index); name.String() == "" && v.Field(i).String() != "" {
				found, err := n.of(tenant, v.Field(i).String())
				if err != nil {
					return err
				}
				name.SetString(found)
			}
			continue
		}
		if err := n.fill(v.Field(i), tenant); err != nil {
			return err
		}
	}
	return nil
}

func (n naming) of(tenant, principal string) (string, error) {
	key := principalName{tenant, principal}
	if name, known := n.known[key]; known {
		return name, nil
	}
	name, err := nameIn(n.tx, tenant, principal)
	if err == nil {
		n.known[key] = name
	}
	return name, err
}

// nameBeside is the member for the name of the principal that a member names; nil for any other
// member.
func nameBeside(of reflect.Type, field reflect.StructField) *reflect.StructField {
	if field.Type.Kind() != reflect.String || field.Name != "Actor" && !strings.HasSuffix(field.Name, "By") {
		return nil
	}
	at, has := of.FieldByName(field.Name + "Name")
	if !has || at.Type.Kind() != reflect.String || len(at.Index) != 1 {
		return nil
	}
	return &at
}

// namedElsewhere are those that are given their names where they are masked.
var namedElsewhere = []reflect.Type{reflect.TypeFor[countersign.Run](), reflect.TypeFor[countersign.Approval]()}

var namingTypes sync.Map // reflect.Type: whether it has such a member, at any depth

// namesPrincipals reports a type that has a member for a name, itself or in what it holds.
func namesPrincipals(t reflect.Type) bool {
	if known, is := namingTypes.Load(t); is {
		return known.(bool)
	}
	has := holdsName(t, nil)
	namingTypes.Store(t, has)
	return has
}

func holdsName(t reflect.Type, within []reflect.Type) bool {
	if slices.Contains(within, t) || slices.Contains(namedElsewhere, t) {
		return false
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return holdsName(t.Elem(), within)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && (nameBeside(t, f) != nil || holdsName(f.Type, within)) {
				return true
			}
		}
	}
	return false
}

// WithNames has show see the items of a page with the names of the principals beside them, or
// without if these can't be read.
func WithNames[T, U any](tx store.Tx, tenant string, show func(T) (U, error)) func(T) (U, error) {
	n := naming{tx: tx, known: map[principalName]string{}}
	return func(v T) (U, error) {
		named := v
		if n.fill(reflect.ValueOf(&named).Elem(), tenant) != nil {
			named = v
		}
		return show(named)
	}
}
