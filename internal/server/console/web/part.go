package web

import "strconv"

// Part is the slice of a list that an address parameter asks for, for lists that are
// stored whole.
func (r *Request) Part(name string, total int) (from, to int, p Pager) {
	return PartOf(r, name, total, PageSize)
}

// PartOf is the slice of a list, with pages of a size.
func PartOf(v *Request, name string, total, size int) (from, to int, p Pager) {
	asked, err := strconv.Atoi(v.Query(name))
	if err != nil || asked < 0 {
		asked = 0
	}
	from = min(asked, total)
	to = min(from+size, total)
	p = Pager{From: from + 1, To: to, Total: total}
	if from > 0 {
		p.Prev = PartAt(v, name, max(0, from-size))
	}
	if to < total {
		p.Next = PartAt(v, name, to)
	}
	return from, to, p
}

// PartAt is the present address at another place of a list.
func PartAt(v *Request, name string, offset int) string {
	if offset == 0 {
		return v.with(name, "")
	}
	return v.with(name, strconv.Itoa(offset))
}
