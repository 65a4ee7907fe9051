// The power of numbers is the C library's: no Foundation for one function.
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Double {
    /// This number to the power of another.
    func power(_ exponent: Double) -> Double { pow(self, exponent) }
}
