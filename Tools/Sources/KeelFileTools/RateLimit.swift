/// A rate of bytes as a command line spells it: 500K, 2M or 1.5G a second.
package struct RateLimit: Hashable, Sendable {
    /// The slowest rate: below it, servers take a transfer for one that has stopped.
    package static let slowest = 16 << 10

    /// The bytes a second, at least ``slowest``.
    package let bytesPerSecond: Int

    /// Reads a rate, with K, M and G as powers of 1024, as elsewhere in these tools.
    ///
    /// It is none if the text is not such a number, or below ``slowest``.
    package init?(_ text: String) {
        let units: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        let unit = text.last.flatMap { units[Character($0.lowercased())] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard let number = Double(digits), number.isFinite else { return nil }
        let rate = number * Double(unit ?? 1)
        guard rate >= Double(Self.slowest), rate < Double(1 << 50) else { return nil }
        bytesPerSecond = Int(rate)
    }
}
