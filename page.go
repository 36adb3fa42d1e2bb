package countersign

// Page is one page of a list, its total and where the next page starts, all
// read from one snapshot (specification 2.13).
type Page[T any] struct {
	Items      []T  `json:"items" nullable:"false" doc:"the resources of this page"`
	Total      int  `json:"total" doc:"how many there are in scope and matching the filters"`
	NextOffset *int `json:"nextOffset" doc:"offset of the next page, null on the last"`
}

// NewPage makes a page of items that were found at offset among total.
func NewPage[T any](items []T, offset, total int) Page[T] {
	p := Page[T]{Items: items, Total: total}
	if items == nil {
		p.Items = []T{}
	}
	if next := offset + len(items); len(items) > 0 && next < total {
		p.NextOffset = &next
	}
	return p
}
