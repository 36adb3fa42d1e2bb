package exactjson

// maxEdits is how far a misspelt name may be from the one that was meant.
const maxEdits = 2

// nearest is the field that a misspelt key was most likely meant for, "" when
// none is near.
func nearest(key string, fields []field) string {
	best, name := maxEdits+1, ""
	for _, f := range fields {
		if d := edits(key, f.name); d < best && d < len(f.name)/2+1 {
			best, name = d, f.name
		}
	}
	return name
}

// edits counts the letters to change, add or leave out from a to b. Names whose
// lengths already differ too much are not compared, so that a long key costs
// nothing.
func edits(a, b string) int {
	if len(a)-len(b) > maxEdits || len(b)-len(a) > maxEdits {
		return maxEdits + 1
	}
	row := make([]int, len(b)+1) // distances from the letters of a so far
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
