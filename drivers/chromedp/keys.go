package chromedp

import (
	"fmt"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// namedKey gives the library's rune for a key's name in the sense of KeyboardEvent.key; empty if it is none.
func namedKey(name string) string {
	switch name {
	case "Enter":
		return kb.Enter
	case "Tab":
		return kb.Tab
	case "Escape":
		return kb.Escape
	case "Backspace":
		return kb.Backspace
	case "Delete":
		return kb.Delete
	case "Space":
		return " "
	case "ArrowDown":
		return kb.ArrowDown
	case "ArrowLeft":
		return kb.ArrowLeft
	case "ArrowRight":
		return kb.ArrowRight
	case "ArrowUp":
		return kb.ArrowUp
	case "Home":
		return kb.Home
	case "End":
		return kb.End
	case "PageDown":
		return kb.PageDown
	case "PageUp":
		return kb.PageUp
	case "Insert":
		return kb.Insert
	default:
		return ""
	}
}

// keyEvents are the events of pressing and releasing a key.
func keyEvents(key string) ([]*input.DispatchKeyEventParams, error) {
	if named := namedKey(key); named != "" {
		key = named
	} else if utf8.RuneCountInString(key) != 1 {
		return nil, fmt.Errorf("unknown key %q: use one character, or Enter, Tab, Escape, Backspace, Delete, Space, Home, End, "+
			"Insert, PageUp, PageDown, ArrowUp, ArrowDown, ArrowLeft or ArrowRight", key)
	}
	r, _ := utf8.DecodeRuneInString(key)
	return kb.Encode(r), nil
}
