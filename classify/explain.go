package classify

import (
	"fmt"
	"strings"
)

// Explain says in a few lines for a person what a verdict is, what spoke for it and what would change it.
func Explain(j Judgement) string {
	v := j.Verdict
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s), %.0f %% sure", v.Class, v.Stage, v.Confidence*100)
	if v.Vendor != nil {
		fmt.Fprintf(&b, ", by %s", *v.Vendor)
	}
	fmt.Fprintf(&b, "\n%s Blamed: %s.\n", meaning(v.Class), v.Blamed)
	if v.RetryAfter > 0 {
		fmt.Fprintf(&b, "The origin asks to wait %s.\n", v.RetryAfter)
	}
	for _, s := range v.Signals {
		fmt.Fprintf(&b, "  %-9s %-32s %s\n", strength(s.Weight), s.Rule, s.Where)
	}
	if n := len(j.Records); n > 0 {
		fmt.Fprintf(&b, "%d records accepted.\n", n)
	}
	if hint := remedy(v.Class); hint != "" {
		b.WriteString(hint + "\n")
	}
	return b.String()
}

func strength(weight float64) string {
	switch {
	case weight >= definitive.weight():
		return "decides"
	case weight >= supporting.weight():
		return "supports"
	default:
		return "noted"
	}
}

// meaning is one sentence for each kind of class.
func meaning(c Class) string {
	switch c {
	case Useful:
		return "Everything that the job expects is there."
	case UsefulEmpty:
		return "The page says that there is nothing, as the job allows."
	case Unknown:
		return "Nothing shows that the page is useful, and nothing shows why it should not be."
	case RateLimited:
		return "The origin asks for a slower pace."
	case Forbidden:
		return "The origin refuses this exit, and no known wall explains it."
	case Interstitial:
		return "A check that may pass by itself stands before the page."
	case Captcha:
		return "A check that wants a person stands before the page."
	case BlockPage:
		return "The page is a refusal."
	case WrongGeo:
		return "The page is made for another market than the job expects."
	case LoginWall, SessionEnded:
		return "The page wants somebody who is logged in."
	case Missing:
		return "What the job expects is not on the page, and nothing else explains it."
	case Invalid:
		return "The records are there, but not as the job describes them."
	case Empty:
		return "It is the right page, without a single record."
	case Unhydrated:
		return "The page came without its content, which its scripts were to fill in."
	default:
	}
	switch StageOf(c) {
	case StageNavigation:
		return "The document did not arrive."
	case StageHTTP:
		return "The origin answered with an error."
	default:
		return "The page is not what the job came for."
	}
}

// remedy says what would change the verdict; "" where nothing on the reader's side would.
func remedy(c Class) string {
	switch c {
	case Unknown:
		return "To change this: give a marker or records that only a useful page has."
	case Missing, Empty:
		return "To change this: check the selectors against the saved page; if an empty result is fine, name what it shows (empty)."
	case Invalid:
		return "To change this: compare fields and schema with the first rejected record."
	case WrongGeo:
		return "To change this: use an exit of the expected market, or correct the expectation."
	case Unhydrated:
		return "To change this: wait for the marker before the page is judged."
	case ScriptError:
		return "To change this: correct the step; the page is kept."
	case Interstitial, Captcha, BlockPage, Forbidden:
		return "To change this: ask the site's owner for access, slow down, or let a person decide. Limpet passes no wall."
	default:
		return ""
	}
}
