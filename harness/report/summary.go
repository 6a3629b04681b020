package report

import (
	"math"
	"slices"
	"time"

	"github.com/limpet-dev/limpet/classify"
)

// A Summary is summary.json: the run in numbers.
type Summary struct {
	Run      Run           `json:"run"`
	Ended    time.Time     `json:"ended"`
	WallMS   int64         `json:"wall_ms"`
	ExitCode int           `json:"exit_code"`
	Accepted int           `json:"accepted"` // jobs that were admitted
	Terminal int           `json:"terminal"` // jobs that ended; a finished run has as many as it accepted
	Jobs     map[State]int `json:"jobs"`     // by state, every state named

	Records  int `json:"records"`
	Attempts int `json:"attempts"`
	// BytesUp and BytesDown are what the gateway carried.
	BytesUp   int64 `json:"bytes_up"`
	BytesDown int64 `json:"bytes_down"`
	// BytesPerRecord and AttemptsPerRecord are null without a record.
	BytesPerRecord    *float64 `json:"bytes_per_record"`
	AttemptsPerRecord *float64 `json:"attempts_per_record"`
	// Rates is the share of attempts (0 to 1) by verdict class.
	Rates map[classify.Class]float64 `json:"rates"`
	// P50MS and P95MS are the time from a job's first lease to its useful output, waits included; null if no
	// job was useful. Nearest rank: both are times that a job took.
	P50MS *int64 `json:"p50_ms"`
	P95MS *int64 `json:"p95_ms"`
	// ExitConcentration is the Herfindahl index of the attempts over their exits: the sum of the squared
	// shares. 1 is one exit for everything, 1/n an even spread over n; null if no attempt had an exit.
	ExitConcentration *float64 `json:"exit_concentration"`
	Exits             int      `json:"exits"` // distinct ones
	// CostPerRecord is the price of all bytes by the records; null without a record or without the price of
	// every provider that carried bytes.
	CostPerRecord *float64 `json:"cost_per_record"`
	Currency      Nullable `json:"currency"`
	Diagnosis     Nullable `json:"diagnosis"` // "pattern" or null
}

// Facts is what the results and events do not say about a run.
type Facts struct {
	Run       Run
	Accepted  int // zero means as many as there are results
	ExitCode  int
	Ended     time.Time        // zero: now
	Prices    map[string]Price // by provider, as events name it
	Diagnosis string           // empty: that of the first result that has one
}

// A Price is what a provider takes for traffic. One billion bytes are a gigabyte: that is how it is sold.
type Price struct {
	PerGB    float64
	Currency string // "USD"
}

// Summarize puts a run into numbers.
func Summarize(results []Result, events []Event, facts Facts) Summary {
	s := Summary{
		Run: facts.Run, Ended: facts.Ended, ExitCode: facts.ExitCode, Terminal: len(results),
		Accepted: max(facts.Accepted, len(results)), Jobs: map[State]int{}, Diagnosis: Nullable(facts.Diagnosis),
		Rates: rates(results, events),
	}
	if s.Ended.IsZero() {
		s.Ended = time.Now().UTC()
	}
	if !facts.Run.Started.IsZero() {
		s.WallMS = s.Ended.Sub(facts.Run.Started).Milliseconds()
	}
	for _, state := range States() {
		s.Jobs[state] = 0
	}
	var useful []int64
	for _, r := range results {
		s.Jobs[r.State]++
		s.Records += r.Records
		s.Attempts += r.Attempts
		s.BytesUp += r.BytesUp
		s.BytesDown += r.BytesDown
		if r.State == Useful {
			useful = append(useful, r.ElapsedMS)
		}
		if s.Diagnosis == "" {
			s.Diagnosis = r.Diagnosis
		}
	}
	s.P50MS, s.P95MS = percentile(useful, 50), percentile(useful, 95)
	s.BytesPerRecord = per(float64(s.BytesUp+s.BytesDown), s.Records)
	s.AttemptsPerRecord = per(float64(s.Attempts), s.Records)
	s.ExitConcentration, s.Exits = concentration(events)
	if cost, currency, ok := cost(events, facts.Prices); ok {
		s.CostPerRecord, s.Currency = per(cost, s.Records), Nullable(currency)
	}
	return s
}

// rates is the share of each class among the attempts; among the results if no attempt is known.
func rates(results []Result, events []Event) map[classify.Class]float64 {
	counts := map[classify.Class]int{}
	n := 0
	count := func(v *classify.Verdict) {
		if v != nil {
			counts[v.Class]++
			n++
		}
	}
	for _, e := range events {
		if e.Event == EventAttempt {
			count(e.Verdict)
		}
	}
	if n == 0 {
		for _, r := range results {
			count(r.Verdict)
		}
	}
	shares := make(map[classify.Class]float64, len(counts))
	for class, c := range counts {
		shares[class] = float64(c) / float64(n)
	}
	return shares
}

// percentile is the p-th percentile of values by nearest rank; nil if there are none.
func percentile(values []int64, p int) *int64 {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := (len(sorted)*p + 99) / 100
	return &sorted[max(rank, 1)-1]
}

func per(sum float64, n int) *float64 {
	if n == 0 || math.IsNaN(sum) {
		return nil
	}
	v := sum / float64(n)
	return &v
}

func concentration(events []Event) (index *float64, exits int) {
	counts := map[string]int{}
	n := 0
	for _, e := range events {
		if e.Event == EventAttempt && e.Exit != "" {
			counts[e.Exit]++
			n++
		}
	}
	if n == 0 {
		return nil, 0
	}
	sum := 0.0
	for _, c := range counts {
		share := float64(c) / float64(n)
		sum += share * share
	}
	return &sum, len(counts)
}

// cost is what the attempts' bytes cost. It is not ok when nothing has a price, when one that carried bytes has
// none, or when prices are in several currencies: a sum would be wrong.
func cost(events []Event, prices map[string]Price) (sum float64, currency string, ok bool) {
	for _, e := range events {
		bytes := e.BytesUp + e.BytesDown
		if e.Event != EventAttempt || bytes == 0 {
			continue
		}
		p, known := prices[e.Provider]
		if !known || ok && p.Currency != currency {
			return 0, "", false
		}
		sum += float64(bytes) / 1e9 * p.PerGB
		currency, ok = p.Currency, true
	}
	return sum, currency, ok
}
