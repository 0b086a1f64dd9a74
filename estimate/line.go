package estimate

// A Line is the least-squares line through points that are added one at a time. The zero value holds no
// point. It keeps centred sums, so that points far from the origin (times late in a run) lose no digits.
type Line struct {
	n        int
	mx, my   float64 // means
	sxx, sxy float64 // sums of products of distances from the means
	syy      float64
}

// Add adds a point.
func (l *Line) Add(x, y float64) {
	l.n++
	dx, dy := x-l.mx, y-l.my
	l.mx += dx / float64(l.n)
	l.my += dy / float64(l.n)
	l.sxx += dx * (x - l.mx)
	l.sxy += dx * (y - l.my)
	l.syy += dy * (y - l.my)
}

// Drop takes out a point that was added before. It is Add backwards; rounding errors of many Adds and
// Drops add up, which is why [Window] starts afresh now and then.
func (l *Line) Drop(x, y float64) {
	if l.n <= 1 {
		*l = Line{}
		return
	}
	dx, dy := x-l.mx, y-l.my
	l.n--
	l.mx -= dx / float64(l.n)
	l.my -= dy / float64(l.n)
	l.sxx = max(0, l.sxx-dx*(x-l.mx))
	l.sxy -= dx * (y - l.my)
	l.syy = max(0, l.syy-dy*(y-l.my))
}

// Len is how many points there are.
func (l *Line) Len() int { return l.n }

// Mean is the mean of x and of y; 0 without points.
func (l *Line) Mean() (x, y float64) { return l.mx, l.my }

// Fit returns the line y = intercept + slope·x. ok is false where the points determine none: fewer than
// two of different x.
func (l *Line) Fit() (intercept, slope float64, ok bool) {
	if l.n < 2 || !(l.sxx > 0) {
		return 0, 0, false
	}
	slope = l.sxy / l.sxx
	return l.my - slope*l.mx, slope, true
}

// At is the line's value at x; ok as for Fit.
func (l *Line) At(x float64) (y float64, ok bool) {
	a, b, ok := l.Fit()
	return a + b*x, ok
}

// Residual is the sum of squared distances of the points from the line in y; where there is no line,
// from their mean.
func (l *Line) Residual() float64 {
	if !(l.sxx > 0) {
		return l.syy
	}
	return max(0, l.syy-l.sxy*l.sxy/l.sxx)
}

// A Window is the least-squares line through the last points of a series.
type Window struct {
	Line
	points [][2]float64 // a ring
	next   int          // where the next point goes
}

// NewWindow returns a line through the last size points, at least 1. Nothing is allocated later.
func NewWindow(size int) *Window {
	return &Window{points: make([][2]float64, max(1, size))}
}

// Add adds a point, and drops the oldest where the window is full. Each time the ring has gone round,
// the sums are made anew from the points, so that rounding errors stay those of one window.
func (w *Window) Add(x, y float64) {
	if old := w.points[w.next]; w.n == len(w.points) {
		w.Line.Drop(old[0], old[1])
	}
	w.points[w.next] = [2]float64{x, y}
	w.Line.Add(x, y)
	if w.next++; w.next == len(w.points) {
		w.next = 0
		w.Line = Line{}
		for _, p := range w.points {
			w.Line.Add(p[0], p[1])
		}
	}
}
