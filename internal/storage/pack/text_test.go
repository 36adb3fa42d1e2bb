package pack

import "testing"

// FuzzText: the sum keeps a text that was changed from being read at all. Without it, too, what
// is no pack's text is refused, and what is read is whole.
func FuzzText(f *testing.F) {
	f.Add("\x01\x01\x01a\x00\x01\x01b\x00\x01\x01c\x00\x02\x02{}", 1)
	f.Add("\x02\x01\x01a\x00\x00\x02\x01b\x01c\x00\x01\x01\x01c\x00\x00\x02\x02\x02\x00{}", 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		p := &Pack{}
		if p.read(text, n) != nil {
			return
		}
		rows := p.Rows()
		size := 0
		for _, row := range rows {
			size += len(row.Doc)
		}
		if len(rows) != n || p.All() != First(n) || size != len(p.docs) {
			t.Errorf("%d rows of %d, %d bytes of %d", len(rows), n, size, len(p.docs))
		}
		for _, posting := range p.Postings() {
			if posting.Places.Without(First(n)).Len() > 0 {
				t.Errorf("%+v of %d records", posting, n)
			}
		}
	})
}
