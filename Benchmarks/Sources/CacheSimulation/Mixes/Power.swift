// The C library's function, because Foundation is not needed for anything else.
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Double {
    /// Returns this number raised to a power.
    func power(_ exponent: Double) -> Double { pow(self, exponent) }
}
