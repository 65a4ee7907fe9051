@_spi(RawSyntax) import SwiftSyntax

/// A set that rejects most names by their first byte and length, without a hash.
struct NameSet: Sendable, ExpressibleByArrayLiteral {
    private let names: Set<SyntaxText>
    /// By first byte, as bits.
    private let lengths: [UInt64]

    init(arrayLiteral elements: SyntaxText...) {
        names = Set(elements)
        var lengths = [UInt64](repeating: 0, count: 256)
        for name in elements {
            if let first = name.first { lengths[Int(first)] |= 1 << UInt64(min(name.count, 63)) }
        }
        self.lengths = lengths
    }

    func contains(_ name: SyntaxText) -> Bool {
        guard let first = name.first,
            lengths[Int(first)] & (1 << UInt64(min(name.count, 63))) != 0
        else { return false }
        return names.contains(name)
    }
}
