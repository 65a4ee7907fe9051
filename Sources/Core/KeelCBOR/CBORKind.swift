/// The kind of an encoded item, determined by its first byte.
///
/// The kinds split major type 7 of RFC 8949 (section 3.3) as decoders need, and omit the width of arguments.
package enum CBORKind: UInt8, Hashable, Sendable, CaseIterable {
    /// An integer from 0 to 2⁶⁴ − 1, major type 0.
    case unsigned
    /// An integer from −2⁶⁴ to −1, major type 1.
    case negative
    /// A byte string, major type 2.
    case bytes
    /// A string of UTF-8, major type 3.
    case text
    /// An array, major type 4.
    case array
    /// A map, major type 5.
    case map
    /// A tag, which applies to the next item, major type 6.
    case tag
    /// `false` or `true`.
    case boolean
    /// The simple value `null`.
    case null
    /// The simple value `undefined`.
    case undefined
    /// A floating-point number of 16, 32 or 64 bits.
    case float
    /// A simple value without a meaning in RFC 8949.
    case simple
    /// The stop code of an item of indefinite length, which is not an item itself.
    case `break`

    /// Creates the kind of an initial byte, or returns nil for one that RFC 8949 reserves (appendix B).
    @inlinable
    package init?(initialByte initial: UInt8) {
        let info = initial & 0x1f
        guard info < 28 || info == 31 else { return nil }
        switch initial >> 5 {
        case 0 where info != 31: self = .unsigned
        case 1 where info != 31: self = .negative
        case 2: self = .bytes
        case 3: self = .text
        case 4: self = .array
        case 5: self = .map
        case 6 where info != 31: self = .tag
        case 7:
            switch info {
            case 20, 21: self = .boolean
            case 22: self = .null
            case 23: self = .undefined
            case 25, 26, 27: self = .float
            case 31: self = .break
            default: self = .simple
            }
        default: return nil
        }
    }
}
