package browser

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Patience is the longest wait for a browser or a page. Only a defect takes that long, not a
// busy machine.
const Patience = 10 * time.Minute

// Start starts a browser and returns the context in which to open pages. It skips the test if
// no browser is installed, or fails it with REQUIRE_BACKENDS=all.
func Start(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("REQUIRE_BACKENDS") == "all" {
			t.Fatalf("REQUIRE_BACKENDS=all, but %v", err)
		}
		t.Skipf("no browser to look with: %v: scripts/install-test-deps installs it", err)
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(Patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	}
	// The browser leaves files in the directory for temporary files, even after a clean exit.
	folder, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	t.Setenv("TMPDIR", folder)
	ctx, end := chromedp.NewContext(t.Context(), chromedp.WithAllocatorOptions(options...))
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// Shown returns a medium, "screen" or "print", with the colour scheme "light" or "dark".
func Shown(medium, scheme string) emulation.SetEmulatedMediaParams {
	return emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
}
