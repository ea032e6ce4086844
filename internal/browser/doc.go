// Package browser is a Chromium for tests of pages.
package browser
