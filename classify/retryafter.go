package classify

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxRetryAfter bounds what an origin may ask for. A week is longer than any limit that a job could outlive;
// what is waited in fact is for the scheduler to say.
const maxRetryAfter = 7 * 24 * time.Hour

// maxRawSignal bounds foreign text inside a signal, in characters.
const maxRawSignal = 64

// RetryAfter reads a Retry-After field (RFC 9110, section 10.2.3): whole seconds, or one of the three forms of
// an HTTP date, counted from the response's own Date field or from now if it has none. A date in the past is 0,
// more than a week is a week. ok is false for everything else, such as "1m30s", "120, 60" or "-1".
func RetryAfter(value, date string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.Trim(value, " \t")
	if isDigits(value) {
		return retrySeconds(value)
	}
	at, ok := httpDate(value)
	if !ok {
		return 0, false
	}
	if from, ok := httpDate(strings.Trim(date, " \t")); ok {
		now = from
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}

func retrySeconds(digits string) (time.Duration, bool) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, false // more than 19 digits: not a wait but a mistake
	}
	return time.Duration(min(n, int64(maxRetryAfter/time.Second))) * time.Second, true
}

// httpDate reads the preferred form of a date and the two obsolete ones that recipients must accept.
func httpDate(s string) (time.Time, bool) {
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// retryAfterOf reads the answer's hint and gives a signal that says what was made of it; nil if there was none.
func retryAfterOf(x *Exchange, now time.Time) (time.Duration, *Signal) {
	raw, ok := x.header("retry-after")
	if !ok || !mayAskToWait(x.Status) {
		return 0, nil
	}
	date, _ := x.header("date")
	wait, ok := RetryAfter(raw, date, now)
	if !ok {
		return 0, &Signal{Rule: "http.retry_after_unreadable", Where: "header retry-after: " + clip(raw, maxRawSignal)}
	}
	return wait, &Signal{Rule: "http.retry_after", Weight: weightNoted, Where: "header retry-after: " + clip(raw, maxRawSignal)}
}

// mayAskToWait reports whether Retry-After means a wait at this status. RFC 9110 defines it for 503 and 3xx and
// RFC 6585 for 429; on 403 it is honoured because walls send it there.
func mayAskToWait(status int) bool {
	return status == 429 || status == 503 || status == 403 || status >= 300 && status < 400
}

// clip makes foreign text safe to print and at most n characters long.
func clip(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if n--; n < 0 {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) {
			r = '.'
		}
		b.WriteRune(r)
	}
	return b.String()
}
