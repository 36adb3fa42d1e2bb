package countersign

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// The records that each step of a run writes, and each read of a run, are encoded field by
// field: the general way asks each field by reflection. The tests of Marshal compare them
// with encoding/json, so that no field of theirs is forgotten here.

// recordEncoder is the encoder of a type by its own function.
func recordEncoder[T any](encode func(b []byte, of *T) ([]byte, error)) encoder {
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.CanAddr() {
			return encode(b, v.Addr().Interface().(*T))
		}
		of := v.Interface().(T)
		return encode(b, &of)
	}
}

func appendStepRun(b []byte, s *StepRun) (_ []byte, err error) {
	b = appendMember(b, `{"id":`, s.ID)
	b = appendMember(b, `,"name":`, s.Name)
	b = appendMember(b, `,"projectId":`, s.ProjectID)
	b = appendMember(b, `,"capability":`, s.Capability)
	b = appendGiven(b, `,"actionId":`, s.ActionID)
	b = appendGiven(b, `,"agentId":`, s.AgentID)
	b = appendTexts(append(b, `,"dependsOn":`...), s.DependsOn)
	b = appendMember(b, `,"status":`, string(s.Status))
	b = strconv.AppendInt(append(b, `,"attempt":`...), int64(s.Attempt), 10)
	b = strconv.AppendBool(append(b, `,"sideEffect":`...), s.SideEffect)
	b = strconv.AppendBool(append(b, `,"approvalRequired":`...), s.ApprovalRequired)
	b = appendGiven(b, `,"wouldBe":`, s.WouldBe)
	b = appendValues(append(b, `,"input":`...), s.Input)
	b = appendMember(b, `,"idempotencyKey":`, s.IdempotencyKey)
	if !s.RequestDigest.IsZero() {
		b = s.RequestDigest.appendJSON(append(b, `,"requestDigest":`...))
	}
	b = appendGiven(b, `,"approvalId":`, s.ApprovalID)
	if s.Request != nil {
		b = appendRequest(append(b, `,"request":`...), s.Request)
	}
	if s.Response != nil {
		b = appendResponse(append(b, `,"response":`...), s.Response)
	}
	b = appendValue(b, `,"output":`, s.Output)
	if s.Verification != nil {
		if b, err = appendVerification(append(b, `,"verification":`...), s.Verification); err != nil {
			return b, err
		}
	}
	if s.Reconciliation != nil || s.Late != nil || len(s.Probes) > 0 || s.Error != nil || s.AnsweredBy != nil || len(s.Settlements) > 0 || s.Questions != 0 || s.SettledBy != nil || !s.AskedFrom.IsZero() || !s.NextAt.IsZero() || s.looks() {
		if b, err = appendRare(b, s); err != nil {
			return b, err
		}
	}
	if s.MayHaveHappened {
		b = append(b, `,"mayHaveHappened":true`...)
	}
	if b, err = appendMoment(b, `,"startedAt":`, s.StartedAt); err != nil {
		return b, err
	}
	b, err = appendMoment(b, `,"completedAt":`, s.CompletedAt)
	return append(b, '}'), err
}

// appendRare appends what few steps have.
func appendRare(b []byte, s *StepRun) ([]byte, error) {
	rare := struct {
		Reconciliation *Reconciliation `json:"reconciliation,omitempty"`
		Late           *LateAnswer     `json:"late,omitempty"`
		Probes         []ProbeRecord   `json:"probes,omitempty"`
		Error          *StepError      `json:"error,omitempty"`

		AnsweredBy  *AnsweredBy        `json:"answeredBy,omitempty"`
		Settlements []SettlementRecord `json:"settlements,omitempty"`
		Questions   int64              `json:"questions,omitempty"`
		AskedFrom   time.Time          `json:"askedFrom,omitzero"`
		NextAt      time.Time          `json:"nextAt,omitzero"`
		SettledBy   *SettledBy         `json:"settledBy,omitempty"`
		WouldCheck  *WouldCheck        `json:"wouldCheck,omitempty"`
		Looks       []Look             `json:"looks,omitempty"`
		Looking     int64              `json:"looking,omitempty"`
		AskedAgain  int64              `json:"askedAgain,omitempty"`
		StateDigest string             `json:"stateDigest,omitempty"`
	}{s.Reconciliation, s.Late, s.Probes, s.Error, s.AnsweredBy, s.Settlements, s.Questions, s.AskedFrom, s.NextAt, s.SettledBy, s.WouldCheck, s.Looks, s.Looking, s.AskedAgain, s.StateDigest}
	first := len(b)
	b, err := appendAny(b, reflect.ValueOf(&rare))
	if err != nil {
		return b, err
	}
	b[first] = ','
	return b[:len(b)-1], nil
}

func appendRequest(b []byte, r *Request) []byte {
	b = appendMember(b, `{"method":`, r.Method)
	b = appendMember(b, `,"url":`, r.URL)
	b = r.Query.appendJSON(append(b, `,"query":`...))
	b = r.Body.appendJSON(append(b, `,"body":`...))
	return append(appendValue(b, `,"headers":`, r.Headers), '}')
}

func appendResponse(b []byte, r *Response) []byte {
	b = strconv.AppendInt(append(b, `{"statusCode":`...), int64(r.StatusCode), 10)
	if !r.Bytes.IsZero() {
		b = strconv.AppendInt(append(b, `,"bytes":`...), int64(r.Bytes), 10)
	}
	b = strconv.AppendInt(append(b, `,"durationMs":`...), r.DurationMs, 10)
	if !r.BodySHA256.IsZero() {
		b = appendMember(b, `,"bodySha256":`, string(r.BodySHA256))
	}
	b = appendGiven(b, `,"body":`, r.Body)
	if r.Signed != nil {
		b = appendMember(b, `,"signed":{"timestamp":`, r.Signed.Timestamp)
		b = appendMember(b, `,"signature":`, r.Signed.Signature)
		b = append(appendMember(b, `,"bodyBase64":`, r.Signed.BodyBase64), '}')
	}
	return append(appendGiven(b, `,"retryAfter":`, r.RetryAfter), '}')
}

