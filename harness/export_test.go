package harness

import "github.com/limpet-dev/limpet/classify"

// HasRuling reports whether a class has a default decision.
func HasRuling(c classify.Class) bool {
	_, ok := rulings[c]
	return ok
}
