package countersign

// What a masked value could be found out by is left out of a record for whoever must
// not see the value: the field isn't there then. Each of these types has one value
// that says so, and otherwise reads as the plain type does.

// StepDigest is the digest of a step's request, "" until the request is made, which
// JSON shows as null.
type StepDigest string

// BodyDigest is the digest of a body.
type BodyDigest string

// ByteCount is the size of a body.
type ByteCount int64

// What stands for a field that is left out. It is never stored, and never written.
const (
	NoStepDigest StepDigest = "left out"
	NoBodyDigest BodyDigest = "left out"
	NoByteCount  ByteCount  = -1
)

// IsZero reports what JSON leaves out.
func (d StepDigest) IsZero() bool { return d == NoStepDigest }

// IsZero reports what JSON leaves out.
func (d BodyDigest) IsZero() bool { return d == NoBodyDigest }

// IsZero reports what JSON leaves out.
func (b ByteCount) IsZero() bool { return b == NoByteCount }

// Text is the digest as it is shown; "" where there is none to show.
func (d StepDigest) Text() string {
	if d.IsZero() {
		return ""
	}
	return string(d)
}

// MarshalJSON implements json.Marshaler.
func (d StepDigest) MarshalJSON() ([]byte, error) { return d.appendJSON(nil), nil }

func (d StepDigest) appendJSON(b []byte) []byte {
	if d.Text() == "" {
		return append(b, Null.raw...)
	}
	return appendText(b, string(d))
}