func appendVerification(b []byte, v *Verification) (_ []byte, err error) {
	b = appendMember(b, `{"status":`, v.Status)
	b = appendGiven(b, `,"field":`, v.Field)
	b = appendValue(b, `,"expected":`, v.Expected)
	b = appendValue(b, `,"actual":`, v.Actual)
	if v.StatusCode != 0 {
		b = strconv.AppendInt(append(b, `,"statusCode":`...), v.StatusCode, 10)
	}
	if len(v.Checks) > 0 {
		b, err = appendAny(append(b, `,"checks":`...), reflect.ValueOf(v.Checks))
	}
	return append(b, '}'), err
}

func appendAuditRecord(b []byte, r *AuditRecord) (_ []byte, err error) {
	b = strconv.AppendInt(append(b, `{"seq":`...), r.Seq, 10)
	if b, err = appendTime(append(b, `,"at":`...), r.At); err != nil {
		return b, err
	}
	b = appendMember(b, `,"actor":`, r.Actor)
	b = appendGiven(b, `,"actorName":`, r.ActorName)
	b = appendMember(b, `,"action":`, r.Action)
	b = appendMember(b, `,"subject":`, r.Subject)
	b = appendGiven(b, `,"step":`, r.Step)
	b = appendMember(b, `,"outcome":`, r.Outcome)
	b = appendMember(b, `,"before":`, r.Before)
	b = appendMember(b, `,"after":`, r.After)
	b = appendGiven(b, `,"reason":`, r.Reason)
	if r.Weakens {
		b = append(b, `,"weakens":true`...)
	}
	b = appendGiven(b, `,"digest":`, r.Digest)
	b = appendMember(b, `,"requestId":`, r.RequestID)
	b = appendGiven(b, `,"stateDigest":`, r.StateDigest)
	b = appendGiven(b, `,"decisionAssertion":`, r.DecisionAssertion)
	if r.Assertion != nil {
		if b, err = appendAny(append(b, `,"assertion":`...), reflect.ValueOf(r.Assertion)); err != nil {
			return b, err
		}
	}
	if r.Passkey != nil {
		if b, err = appendAny(append(b, `,"passkey":`...), reflect.ValueOf(r.Passkey)); err != nil {
			return b, err
		}
	}
	if len(r.AnswerKeys) > 0 {
		b = appendTexts(append(b, `,"answerKeys":`...), r.AnswerKeys)
	}
	if len(r.ActorMakers) > 0 {
		if b, err = appendAny(append(b, `,"actorMakers":`...), reflect.ValueOf(r.ActorMakers)); err != nil {
			return b, err
		}
	}
	if r.Identity != nil {
		b = appendIdentity(b, r.Identity)
	}
	if r.OnBehalfOf != nil {
		b = appendOnBehalfOf(b, r.OnBehalfOf)
	}
	b = appendGiven(b, `,"cosigned":`, r.Cosigned)
	b = appendGiven(b, `,"via":`, r.Via)
	if r.Count != 0 {
		b = strconv.AppendInt(append(b, `,"count":`...), r.Count, 10)
	}
	b = appendGiven(b, `,"salt":`, r.Salt)
	if r.ClockBack {
		b = append(b, `,"clockBack":true`...)
	}
	return append(appendGiven(b, `,"hash":`, r.Hash), '}'), nil
}

func appendIdentity(b []byte, i *Identity) []byte {
	b = appendMember(b, `,"identity":{"issuer":`, i.Issuer)
	b = appendMember(b, `,"claim":`, i.Claim)
	return append(appendMember(b, `,"value":`, i.Value), '}')
}

func appendOnBehalfOf(b []byte, p *OnBehalfOf) []byte {
	b = appendMember(b, `,"onBehalfOf":{"issuer":`, p.Issuer)
	b = appendMember(b, `,"subject":`, p.Subject)
	return append(appendGiven(b, `,"email":`, p.Email), '}')
}

func appendMember(b []byte, lead, text string) []byte { return appendText(append(b, lead...), text) }

// appendGiven, appendValue and appendMoment omit what isn't there.
func appendGiven(b []byte, lead, text string) []byte {
	if text == "" {
		return b
	}
	return appendMember(b, lead, text)
}

func appendValue(b []byte, lead string, v Value) []byte {
	if v.IsZero() {
		return b
	}
	return v.appendJSON(append(b, lead...))
}

func appendMoment(b []byte, lead string, t time.Time) ([]byte, error) {
	if t.IsZero() {
		return b, nil
	}
	return appendTime(append(b, lead...), t)
}

func appendTime(b []byte, t time.Time) ([]byte, error) {
	b, err := t.AppendText(append(b, '"'))
	return append(b, '"'), err
}

func appendTexts(b []byte, list []string) []byte {
	if list == nil {
		return append(b, Null.raw...)
	}
	b = append(b, '[')
	for i, text := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, text)
	}
	return append(b, ']')
}

func appendValues(b []byte, m map[string]Value) []byte {
	if m == nil {
		return append(b, Null.raw...)
	}
	var few [8]string
	keys := slices.AppendSeq(few[:0], maps.Keys(m))
	slices.Sort(keys)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = m[k].appendJSON(append(appendText(b, k), ':'))
	}
	return append(b, '}')
}
