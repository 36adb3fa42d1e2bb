package countersign_test

import (
	"testing"

	"github.com/countersign/countersign"
)

func TestPageNamesWhereTheNextBegins(t *testing.T) {
	for _, c := range []struct {
		items         []string
		offset, total int
		want          string
	}{
		{nil, 0, 0, `{"items":[],"total":0,"nextOffset":null}`},
		{[]string{"a", "b"}, 0, 2, `{"items":["a","b"],"total":2,"nextOffset":null}`},
		{[]string{"a", "b"}, 0, 3, `{"items":["a","b"],"total":3,"nextOffset":2}`},
		{[]string{"c"}, 2, 3, `{"items":["c"],"total":3,"nextOffset":null}`},
		{nil, 7, 3, `{"items":[],"total":3,"nextOffset":null}`},
		{[]string{}, 0, 3, `{"items":[],"total":3,"nextOffset":null}`},
	} {
		got, err := countersign.Marshal(countersign.NewPage(c.items, c.offset, c.total))
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, want %s (%v)", got, c.want, err)
		}
	}
}
