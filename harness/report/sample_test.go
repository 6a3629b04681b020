package report_test

import (
	"fmt"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/report"
)

var begun = time.Date(2026, 11, 30, 22, 1, 4, 0, time.UTC)

func verdict(class classify.Class, vendor string, status int, signals ...classify.Signal) *classify.Verdict {
	v := &classify.Verdict{
		Stage: classify.StageOf(class), Class: class, Blamed: classify.Blames(class), Confidence: 0.97, Status: status,
		Signals: append([]classify.Signal{}, signals...), FinalURL: "https://shop.test/product/a-1",
	}
	if vendor != "" {
		v.Vendor = &vendor
	}
	return v
}

// tried is one attempt of a job in the sample run.
type tried struct {
	exit     string
	verdict  *classify.Verdict
	decision string
	reason   string
}

// sampleJob is one job of the sample run.
type sampleJob struct {
	result  report.Result
	records []report.Record
	tries   []tried
}

// sample is a run in which most things happen that can.
func sample() []sampleJob {
	captcha := verdict(classify.Captcha, "cloudflare", 403,
		classify.Signal{Rule: "cloudflare.chl_opt", Weight: 1, Where: "script"},
		classify.Signal{Rule: "cloudflare.turnstile", Weight: 0.6, Where: "frame src"},
		classify.Signal{Rule: "status.403", Weight: 0.3, Where: "status"})
	useful := verdict(classify.Useful, "", 200)
	jobs := []sampleJob{
		{
			result: report.Result{Job: "price-a-1", Identity: "sku-a-1", State: report.Useful, ElapsedMS: 1240},
			tries:  []tried{{"127.0.0.11", useful, "done", "useful output"}},
		},
		{
			result: report.Result{Job: "price-a-2", Identity: "sku-a-2", State: report.Useful, ElapsedMS: 4810, RouteChanges: 1},
			tries: []tried{
				{"127.0.0.12", captcha, "retry_new", "first refusal of this exit at this origin"},
				{"127.0.0.14", useful, "done", "useful output"},
			},
		},
		{
			result: report.Result{
				Job: "price-a-3", Identity: "sku-a-3", State: report.Review, ElapsedMS: 7320, RouteChanges: 1,
				Reason: "a second exit was refused: a person decides", Trace: "traces/price-a-3-2.zip",
			},
			tries: []tried{
				{"127.0.0.12", captcha, "retry_new", "first refusal of this exit at this origin"},
				{"127.0.0.15", captcha, "review", "a second exit was refused: a person decides"},
			},
		},
		{
			result: report.Result{Job: "price-a-10", Identity: "sku-a-10", State: report.Useful, ElapsedMS: 12_900},
			tries: []tried{
				{"127.0.0.11", verdict(classify.RateLimited, "", 429, classify.Signal{Rule: "status.429", Weight: 1, Where: "status"}), "wait", "the origin asked for 2 s"},
				{"127.0.0.11", useful, "done", "useful output"},
			},
		},
		{
			result: report.Result{
				Job: "account-orders", Identity: "acct-7", State: report.Failed, ElapsedMS: 2110, Trace: "traces/account-orders-1.zip",
				Reason: "the job's own step failed", Error: "shop.yaml:31:9: click: no element matches button[type=submit]",
			},
			tries: []tried{{"127.0.0.13", verdict(classify.ScriptError, "", 200, classify.Signal{Rule: "step.failed", Weight: 1, Where: "step 4"}), "stop", "the job's own step failed"}},
		},
		{
			result: report.Result{
				Job: "stock-london", Identity: "sku-uk", State: report.Denied, Decision: "deny",
				Error: "no provider can express the city London, and it is not weakened to its country",
			},
		},
	}
	for i := range jobs {
		fill(&jobs[i], i)
	}
	return jobs
}

func fill(j *sampleJob, n int) {
	r := &j.result
	r.Origin = "shop.test"
	r.Started = begun.Add(time.Duration(n) * time.Second)
	r.EndedAt = r.Started.Add(time.Duration(r.ElapsedMS) * time.Millisecond)
	r.Attempts = len(j.tries)
	for _, t := range j.tries {
		r.Verdict, r.Decision = t.verdict, t.decision
		r.BytesUp += 2_400
		r.BytesDown += 41_200
		if len(r.Exits) == 0 || r.Exits[len(r.Exits)-1] != t.exit {
			r.Exits = append(r.Exits, t.exit)
		}
	}
	if r.State != report.Useful {
		return
	}
	for row := range 3 {
		j.records = append(j.records, report.Record{
			Job: r.Job, Identity: r.Identity, Origin: r.Origin, URL: "https://shop.test/product/a-1", Attempt: r.Attempts, At: r.EndedAt,
			Record: classify.Record{"name": fmt.Sprintf("Oak table %d", row+1), "price": "1299.00", "currency": "EUR", "rows": 12 + row, "in_stock": row != 1},
		})
	}
	r.Records = len(j.records)
}

// eventsOf are the events that the run loop writes for a job.
func eventsOf(j sampleJob) []report.Event {
	var all []report.Event
	for i, t := range j.tries {
		e := report.Event{
			Event: report.EventLease, At: j.result.Started.Add(time.Duration(i) * time.Second), Job: j.result.Job, Attempt: i + 1,
			Identity: j.result.Identity, Origin: j.result.Origin, Lease: fmt.Sprintf("l-%s-%d", j.result.Job, i), Exit: t.exit,
			Provider: "main", Segment: "main/DE/default/http", RequestedCountry: "DE",
		}
		all = append(all, e)
		e.Event, e.Verdict, e.Status, e.ObservedCountry = report.EventAttempt, t.verdict, t.verdict.Status, "DE"
		e.BytesUp, e.BytesDown, e.DurationMS = 2_400, 41_200, 1200
		all = append(all, e)
		e.Event, e.Decision, e.Reason, e.Outcome = report.EventReport, t.decision, t.reason, "ok"
		all = append(all, e)
	}
	return all
}
