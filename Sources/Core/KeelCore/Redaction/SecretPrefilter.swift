/// A fast check that rules out secrets in most texts.
///
/// If the check is negative, ``SecretScanner`` finds nothing, whatever the names and patterns.
enum SecretPrefilter {
    static func mayHoldSecret(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        let end = start + bytes.count
        var place = start
        while place < end {
            let byte = place.pointee
            if byte.isASCIILetter {
                let word = place
                repeat { place += 1 } while place < end && place.pointee.isASCIIAlphanumeric
                if mayBeginSecret(word, end) { return true }
            } else if byte.isASCIIDigit {
                let number = place
                repeat { place += 1 } while place < end && place.pointee.isASCIIAlphanumeric
                if mayBeginNumber(number, place, end) { return true }
            } else {
                if isTelling(place, end) { return true }
                place += 1
            }
        }
        return false
    }

    /// Returns whether a value, an address or a key may be next to the sign at a place.
    @inline(__always)
    private static func isTelling(
        _ place: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>
    ) -> Bool {
        switch place.pointee {
        case UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: ":"), UInt8(ascii: "="),
            UInt8(ascii: "+"):
            true
        // The beginning of a PEM key.
        case UInt8(ascii: "-"): end - place > 10 && place[1] == UInt8(ascii: "-")
        default: false
        }
    }

    /// Returns whether a scheme, a token, a key or a bank account may begin with the letter at a place.
    @inline(__always)
    private static func mayBeginSecret(
        _ place: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>
    ) -> Bool {
        // The shortest ones: a scheme, a space and four bytes.
        guard end - place >= 10 else { return false }
        let (second, third) = (place[1], place[2])
        if third.isASCIIDigit, place[3].isASCIIDigit, second.isASCIILetter { return true }
        switch place.pointee {
        case UInt8(ascii: "b"), UInt8(ascii: "B"):
            return (second | 0x20 == UInt8(ascii: "e") && third | 0x20 == UInt8(ascii: "a"))
                || (second | 0x20 == UInt8(ascii: "a") && third | 0x20 == UInt8(ascii: "s"))
        case UInt8(ascii: "e"):
            return second == UInt8(ascii: "y") && third == UInt8(ascii: "J")
        default: return SecretScanner.mayBeginKey(place.pointee, second, third)
        }
    }

    /// Returns whether a card number or an address may begin with the digits at a place.
    @inline(__always)
    private static func mayBeginNumber(
        _ place: UnsafePointer<UInt8>,
        _ next: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>
    ) -> Bool {
        let length = next - place
        guard length < 13 else { return true }
        guard end - next >= 2, next[1].isASCIIDigit else { return false }
        switch next.pointee {
        case UInt8(ascii: "."):
            // A number with a fraction has one dot.
            var index = 2
            while index < end - next, next[index].isASCIIDigit { index += 1 }
            return index < end - next && next[index] == UInt8(ascii: ".")
        // Groups of a card number have at least three digits.
        case UInt8(ascii: " "), UInt8(ascii: "-"): return length >= 3
        default: return false
        }
    }
}
