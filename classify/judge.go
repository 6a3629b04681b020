package classify

import (
	"cmp"
	"slices"
)

// maxSignals bounds how many signals a verdict carries; what decided comes first.
const maxSignals = 32

// How sure a verdict is. The figures order verdicts; they are not measured probabilities.
const (
	sureFact      = 0.99 // seen by us, not inferred: the gateway's fault, a valid record
	sureSignature = 0.98 // a definitive signal: no false alarm on the measured corpus
	sureStatus    = 0.9  // the origin said so itself
	sureTwo       = 0.85 // two independent supporting signals
	sureLikely    = 0.7  // an explanation that fits best
	sureGuess     = 0.5  // one of several explanations
	sureNothing   = 0.2  // unknown
)

// A finding is a class with what speaks for it. The zero finding has found nothing.
type finding struct {
	class      Class
	vendor     string
	confidence float64
	signals    []Signal
}

func (f finding) found() bool { return f.class != "" }

// found makes a finding with one signal.
func found(c Class, confidence float64, rule, where string) finding {
	return finding{class: c, confidence: confidence, signals: []Signal{{Rule: rule, Weight: 1, Where: where}}}
}

// A judge holds one evidence while it is judged.
type judge struct {
	c     *Classifier
	ev    *Evidence
	v     *view
	out   output
	noted []Signal // observations that did not decide
}

// run goes through the stages in their order. A visit that ran out of time on a page that had arrived is judged
// by that page first: a wall that never comes to rest is a wall.
func (j *judge) run() Judgement {
	nav := transport(j.ev)
	if nav.found() && (nav.class != Timeout || !j.ev.Transport.Committed) {
		return j.verdict(nav)
	}
	j.look()
	if f := j.wall(); f.found() {
		return j.verdict(f)
	}
	if f := httpStatus(j.ev.HTTP); f.found() {
		return j.verdict(f)
	}
	if nav.found() {
		return j.verdict(nav)
	}
	if f := contentKind(j.ev.HTTP); f.found() {
		return j.verdict(f)
	}
	return j.verdict(j.judgeOutput())
}

// look prepares the page and reads what the job expects of it.
func (j *judge) look() {
	if errorDocument(j.ev) {
		noPage := *j.ev // the browser's own page says nothing about the origin
		noPage.Page = nil
		j.ev = &noPage
	}
	j.v = newView(j.ev, j.c.keys)
	if j.v.limited {
		j.note("page.parse_limit", "HTML beyond the parser's limits, read in a simpler way")
	}
	if j.v.cut {
		j.note("page.truncated", "HTML cut at the size limit")
	}
	j.out = j.examine()
}

func (j *judge) note(rule, where string) {
	j.noted = append(j.noted, Signal{Rule: rule, Weight: weightNoted, Where: where})
}

// verdict completes a finding. Observations that did not decide follow those that did.
func (j *judge) verdict(f finding) Judgement {
	v := Verdict{
		Stage: StageOf(f.class), Class: f.class, Blamed: Blames(f.class), Confidence: f.confidence, FinalURL: finalURL(j.ev),
		Signals: []Signal{},
	}
	if f.vendor != "" {
		v.Vendor = &f.vendor
	}
	if x := j.ev.HTTP; x != nil {
		v.Status = x.Status
		var s *Signal
		if v.RetryAfter, s = retryAfterOf(x, j.ev.Now); s != nil {
			j.noted = append(j.noted, *s)
		}
	}
	strongest := func(a, b Signal) int { return cmp.Compare(b.Weight, a.Weight) }
	slices.SortStableFunc(f.signals, strongest)
	slices.SortStableFunc(j.noted, strongest)
	for _, s := range slices.Concat(f.signals, j.noted) {
		if len(v.Signals) < maxSignals && !slices.Contains(v.Signals, s) {
			v.Signals = append(v.Signals, s)
		}
	}
	out := Judgement{Verdict: v}
	if v.OK() {
		out.Records = j.out.records
	}
	return out
}
