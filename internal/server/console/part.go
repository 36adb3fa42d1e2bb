package console

import "strconv"

// part is the slice of a list that an address parameter asks for, for lists that are
// stored whole.
func (v *pageRequest) part(name string, total int) (from, to int, p pager) {
	return partOf(v, name, total, pageSize)
}

func partOf(v *pageRequest, name string, total, size int) (from, to int, p pager) {
	asked, err := strconv.Atoi(v.query(name))
	if err != nil || asked < 0 {
		asked = 0
	}
	from = min(asked, total)
	to = min(from+size, total)
	p = pager{From: from + 1, To: to, Total: total}
	if from > 0 {
		p.Prev = partAt(v, name, max(0, from-size))
	}
	if to < total {
		p.Next = partAt(v, name, to)
	}
	return from, to, p
}

func partAt(v *pageRequest, name string, offset int) string {
	if offset == 0 {
		return v.with(name, "")
	}
	return v.with(name, strconv.Itoa(offset))
}
