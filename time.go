package countersign

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// instantForm is ISO 8601 as requests may write it (contract 12.1): the date and the time each
// with or without separators, the seconds optional, and always a zone.
var instantForm = regexp.MustCompile(`^(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d))[Tt](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?|(\d\d)(?:(\d\d)(?:[.,](\d{1,9}))?)?)(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$`)

// WantedInstant says what [ParseInstant] takes.
const WantedInstant = "a time with its zone, such as 2026-11-21T09:17:47Z"

var errNoInstant = errors.New("it must be " + WantedInstant)

// ParseInstant reads a time of a request. Times of answers are RFC 3339.
func ParseInstant(text string) (time.Time, error) {
	found := instantForm.FindStringSubmatch(text)
	if found == nil {
		return time.Time{}, errNoInstant
	}
	number := func(groups ...int) int {
		n := 0
		for _, i := range groups { // of the forms that a part may have, one was written
			if found[i] != "" {
				n, _ = strconv.Atoi(found[i])
			}
		}
		return n
	}
	year, month, day := number(1), number(2, 4), number(3, 5)
	hour, minute, second := number(6), number(7, 10), number(8, 11)
	nanosecond, _ := strconv.Atoi((found[9] + found[12] + "000000000")[:9])
	zone := time.Duration(number(14))*time.Hour + time.Duration(number(15))*time.Minute
	if found[13] == "-" {
		zone = -zone
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanosecond, time.UTC)
	exists := t.Month() == time.Month(month) && t.Day() == day && hour < 24 && minute < 60 && second < 60
	if !exists || number(14) > 23 || number(15) > 59 {
		return time.Time{}, errNoInstant
	}
	return t.Add(-zone).In(time.FixedZone("", int(zone/time.Second))), nil
}

// RFC3339 is a time of a request as answers show it: as it came where that is RFC 3339.
func RFC3339(text string) (string, error) {
	t, err := ParseInstant(text)
	if _, other := time.Parse(time.RFC3339, text); err != nil || other == nil && !strings.Contains(text, ",") {
		return text, err
	}
	return t.Format(time.RFC3339Nano), nil
}
