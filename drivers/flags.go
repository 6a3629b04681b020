package drivers

import "strings"

// deadProxy is where a context without a proxy of its own sends its requests: the discard port, on which nothing
// listens. Requests that belong to no context, such as the browser's own, end there too.
const deadProxy = "http://127.0.0.1:9"

// disabledFeatures are Chromium features that make requests of their own, hide the page's behaviour from its
// driver, or cost memory without use. The flag that carries them replaces any earlier one, so the list repeats
// what Playwright 1.64 disables.
func disabledFeatures() []string {
	return []string{
		"AimEnabled", "AutoDeElevate", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync",
		"BlockOriginHeaderModificationOnRedirect", "DestroyProfileOnBrowserClose", "DialMediaRouteProvider",
		"GlobalMediaControls", "HttpsUpgrades", "LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying",
		"OptimizationHints", "PaintHolding", "ThirdPartyStoragePartitioning", "Translate",
		// Full Chromium draws its toolbar and tab strip in a second renderer for each window. Without these a
		// further context takes 20 MiB and not 60, and four contexts at once get three times as much done; each
		// alone changes nothing.
		"InitialWebUI", "PreloadTopChromeWebUI", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxPopup",
		"WebUIReloadButton", "WebUITabStrip", "WebUIToolbar",
	}
}

// Flags is the part of the browser's command line that every driver passes, each as "--name" or "--name=value".
// It closes every way out but the proxies of the contexts, and keeps the browser from making requests of its own.
func Flags(o LaunchOptions) []string {
	flags := []string{
		// Fail closed: the proxies of the contexts take precedence; loopback addresses are no exception.
		"--proxy-server=" + deadProxy,
		"--proxy-bypass-list=<-loopback>",
		// WebRTC would send UDP past the proxy. Full Chromium honours the first name, the headless shell the second.
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		// Names are resolved at the proxy; the only address that the browser itself needs is the proxy's.
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"--disable-quic",

		"--no-pings",
		"--disable-domain-reliability",
		"--disable-component-update",
		"--disable-field-trial-config",
		"--disable-background-networking",
		"--disable-features=" + strings.Join(disabledFeatures(), ","),
	}
	if len(o.TrustSPKI) > 0 {
		// Honoured only beside --user-data-dir, which each driver sets.
		flags = append(flags, "--ignore-certificate-errors-spki-list="+strings.Join(o.TrustSPKI, ","))
	}
	return flags
}
