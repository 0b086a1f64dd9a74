// Package conf reads a Hadoop configuration folder as it is: capacity-scheduler.xml, fair-scheduler.xml,
// what yarn-site.xml, mapred-site.xml and resource-types.xml say that matters to scheduling, and what
// core-site.xml and yarn-site.xml tell a ResourceManager beside that ([Daemon]). What is unset has Hadoop
// 3.4's default.
//
// Every error and every [Notice] names the file and the line. A property that has no effect here is
// listed by name and never silently dropped: a configuration that relies on it would be misread.
// Fractions (capacity, limits, shares of masters) go through 32-bit floats, as Hadoop's do: a queue of
// 70 % is 0.699999988 of its parent there, and rounding down to whole containers shows it.
//
// The package knows names, forms and defaults. It does not schedule, and it does not know which
// applications will come: see [CapacityPlacement] and [FairPlacement] for where one of them would go.
package conf
