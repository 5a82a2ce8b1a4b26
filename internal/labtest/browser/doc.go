// Package browser opens pages in headless Chromium, for tests of what a person would see
// and click. It is for Linux alone: what a browser shows does not depend on the system
// that the page was made on, and the driver takes minutes to build for each of them.
package browser
