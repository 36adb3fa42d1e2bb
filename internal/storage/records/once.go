package records

import (
	"github.com/countersign/countersign/internal/storage/store"
)

// once is where records stand that let whoever has a secret, or is asked, do something once.
// What says that it was done is that the record is gone, so a store that is brought back to an
// earlier state would let them do it again.
type once struct {
	collections []string
	table       *store.Table
	where       []store.Filter
	ends        func(store.Row) (bool, error) // nil: each of them
}

// worksOnce has all of them. They are kept under Realm.
var worksOnce = []once{
	{collections: []string{"SignIns", "SignInLinks", "PasskeyQuestions"}, table: store.SignIns},
	{collections: []string{"SetupLinks"}, table: store.Meta, where: []store.Filter{store.Equal("id", SetupID)}},
	{collections: []string{"ChatLinks"}, table: store.Meta, where: AllChatLinks(), ends: func(row store.Row) (bool, error) {
		var link ChatLink
		err := Decode(row, &link)
		return link.ConfirmedAt.IsZero(), err // a confirmation that is asked for
	}},
}

// EndWhatWorksOnce removes all of it and counts it.
func EndWhatWorksOnce(tx store.Tx) (n int, err error) {
	for _, kind := range worksOnce {
		rows, err := tx.List(kind.table, store.Realm, store.Query{Where: kind.where})
		if err != nil {
			return n, err
		}
		for _, row := range rows {
			ends := true
			if kind.ends != nil {
				if ends, err = kind.ends(row); err != nil {
					return n, err
				}
			}
			if !ends {
				continue
			}
			if err := tx.Delete(kind.table, store.Realm, row.ID); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
