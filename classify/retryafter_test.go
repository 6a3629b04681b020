package classify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for name, tc := range map[string]struct {
		value, date string
		want        time.Duration
		ok          bool
	}{
		"seconds":                       {"120", "", 2 * time.Minute, true},
		"seconds with blanks":           {" 5 ", "", 5 * time.Second, true},
		"zero":                          {"0", "", 0, true},
		"a day":                         {"86400", "", 24 * time.Hour, true},
		"more than a week":              {"99999999", "", week, true},
		"preferred date":                {"Mon, 30 Nov 2026 12:00:03 GMT", "", 3 * time.Second, true},
		"obsolete date of RFC 850":      {"Monday, 30-Nov-26 12:00:03 GMT", "", 3 * time.Second, true},
		"obsolete date of asctime":      {"Mon Nov 30 12:00:03 2026", "", 3 * time.Second, true},
		"from the response's own clock": {"Mon, 30 Nov 2026 15:00:03 GMT", "Mon, 30 Nov 2026 15:00:00 GMT", 3 * time.Second, true},
		"unreadable clock":              {"Mon, 30 Nov 2026 12:00:03 GMT", "yesterday", 3 * time.Second, true},
		"past":                          {"Mon, 30 Nov 2026 11:00:00 GMT", "", 0, true},
		"far future":                    {"Fri, 30 Nov 2096 12:00:00 GMT", "", week, true},
		"unit":                          {"1m30s", "", 0, false},
		"word":                          {"soon", "", 0, false},
		"list":                          {"120, 60", "", 0, false},
		"sign":                          {"-1", "", 0, false},
		"plus":                          {"+1", "", 0, false},
		"fraction":                      {"1.5", "", 0, false},
		"overflow":                      {strings.Repeat("9", 40), "", 0, false},
		"empty":                         {"", "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := classify.RetryAfter(tc.value, tc.date, noon)
			require.Equal(t, tc.ok, ok)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestRetryAfterThatCannotBeReadLeavesItsTextAsASignal(t *testing.T) {
	raw := "1m30s\x00" + strings.Repeat("x", 500)
	v := classifier(t).Classify(classify.Evidence{
		HTTP: &classify.Exchange{Status: 429, Header: map[string]string{"retry-after": raw}}, Now: noon,
	}).Verdict
	require.Equal(t, classify.RateLimited, v.Class)
	require.Zero(t, v.RetryAfter)
	i := indexRule(v, "http.retry_after_unreadable")
	require.GreaterOrEqual(t, i, 0)
	require.Contains(t, v.Signals[i].Where, "retry-after: 1m30s.xxx")
	require.Less(t, len(v.Signals[i].Where), 120)
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"120", "Mon, 30 Nov 2026 12:00:03 GMT", "1m30s", "-1", "Mon Nov 30 12:00:03 2026"} {
		f.Add(s, "")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		d, ok := classify.RetryAfter(value, date, noon)
		require.GreaterOrEqual(t, d, time.Duration(0))
		require.LessOrEqual(t, d, 7*24*time.Hour)
		require.False(t, !ok && d != 0, "a wait from nothing")
	})
}

func indexRule(v classify.Verdict, rule string) int {
	for i, s := range v.Signals {
		if s.Rule == rule {
			return i
		}
	}
	return -1
}
