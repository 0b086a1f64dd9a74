package estimate

// A Line is the least-squares line through points that are added one at a time. The zero value holds no points. It
// keeps centred sums, so that points far from the origin (times late in a run) lose no digits.
type Line struct {
	n        int
	mx, my   float64 // means
	sxx, sxy float64 // sums of products of distances from the means
}

// Add adds a point.
func (l *Line) Add(x, y float64) {
	l.n++
	dx, dy := x-l.mx, y-l.my
	l.mx += dx / float64(l.n)
	l.my += dy / float64(l.n)
	l.sxx += dx * (x - l.mx)
	l.sxy += dx * (y - l.my)
}

// Fit returns the line y = intercept + slope·x. ok is false if the points determine no line: fewer than two of them
// differ in x.
func (l *Line) Fit() (intercept, slope float64, ok bool) {
	if l.n < 2 || !(l.sxx > 0) {
		return 0, 0, false
	}
	slope = l.sxy / l.sxx
	return l.my - slope*l.mx, slope, true
}

// At returns the line's value at x; ok is as for Fit.
func (l *Line) At(x float64) (y float64, ok bool) {
	a, b, ok := l.Fit()
	return a + b*x, ok
}
