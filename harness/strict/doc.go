// Package strict reads YAML and JSON documents whose every fault has a place, a sentence and, where there is one, a hint.
package strict
