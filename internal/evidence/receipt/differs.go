package receipt

import "strings"

// asDiffering compares what a reconciliation names as differing from what was sent with the
// inputs. What was found stands nowhere else.
func (c *claims) asDiffering(s, _ node) string {
	if c.masked() {
		return ""
	}
	for _, one := range s.at("reconciliation").at("differs").list() {
		field := one.at("field").text()
		inner, selected := strings.CutPrefix(field, c.capability(s).at("outputField").text()+".")
		sent := func(name string) bool { return s.at("input").has(name) && one.at("sent").equal(s.at("input").at(name)) }
		if !sent(field) && (!selected || !sent(inner)) || one.at("found").equal(one.at("sent")) {
			return "names " + field + " as differing from what was sent, which it does not"
		}
	}
	return ""
}

// differsWords is how the record of a reconciliation names what differs.
func differsWords(reconciliation node) string {
	var fields []string
	for _, one := range reconciliation.at("differs").list() {
		fields = append(fields, one.at("field").text())
	}
	if len(fields) == 0 {
		return ""
	}
	return " (differs from what was sent: " + strings.Join(fields, ", ") + ")"
}
