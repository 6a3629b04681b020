package strict

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest is the known word that was most likely meant by word; empty if none is near enough to say so.
func Nearest(word string, known []string) string {
	// A third of the letters may be wrong: "sesion" is session, "exit" is not "each".
	best, limit := "", max(1, len([]rune(word))/3)
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)); d <= limit {
			if best == "" || d < levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(best)) {
				best = k
			}
		}
	}
	return best
}

// DidYouMean is the hint for a word that is not known: the nearest known one, else all of them if they are few.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) > 0 && len(known) <= 20 { // about a line of a terminal
		return "known here: " + strings.Join(known, ", ")
	}
	return ""
}
